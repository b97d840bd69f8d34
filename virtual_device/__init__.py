"""CUDA devices without a GPU: what the compiler makes of kernels runs on the host, and is checked."""

from virtual_device.device import KernelTraffic, VirtualDevice, install, installed
from virtual_device.driver_library import refusal
from virtual_device.settings import Settings

__all__ = ["KernelTraffic", "Settings", "VirtualDevice", "install", "installed", "refusal"]
