"""`python -m cer_gpu` is the shell's `cer`."""

from cer_gpu.cli import main

if __name__ == "__main__":
    main()
