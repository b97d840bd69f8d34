"""The bodies of kernels for the CPU, compiled for the device as they stand.

A body calls helpers by their names. So a **form** of some functions is made by giving them other globals, in
which these names, and their own, refer to device functions. A helper can be replaced by another one with the
same contract, for a form that differs at one point.
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
        Device functions, by the names of the helpers that they replace.

    Returns
    -------
    dict of str to device function

    Raises
    ------
    ValueError
        For a name to replace that the module does not have.
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
