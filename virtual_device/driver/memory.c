// Memory of the devices, which is memory of the host: every allocation is known, and has bytes around it that
// belong to nobody. What was freed is kept for a while, so that its addresses are not given out again at once.
#include "device.h"

#define UNWRITTEN 0xA5 // what new memory holds
#define GIVEN_BACK 0xDD // what memory holds that a pool has been given back
#define NEAR 512 // bytes behind the end of an allocation, or before its beginning
#define MOST_KEPT 256
#define MOST_KEPT_BYTES (1l << 26)

static Allocation *table; // by address
static long known, room;
static long used[MOST_DEVICES];
static struct {
    char *at;
    size_t size;
    int owned;
} kept[MOST_KEPT];
static long keeping, kept_bytes, next_kept;

// How many allocations begin at an address or before it.
static long before(const char *address) {
    long low = 0, high = known;
    while (low < high) {
        long middle = (low + high) / 2;
        if (table[middle].at <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

Allocation *find(const void *address, size_t size) {
    long at = before(address);
    if (!at) return 0;
    Allocation *found = table + at - 1;
    return (const char *)address + size <= found->at + found->size ? found : 0;
}

void allow(void *address, size_t size, int kind, int device) {
    if (known == room) table = realloc(table, sizeof *table * (room = room ? 2 * room : 1024));
    long at = before(address);
    memmove(table + at + 1, table + at, sizeof *table * (known++ - at));
    table[at] = (Allocation){address, size, size, device, kind, 0};
}

void forget(void *address) {
    long at = before(address) - 1;
    free(table[at].traces);
    memmove(table + at, table + at + 1, sizeof *table * (--known - at));
}

// What lies at an address that no allocation has.
const char *place_of(const void *wanted) {
    const char *address = wanted;
    for (int at = 0; at < MOST_KEPT; at++)
        if (kept[at].at && address >= kept[at].at && address < kept[at].at + kept[at].size)
            return "in memory that was given back";
    long at = before(address);
    if (at && address - (table[at - 1].at + table[at - 1].bound) < NEAR)
        return table[at - 1].bound ? "behind the end of an allocation" : "in memory that was given back";
    if (at < known && table[at].at - address <= NEAR) return "before the beginning of an allocation";
    return "outside of any allocation of the device";
}

static void drop(long at) {
    if (kept[at].owned) free(kept[at].at);
    kept_bytes -= kept[at].size;
    kept[at].at = 0;
    keeping--;
}

// Free memory later, once much other memory was freed.
static void keep(char *at, size_t size, int owned) {
    if (kept[next_kept].at) drop(next_kept);
    for (long step = 1; keeping && kept_bytes + (long)size > MOST_KEPT_BYTES && step < MOST_KEPT; step++)
        if (kept[(next_kept + step) % MOST_KEPT].at) drop((next_kept + step) % MOST_KEPT);
    if (owned) memset(at, GIVEN_BACK, size);
    kept[next_kept].at = at;
    kept[next_kept].size = size;
    kept[next_kept].owned = owned;
    kept_bytes += size;
    keeping++;
    next_kept = (next_kept + 1) % MOST_KEPT;
}

static void *take(size_t size, int kind, int device) {
    char *at = aligned_alloc(512, (size + 1535) / 512 * 512);
    memset(at, UNWRITTEN, size);
    allow(at, size, kind, device);
    return at;
}

static CUresult give(void *address, int kind) {
    if (!address) return CUDA_SUCCESS;
    Allocation *found = find(address, 0);
    if (!found || found->at != address || found->kind != kind) {
        complain("%p is freed, which was not allocated", address);
        return CUDA_ERROR_INVALID_VALUE;
    }
    Allocation copy = *found;
    for (int device = 0; device < settings.devices; device++)
        if (kind != DEVICE || device == copy.device) finish_device(device);
    if (kind == DEVICE) used[copy.device] -= copy.size;
    forget(address);
    keep(copy.at, copy.size, kind != REGISTERED);
    return CUDA_SUCCESS;
}

API CUresult cuMemAlloc(CUdeviceptr *address, size_t size) {
    ENTER_CONTEXT;
    int device = current_device();
    if (device < 0) LEAVE(CUDA_ERROR_INVALID_CONTEXT);
    if (!size) LEAVE(CUDA_ERROR_INVALID_VALUE);
    if (used[device] + (long)size > settings.memory) LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    used[device] += size;
    *address = (CUdeviceptr)take(size, DEVICE, device);
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream) {
    ENTER;
    LEAVE(cuMemAlloc(address, size));
}

API CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size, CUmemoryPool pool, CUstream stream) {
    ENTER;
    LEAVE(cuMemAlloc(address, size));
}

API CUresult cuMemFree(CUdeviceptr address) {
    ENTER_CONTEXT;
    LEAVE(give((void *)address, DEVICE));
}

API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    ENTER_CONTEXT;
    LEAVE(give((void *)address, DEVICE));
}

API CUresult cuMemGetInfo(size_t *left, size_t *total) {
    ENTER_CONTEXT;
    int device = current_device();
    if (device < 0) LEAVE(CUDA_ERROR_INVALID_CONTEXT);
    *left = settings.memory > used[device] ? settings.memory - used[device] : 0;
    *total = settings.memory;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuMemHostAlloc(void **address, size_t size, unsigned flags) {
    ENTER_CONTEXT;
    if (current_device() < 0) LEAVE(CUDA_ERROR_INVALID_CONTEXT);
    *address = take(size, PINNED, current_device());
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuMemAllocHost(void **address, size_t size) {
    ENTER;
    LEAVE(cuMemHostAlloc(address, size, 0));
}

API CUresult cuMemFreeHost(void *address) {
    ENTER_CONTEXT;
    LEAVE(give(address, PINNED));
}

API CUresult cuMemHostRegister(void *address, size_t size, unsigned flags) {
    ENTER_CONTEXT;
    if (find(address, 1)) LEAVE(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    allow(address, size, REGISTERED, current_device());
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuMemHostUnregister(void *address) {
    ENTER_CONTEXT;
    LEAVE(give(address, REGISTERED));
}

API CUresult cuMemHostGetDevicePointer(CUdeviceptr *device, void *address, unsigned flags) {
    ENTER_CONTEXT;
    *device = (CUdeviceptr)address;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *size, CUdeviceptr address) {
    ENTER_CONTEXT;
    Allocation *found = find((void *)address, 1);
    if (!found) LEAVE(CUDA_ERROR_NOT_FOUND);
    if (base) *base = (CUdeviceptr)found->at;
    if (size) *size = found->size;
    LEAVE(CUDA_SUCCESS);
}

static CUresult attribute(void *value, int asked, Allocation *of, CUdeviceptr address) {
    switch (asked) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)value = (CUcontext)(0x100l + of->device); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)value = of->kind == PINNED || of->kind == REGISTERED ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)value = address; break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: *(CUdeviceptr *)value = address; break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(int *)value = 0; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)value = of->device; break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)value = (CUdeviceptr)of->at; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)value = of->size; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

