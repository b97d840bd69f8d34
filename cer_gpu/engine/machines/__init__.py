"""The machines that run over chunks on the CPU: a file for each."""
