"""A plugin of pytest for the simulator: the kernels of devices run in blocks of few threads.

A thread of the simulator is one of Python, and most of the 256 that a block has on a device would find no
event in the small tables of tests. Here all have one, several blocks share them, and a grid goes around.
"""

from cer_gpu.kernels.device import geometry

# Before the modules are imported that launch with these.
geometry.STREAM = geometry.LANE = geometry.Geometry(16, 8)
