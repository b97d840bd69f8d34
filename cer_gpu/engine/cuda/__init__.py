"""Runs on CUDA devices: imported only when `cer_gpu.engine.run.device_choice` has chosen one.

========================  ==========================================================================
`classify`                relevant events of batches, and of columns that lie on a device
`staging`, `memory`       copies from page-locked memory; batches that shrink when memory runs out
`machines`                machines that run over chunks: a file for each
`check`                   the comparison of a device with the CPU before its first use
========================  ==========================================================================
"""