API CUresult cuPointerGetAttribute(void *value, CUpointer_attribute asked, CUdeviceptr address) {
    ENTER_CONTEXT;
    Allocation *found = find((void *)address, 1);
    LEAVE(found ? attribute(value, asked, found, address) : CUDA_ERROR_INVALID_VALUE);
}

API CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *asked, void **values, CUdeviceptr address) {
    ENTER_CONTEXT;
    Allocation *found = find((void *)address, 1);
    for (unsigned at = 0; at < count; at++)
        if (found) attribute(values[at], asked[at], found, address);
        else if (asked[at] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) *(int *)values[at] = -2;
        else if (asked[at] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE || asked[at] == CU_POINTER_ATTRIBUTE_IS_MANAGED)
            *(unsigned *)values[at] = 0;
        else *(void **)values[at] = 0;
    LEAVE(CUDA_SUCCESS);
}

enum { ANY, TO_DEVICE, TO_HOST, ON_DEVICE };

static CUresult copy(void *target, const void *source, size_t size, int direction, CUstream stream, int async) {
    if (lost) return lost;
    if (!size) return CUDA_SUCCESS;
    if (current_device() < 0) return CUDA_ERROR_INVALID_CONTEXT;
    Allocation *there = find(target, size), *from = find(source, size);
    if ((direction & TO_DEVICE && !there) || (direction & TO_HOST && !from)) {
        const void *wrong = direction & TO_DEVICE && !there ? target : source;
        complain("a copy of %zu bytes from or to %p, %s", size, wrong, place_of(wrong));
        return CUDA_ERROR_INVALID_VALUE;
    }
    Work work = {.kind = COPY, .device = current_device(), .target = target, .source = source, .size = size};
    if (async && direction == TO_DEVICE && !from) { // memory that is not page-locked is read during the call
        work.staged = malloc(size);
        memcpy(work.staged, source, size);
    }
    long added = add(stream_of(stream), work);
    if (!async || (direction == TO_HOST && !there)) finish(added);
    return lost;
}

