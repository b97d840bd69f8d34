"""Makes `cer_gpu` importable from a checkout, on a machine where nothing can be installed.

Importing this module is enough; as a plugin of pytest, `-p bench.checkout`, it does the same for tests.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def importable() -> None:
    """Make `cer_gpu` find the folders of its packages; does nothing where it is installed."""
    if importlib.util.find_spec("cer_gpu.kernels") is None:
        # `kernels/` stands beside `cer_gpu/`: the root is searched for it too.
        import cer_gpu

        cer_gpu.__path__.append(str(ROOT))


importable()
