"""Runs a module on virtual devices: `python -m virtual_device [SETTINGS] -m MODULE ARGUMENTS`."""

from __future__ import annotations

import runpy
import sys

from virtual_device.device import install
from virtual_device.settings import Settings

if __name__ == "__main__":
    at = sys.argv.index("-m")
    install(Settings.parse(",".join(sys.argv[1:at])))
    sys.argv[:] = sys.argv[at + 1 :]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
