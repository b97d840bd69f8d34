"""The machines that run over chunks on the CPU, one in each file."""
