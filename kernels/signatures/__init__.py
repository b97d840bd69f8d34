"""The types for which every CUDA kernel is compiled ahead of time."""
