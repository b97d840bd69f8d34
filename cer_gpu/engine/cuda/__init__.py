"""Runs on CUDA devices: imported when `cer_gpu.engine.devices` has chosen one, and not before.

========================  ==========================================================================
`classify`                relevant events of batches, and of columns that lie on a device
`staging`, `memory`       copies from page-locked memory; pieces that shrink when memory runs out
`execute`, `devices`      the executor of one device, and of several: hits, counts, structure, choice
`structure`               the persistent structure, and the enumeration of complex events in bulk
`dealt_structure`         the same in parts, on several devices
`joins`, `consume`        hits and counts of joins; CONSUME BY PARTITION
`resident`, `carried`     hits and counts of columns on one device, with a window and without
`run`                     the same for a stream, batch by batch
========================  ==========================================================================
"""
