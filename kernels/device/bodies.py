"""The bodies of kernels for the CPU, compiled for the device as they stand.

A body calls helpers by their names. So a **form** of some functions is a copy of them with other globals, in
which these names, and their own, refer to device functions. A form can replace a helper by another one with
the same contract, where the device has to do one thing differently.
"""

from types import FunctionType

from .jit import device


def form_of(functions, **replaced):
    """A form of some functions of one module.

    Parameters
    ----------
    functions : list
        Functions compiled for the CPU, with all helpers of the module that they call and that are not
        replaced.
    **replaced
        Device functions, by the names of the helpers that they replace. They take their place in the form.

    Returns
    -------
    dict of str to device function

    Raises
    ------
    ValueError
        If the module has no helper of a name to replace.
    """
    scope = dict(functions[0].py_func.__globals__)
    unknown = replaced.keys() - scope.keys()
    if unknown:
        raise ValueError(f"{scope['__name__']} has no {', '.join(sorted(unknown))} to replace")
    for function in functions:
        body = function.py_func
        scope[body.__name__] = device(FunctionType(body.__code__, scope, body.__name__))
    scope.update(replaced)
    return scope
