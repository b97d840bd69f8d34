"""Machine code of the host for PTX, kept on disk by what it is made from."""

from __future__ import annotations

import ctypes
import os
import pickle
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from virtual_device.folders import cache_folder
from virtual_device.ptx.kernel import KernelLayout, TranslatedModule, translate

OPTIMISATION = 1


class HostModule:
    """A PTX module as machine code of this process.

    Parameters
    ----------
    ptx : str

    Attributes
    ----------
    layouts : dict of str to KernelLayout
    variables : dict of str to int
        The size of each variable in global and constant memory.
    forms : frozenset of str
        The opcodes with their modifiers that occur.
    """

    def __init__(self, ptx: str) -> None:
        module, self._code = _compiled(ptx)
        self.layouts: dict[str, KernelLayout] = module.layouts
        self.variables, self.forms = module.variables, module.forms
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(self._code))
        self._engine.finalize_object()

    def address_of(self, name: str) -> int:
        """The address of a kernel."""
        return int(self._engine.get_function_address(name))

    def variable_address(self, name: str) -> int:
        """The address of a variable."""
        return int(self._engine.get_global_value_address(name))


def provide(name: str, function: Any) -> None:
    """Let the code of modules call a function of a library, or of `ctypes`."""
    llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)


def _target_machine() -> Any:
    """A new one each time: an engine owns the one that it is given."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=OPTIMISATION,
        jit=True,
        codemodel="jitdefault",
    )


@cache
def _translator() -> bytes:
    """The digest of what makes the code: the translator, LLVM, and the host's processor."""
    digest = sha256()
    for path in [*sorted((Path(__file__).parent / "ptx").glob("*.py")), Path(__file__)]:
        digest.update(path.read_bytes())
    told = (llvmlite.__version__, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    digest.update(repr(told).encode())
    return digest.digest()


def _compiled(ptx: str) -> tuple[TranslatedModule, bytes]:
    """The module of a text and its object file, kept in a file that is named by the digest of both makers."""
    kept = cache_folder("objects") / sha256(_translator() + ptx.encode()).hexdigest()
    try:
        return pickle.loads(kept.read_bytes())  # type: ignore[no-any-return]
    except (OSError, EOFError, pickle.UnpicklingError):
        pass
    module = translate(ptx)
    parsed = llvm.parse_assembly(module.text)
    parsed.verify()
    machine = _target_machine()
    options = llvm.create_pipeline_tuning_options(speed_level=OPTIMISATION)
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(parsed, passes)
    made = TranslatedModule("", module.layouts, module.variables, module.forms), machine.emit_object(parsed)
    # Written under another name and renamed, so that other processes see the whole file or none.
    part = kept.with_name(f"{kept.name}.{os.getpid()}")
    part.write_bytes(pickle.dumps(made))
    part.replace(kept)
    return made
