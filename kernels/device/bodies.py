"""Kernels of the CPU as device functions: the same plain bodies, with all helpers that they call."""

from types import CodeType, FunctionType

from cer_gpu.compiling.kernel import Kernel

from .jit import device


def on_device(kernel, **replaced):
    """A kernel of the CPU as a function that kernels of the device call.

    Parameters
    ----------
    kernel : Kernel
    **replaced
        What the device does differently: device functions, or constants, by the names that the kernel and its
        helpers use for them. A function keeps the contract of the helper whose place it takes.

    Returns
    -------
    device function

    Raises
    ------
    ValueError
        If nothing that the kernel calls uses one of the names.
    """
    made = {}
    found = _translated(kernel, replaced, made)
    used = {name for body in made for name in _names(body.py_func.__code__)}
    if unknown := replaced.keys() - used:
        raise ValueError(f"{kernel.name} calls no {', '.join(sorted(unknown))} to replace")
    return found


def _translated(kernel, replaced, made):
    """The device function of a kernel; `made` has those of the helpers that were translated before."""
    if kernel not in made:
        body = kernel.py_func
        scope = dict(body.__globals__)
        made[kernel] = None
        for name in _names(body.__code__):
            if name in replaced:
                scope[name] = replaced[name]
            elif isinstance(scope.get(name), Kernel):
                scope[name] = _translated(scope[name], replaced, made)
        made[kernel] = device(FunctionType(body.__code__, scope, body.__name__))
    return made[kernel]


def _names(code):
    """The global names that some code uses."""
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)
