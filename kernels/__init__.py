"""Arrays in, arrays out: the kernels that the engine's backends call.

A kernel knows nothing of queries. Every kernel has one contract (names, dtypes, shapes, directions)
and one plain-Python reference, both in the module that defines it: a function `..._reference`, or its own
body where that is the definition. What builds and walks the persistent structure is checked against
`tables.accepting_runs` and by the validator of `cer_gpu.enumeration`.
"""

if __name__ != "cer_gpu.kernels":
    raise ImportError(
        "this folder is installed as `cer_gpu.kernels`; write `import cer_gpu.kernels` "
        "(the import name `kernels` belongs to another distribution)"
    )
