"""Arrays in, arrays out: the kernels that the engine's backends call.

A kernel knows nothing of queries. Each folder is a family of kernels, and in it:

- `contract` defines what the kernels of the family do: the arrays (names, dtypes, shapes), and a plain-Python
  reference `..._reference` unless the body of a kernel is itself the definition. It imports only NumPy.
- `cpu`, or several `cpu_...`, are the kernels for the CPU, compiled by Numba.
- `cuda`, or several `cuda_...`, are those for CUDA devices. No other module imports them, and what they share
  is in the folder `device`.

The kernels that build and walk the persistent structure are checked against `runs.contract.accepting_runs`
and by `tests/forest_validator.py`.
"""

if __name__ != "cer_gpu.kernels":
    raise ImportError(
        "this folder is installed as `cer_gpu.kernels`; write `import cer_gpu.kernels` "
        "(the import name `kernels` belongs to another distribution)"
    )
