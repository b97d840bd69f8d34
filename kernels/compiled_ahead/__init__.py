"""What CUDA kernels are compiled for ahead of time, of every family."""
