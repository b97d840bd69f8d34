"""The shell's `cer`, also as `python -m cer_gpu`: an interrupt ends it without a traceback from the start.

The modules of the command take a third of a second to import, and an exception in the middle of that may be
taken for a module that is broken. Nothing is open by then, so an interrupt ends the process at once.
"""

import os
import signal
import sys


def main() -> None:
    """Entry point of `cer`."""
    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if interruptible:
        signal.signal(signal.SIGINT, _end)
    from cer_gpu.cli import main as command

    try:
        if interruptible:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command()
    except KeyboardInterrupt:  # before the command's own `try`, or after it
        _end()


def _end(*_: object) -> None:
    """End the process as the command does when it is interrupted."""
    os.write(sys.stderr.fileno(), b"interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
