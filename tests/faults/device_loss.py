"""Faults in what follows when a device is lost, or fails its check: `device_loss`."""

from faults.fault import Fault

LOST = ("test_virtual_device.py::test_on_virtual_devices[lazy,devices=2,races=0-test_virtual_loss.py]",)

CHECKED = ("test_virtual_device.py::test_on_virtual_devices[devices=2-test_virtual_check.py]",)

FAULTS = (
    Fault(
        "cer_gpu/engine/cuda/check/checker.py",
        'crashed = state == "launch" and status not in (None,',
        'crashed = state == "launch" and status not in (',
        "A process that has no time left while it compiles a kernel says nothing about the kernel.",
        CHECKED,
    ),
    Fault(
        "cer_gpu/engine/cuda/check/checker.py",
        'if str(gpu.uuid) == asked["device"]]',
        "]",
        "The other process checks the device that was asked for, whatever its number there.",
        CHECKED,
    ),
    Fault(
        "cer_gpu/engine/cuda/check/findings.py",
        "if fault is None else fault.to_dict(),",
        "if fault is None or True else fault.to_dict(),",
        "A device that was wrong stays wrong for later processes.",
        CHECKED,
    ),
    Fault(
        "kernels/device/availability.py",
        'if package in ALLOCATORS or package == "cuda"',
        "if package in ALLOCATORS",
        "An error of a launch ends the context, too.",
        ("test_cuda_usable.py",),
    ),
    Fault(
        "cer_gpu/engine/cuda/machines/resident_run.py",
        "or not len(part):",
        "or len(part):",
        "The CPU reads the rows again that the window reaches from later batches.",
        LOST,
    ),
    Fault(
        "cer_gpu/engine/devices.py",
        "if not done:",
        "if done or not done:",
        "What was done before the context was left is an answer.",
        LOST,
    ),
    Fault(
        "cer_gpu/engine/device_loss.py",
        "said, _FIRST.said = _FIRST.said, True",
        "said, _FIRST.said = _FIRST.said, False",
        "A process warns once that the CPU goes on.",
        LOST,
    ),
)
