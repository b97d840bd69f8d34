"""What runs over chunks on the CPU: a file for each machine."""
