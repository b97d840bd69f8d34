// Devices, their contexts, and errors.
#include "device.h"

#define MOST_CONTEXTS 64
#define CONTEXT(device) ((CUcontext)(0x100l + (device)))
#define DEVICE_OF(context) ((int)((long)(context) - 0x100))

static __thread int stack[MOST_CONTEXTS];
static __thread int depth;

int current_device(void) { return depth ? stack[depth - 1] : -1; }

API CUresult cuInit(unsigned flags) {
    ENTER;
    LEAVE(settings.devices ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE);
}

API CUresult cuDriverGetVersion(int *version) {
    ENTER;
    *version = 13000;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuDeviceGetCount(int *count) {
    ENTER;
    *count = (int)settings.devices;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuDeviceGet(CUdevice *device, int number) {
    ENTER;
    if (number < 0 || number >= settings.devices) LEAVE(CUDA_ERROR_INVALID_DEVICE);
    *device = number;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    ENTER;
    snprintf(name, size, "Virtual device %d", device);
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuDeviceTotalMem(size_t *size, CUdevice device) {
    ENTER;
    *size = settings.memory;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    ENTER;
    memset(uuid, device + 1, sizeof *uuid);
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuDeviceGetPCIBusId(char *name, int size, CUdevice device) {
    ENTER;
    snprintf(name, size, "0000:%02x:00.0", device + 1);
    LEAVE(CUDA_SUCCESS);
}

// Those of an H100.
static int attribute(int asked, int device) {
    switch (asked) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return BLOCK_THREADS;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return SHARED_BYTES;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return SHARED_BYTES;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return 233472;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return 2048;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: return 65536;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return 32;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return 1755000;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return 132;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return 9;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return 0;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS: return 1;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: return device + 1;
    }
    return 0;
}

API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute asked, CUdevice device) {
    ENTER;
    *value = attribute(asked, device);
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    ENTER;
    *can = 0;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
    ENTER;
    *pool = (CUmemoryPool)(0x700l + device);
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
    ENTER;
    *pool = (CUmemoryPool)(0x700l + device);
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    ENTER;
    *context = CONTEXT(device);
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    ENTER;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuDevicePrimaryCtxReset(CUdevice device) {
    ENTER;
    finish_device(device);
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    ENTER;
    *flags = 0;
    *active = 1;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
    ENTER;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuCtxGetCurrent(CUcontext *context) {
    ENTER;
    *context = depth ? CONTEXT(current_device()) : 0;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuCtxSetCurrent(CUcontext context) {
    ENTER;
    if (context && !depth) depth = 1;
    if (context) stack[depth - 1] = DEVICE_OF(context);
    else if (depth) depth--;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuCtxPushCurrent(CUcontext context) {
    ENTER_CONTEXT;
    if (depth == MOST_CONTEXTS) LEAVE(CUDA_ERROR_UNKNOWN);
    stack[depth++] = DEVICE_OF(context);
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuCtxPopCurrent(CUcontext *context) {
    ENTER;
    if (!depth) LEAVE(CUDA_ERROR_INVALID_CONTEXT);
    depth--;
    if (context) *context = CONTEXT(stack[depth]);
    LEAVE(lost);
}

API CUresult cuCtxGetDevice(CUdevice *device) {
    ENTER;
    if (!depth) LEAVE(CUDA_ERROR_INVALID_CONTEXT);
    *device = current_device();
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuCtxSynchronize(void) {
    ENTER;
    if (!depth) LEAVE(CUDA_ERROR_INVALID_CONTEXT);
    finish_device(current_device());
    LEAVE(lost);
}

API CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version) {
    ENTER;
    *version = 13000;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuCtxGetFlags(unsigned *flags) {
    ENTER;
    *flags = 0;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    ENTER;
    if (least) *least = 0;
    if (greatest) *greatest = 0;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
    ENTER;
    *value = 1024;
    LEAVE(CUDA_SUCCESS);
}

static const struct {
    CUresult code;
    const char *name, *text;
} errors[] = {
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
};
#define ERRORS (sizeof errors / sizeof *errors)

API CUresult cuGetErrorName(CUresult code, const char **name) {
    *name = "CUDA_ERROR_UNKNOWN";
    for (size_t at = 0; at < ERRORS; at++)
        if (errors[at].code == code) *name = errors[at].name;
    return CUDA_SUCCESS;
}

API CUresult cuGetErrorString(CUresult code, const char **text) {
    *text = "unknown error";
    for (size_t at = 0; at < ERRORS; at++)
        if (errors[at].code == code) *text = errors[at].text;
    return CUDA_SUCCESS;
}

API CUresult cuProfilerStart(void) { return CUDA_SUCCESS; }
API CUresult cuProfilerStop(void) { return CUDA_SUCCESS; }