API CUresult cuMemcpy(CUdeviceptr target, CUdeviceptr source, size_t size) {
    ENTER;
    LEAVE(copy((void *)target, (const void *)source, size, ANY, 0, 0));
}

API CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t size, CUstream stream) {
    ENTER;
    LEAVE(copy((void *)target, (const void *)source, size, ANY, stream, 1));
}

API CUresult cuMemcpyHtoD(CUdeviceptr target, const void *source, size_t size) {
    ENTER;
    LEAVE(copy((void *)target, (const void *)source, size, TO_DEVICE, 0, 0));
}

API CUresult cuMemcpyHtoDAsync(CUdeviceptr target, const void *source, size_t size, CUstream stream) {
    ENTER;
    LEAVE(copy((void *)target, (const void *)source, size, TO_DEVICE, stream, 1));
}

API CUresult cuMemcpyDtoH(void *target, CUdeviceptr source, size_t size) {
    ENTER;
    LEAVE(copy((void *)target, (const void *)source, size, TO_HOST, 0, 0));
}

API CUresult cuMemcpyDtoHAsync(void *target, CUdeviceptr source, size_t size, CUstream stream) {
    ENTER;
    LEAVE(copy((void *)target, (const void *)source, size, TO_HOST, stream, 1));
}

API CUresult cuMemcpyDtoD(CUdeviceptr target, CUdeviceptr source, size_t size) {
    ENTER;
    LEAVE(copy((void *)target, (const void *)source, size, ON_DEVICE, 0, 1));
}

API CUresult cuMemcpyDtoDAsync(CUdeviceptr target, CUdeviceptr source, size_t size, CUstream stream) {
    ENTER;
    LEAVE(copy((void *)target, (const void *)source, size, ON_DEVICE, stream, 1));
}

static CUresult fill(CUdeviceptr target, unsigned value, size_t count, unsigned width, CUstream stream) {
    if (lost) return lost;
    if (!find((void *)target, count * width)) {
        complain("%zu bytes are set at %p, %s", count * width, (void *)target, place_of((void *)target));
        return CUDA_ERROR_INVALID_VALUE;
    }
    Work work = {.kind = FILL, .target = (char *)target, .value = value, .size = count, .width = width};
    add(stream_of(stream), work);
    return lost;
}

API CUresult cuMemsetD8(CUdeviceptr target, unsigned char value, size_t count) {
    ENTER;
    LEAVE(fill(target, value, count, 1, 0));
}

API CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t count, CUstream stream) {
    ENTER;
    LEAVE(fill(target, value, count, 1, stream));
}

API CUresult cuMemsetD32(CUdeviceptr target, unsigned value, size_t count) {
    ENTER;
    LEAVE(fill(target, value, count, 4, 0));
}

API CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value, size_t count, CUstream stream) {
    ENTER;
    LEAVE(fill(target, value, count, 4, stream));
}

API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute name, void *value) {
    ENTER;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute name, void *value) {
    ENTER;
    *(uint64_t *)value = 0;
    LEAVE(CUDA_SUCCESS);
}

// A pool of memory hands an allocation out, of whose bytes `size` were asked for, or is given it back (size 0).
API void virtual_pool(CUdeviceptr address, size_t size) {
    enter();
    Allocation *found = find((void *)address, 0);
    if (found) { // on the null stream of its device, whichever is the current one
        Work filling = {.kind = FILL, .target = found->at, .value = GIVEN_BACK, .size = found->size, .width = 1};
        Work bounding = {.kind = BOUND, .target = found->at, .size = size};
        int device = found->device;
        if (!size) add(device, filling);
        add(device, bounding);
    }
    leave(0);
}
