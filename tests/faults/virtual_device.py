"""Faults in the virtual device, and faults of kernels that only it, or a GPU, can show: `virtual_device`."""

from faults.fault import Fault

COMPUTED = ("test_virtual_opcodes.py::test_an_instruction_computes_what_the_isa_says",)

FOUND = ("test_virtual_device.py::test_on_virtual_devices[-test_virtual_faults.py]",)

KERNELS = ("test_virtual_device.py::test_on_virtual_devices[-test_virtual_kernels.py]",)

FAULTS = (
    Fault(
        "virtual_device/ptx/integers.py",
        '"ne": "one"',
        '"ne": "une"',
        "Nothing compares with NaN, not even as different.",
        COMPUTED,
    ),
    Fault(
        "virtual_device/ptx/integers.py",
        "icmp ugt i32 {many}, {wide - 1}",
        "icmp ugt i32 {many}, {wide}",
        "A shift by the width of a number leaves nothing of it.",
        COMPUTED,
    ),
    Fault(
        "virtual_device/ptx/integers.py",
        'f"i{2 * bits(kind)}", "sext" if signed else "zext"',
        'f"i{2 * bits(kind)}", "zext"',
        "The upper half of a product depends on the signs.",
        COMPUTED,
    ),
    Fault(
        "virtual_device/ptx/floats.py",
        'if source == "double" or bits(kind) == 64:',
        "if bits(kind) == 16:",
        "NaN becomes the highest bit of an integer where one of both has 64 bits.",
        COMPUTED,
    ),
    Fault(
        "virtual_device/ptx/floats.py",
        "{'or' if minimum else 'and'}",
        "{'and' if minimum else 'or'}",
        "The lesser of two zeros is the negative one.",
        COMPUTED,
    ),
    Fault(
        "virtual_device/ptx/memory.py",
        'name = f"u{name}"',
        "name = str(name)",
        "An atomic minimum of numbers without a sign compares them without a sign.",
        ("test_virtual_opcodes.py::test_an_atomic_changes_memory_and_gives_the_old_value",),
    ),
    Fault(
        "virtual_device/ptx/kernel.py",
        "register: first + SLOT * at",
        "register: SLOT * at",
        "A thread that waits keeps its registers apart from its local memory.",
        ("test_virtual_opcodes.py::test_threads_go_on_together_behind_a_barrier",),
    ),
    Fault(
        "virtual_device/driver/launch.c",
        "if (!found || at < found->at || at + size > found->at + found->bound) {",
        "if (!found || at < found->at || at + size > found->at + found->size) {",
        "Of memory of a pool, no more is accessed than was asked for.",
        FOUND,
    ),
    Fault(
        "virtual_device/driver/streams.c",
        "if (found) found->bound = work->size;",
        "if (found) found->bound = found->size;",
        "Memory that a pool was given back is not accessed.",
        FOUND,
    ),
    Fault(
        "virtual_device/driver/launch.c",
        "memset(now.shared, UNWRITTEN, now.shared_size);",
        "",
        "Shared memory holds nothing that a block before has written.",
        FOUND,
    ),
    Fault(
        "virtual_device/driver/launch.c",
        "phase < now.phase;",
        "1;",
        "Two threads of a block may not write one place without a barrier between them.",
        FOUND,
    ),
    Fault(
        "virtual_device/driver/streams.c",
        "waits_for(&work, events[(long)event].work);",
        "",
        "A stream that waits for an event does nothing before it.",
        FOUND,
    ),
    Fault(
        "kernels/device/scan.py",
        "        sums[thread] += before\n        cuda.syncthreads()\n",
        "        sums[thread] += before\n",
        "A thread reads a sum once all threads have written theirs.",
        KERNELS,
    ),
    Fault(
        "kernels/device/scan.py",
        "    cuda.syncthreads()\n    return before + earlier\n",
        "    return before + earlier\n",
        "Registers are loaded again once all threads have read the sums that lie there.",
        KERNELS,
    ),
    Fault(
        "kernels/counts/cuda.py",
        "        cuda.syncthreads()  # other symbols are copied\n",
        "",
        "The symbols of other segments are copied once all threads of the block have counted theirs.",
        KERNELS,
    ),
    Fault(
        "kernels/hits/cuda_long_segments.py",
        "begun - 1, here, begun + at // n)\n            cuda.syncthreads()\n",
        "begun - 1, here, begun + at // n)\n",
        "The map of a unit is composed with the one before its group once that is composed.",
        KERNELS,
    ),
    Fault(
        "kernels/counts/cuda_ends.py",
        "                product[first + t, q, c] = total\n            cuda.syncthreads()\n",
        "                product[first + t, q, c] = total\n",
        "A matrix is multiplied by a product once all threads have written theirs.",
        KERNELS,
    ),
    Fault(
        "kernels/counts/cuda_ends.py",
        "        cuda.syncthreads()\n        if thread < n:\n            vector[thread] = total\n",
        "        if thread < n:\n            vector[thread] = total\n",
        "The numbers before some tiles are written once all threads have read those before.",
        KERNELS,
    ),
    Fault(
        "kernels/teams/cuda.py",
        "cuda.atomic.add(hits, v, 1)",
        "hits[v] += 1",
        "Threads add to one sum atomically.",
        KERNELS,
    ),
    Fault(
        "kernels/device/scan.py",
        "        if thread <= nearest:\n",
        "        if thread < nearest:\n",
        "The nearest sum of all tiles is a part of the sum before a tile.",
        KERNELS,
    ),
    Fault(
        "kernels/classify/cuda.py",
        "publish(tiles, tile, WHOLE, before + count)",
        "publish(tiles, tile, OWN, before + count)",
        "A tile that has looked back says that its sum is that of all tiles.",
        KERNELS,
    ),
    Fault(
        "kernels/classify/cuda.py",
        "end = min(begin + size, rows)",
        "end = begin + size",
        "The last tile ends with the last row.",
        KERNELS,
    ),
    Fault(
        "kernels/classify/cuda.py",
        "address + CHUNK <= highest",
        "address < highest",
        "Sixteen bytes are read at once only where all of them are of the rows of the tile.",
        KERNELS,
    ),
    Fault(
        "kernels/device/scan.py",
        "value = values[i] if i < values.shape[0] else 0",
        "value = values[i] if i <= values.shape[0] else 0",
        "A thread reads no number behind the end.",
        KERNELS,
    ),
)
