"""Drafts: what Numba makes of one function, for an entry that takes it in, where it is optimised.

Numba optimises and loads every function that it compiles, and makes two wrappers of each. Of a kernel only
the entry is kept, into which all helpers are put: so only that is optimised, once. All kernels of the
package are made in half of the time, and the larger ones are faster. `DRAFT` are the options of `njit` for a
draft; what `njit` gives then cannot be called.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering


class DraftLibrary(JITCodeLibrary):
    """The code of one function, and of the drafts that it calls."""

    def _optimize_functions(self, ll_module: Any) -> None:
        pass

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class DraftLowering(NativeLowering):
    """Lowering to a `DraftLibrary`."""

    _name = "draft_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = DraftLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        name = lowered.fndesc.qualname
        # By this object Numba finds what a function calls; it has no code.
        key = _dynfunc.make_function(lowered.fndesc.lookup_module(), name, name, 0, lowered.env, ())
        state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=key)
        return True


class DraftCompiler(CompilerBase):
    """Numba's passes, with `DraftLowering` in the place of its lowering."""

    def define_pipelines(self) -> list[PassManager]:
        found = PassManager("draft")
        for step, about in DefaultPassBuilder.define_nopython_pipeline(self.state).passes:
            found.add_pass(DraftLowering if step is NativeLowering else step, about)
        found.finalize()
        return [found]


DRAFT: dict[str, Any] = {
    "pipeline_class": DraftCompiler,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


@global_compiler_lock
def optimised(library: DraftLibrary, symbol: str, machine: Any) -> Any:
    """The LLVM module of a draft of which only the function `symbol` is called from outside.

    Parameters
    ----------
    library : DraftLibrary
    symbol : str
    machine : llvmlite.binding.TargetMachine
    """
    library.finalize()
    module = llvm.parse_assembly(library.get_llvm_str())
    # What the entry does not call is dropped, and what is called once is put there.
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name != symbol:
            value.linkage = llvm.Linkage.internal
    # As Numba does it: a first pass inlines, and turns loops so that more of them are vectorised.
    for level in (0, 3):
        options = llvm.create_pipeline_tuning_options(speed_level=level)
        options.loop_vectorization, options.slp_vectorization = level > 0, False
        builder = llvm.create_pass_builder(machine, options)
        passes = builder.getModulePassManager()
        if level == 0:
            passes.add_loop_rotate_pass()
            passes.add_instruction_combine_pass()
            passes.add_jump_threading_pass()
        passes.run(module, builder)
    return module
