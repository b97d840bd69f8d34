"""Runs on CUDA devices: imported when `cer_gpu.engine.run.place` has chosen one, and not before.

========================  ==========================================================================
`classify`                relevant events of batches, and of columns that lie on a device
`staging`, `memory`       copies from page-locked memory; batches that shrink when memory runs out
`machines`                what runs over chunks: a file for each machine
`structure`               the persistent structure, and the enumeration of complex events in bulk
`dealt_structure`         the same in parts, on several devices
`consume`                 CONSUME BY PARTITION
`check`                   the comparison of a device with the CPU before its first use
========================  ==========================================================================
"""
