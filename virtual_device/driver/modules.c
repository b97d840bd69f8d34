// Modules and their kernels: PTX, which the translator of the host makes into machine code when it is loaded.
#define _GNU_SOURCE
#include "device.h"
#include <dlfcn.h>

static Kernel **kernels;
static long kernel_count, kernel_room;
static int libraries = 1;
static int (*translate)(const char *ptx, size_t size, int library);
typedef struct {
    int library;
    char *name;
    void *address;
    size_t size;
} Variable;
static Variable *variables;
static long variable_count;

API void virtual_translator(int (*function)(const char *, size_t, int)) { translate = function; }

// What the translator says of a kernel. `numbers`: parameters, static shared bytes, bytes of state and of local memory
// of a thread, shared variables; the sizes of the parameters; offset and size of each shared variable.
API void virtual_kernel(int library, const char *name, void *run, const int *numbers) {
    if (kernel_count == kernel_room)
        kernels = realloc(kernels, sizeof *kernels * (kernel_room = kernel_room ? 2 * kernel_room : 256));
    Kernel *made = calloc(1, sizeof *made);
    size_t count = 5 + numbers[0] + 2 * numbers[4];
    int *kept = malloc(sizeof(int) * count);
    memcpy(kept, numbers, sizeof(int) * count);
    *made = (Kernel){.name = strdup(name), .run = (ThreadFunction)run, .library = library, .parameters = kept[0]};
    made->sizes = kept + 5;
    made->shared = kept[1];
    made->state = kept[2];
    made->local = kept[3];
    made->ranges = kept[4];
    made->range = kept + 5 + kept[0];
    kernels[kernel_count++] = made;
}

// A variable of a module in global or constant memory.
API void virtual_variable(int library, const char *name, void *address, size_t size) {
    variables = realloc(variables, sizeof *variables * (variable_count + 1));
    variables[variable_count++] = (Variable){library, strdup(name), address, size};
    allow(address, size, STATIC, 0);
}

// 0 behind the last kernel. `numbers`: launches, threads, reads, bytes read, writes, bytes written, atomics.
API int virtual_traffic(int at, char *name, int size, long *numbers) {
    if (at >= kernel_count) return 0;
    snprintf(name, size, "%s", kernels[at]->name);
    memcpy(numbers, &kernels[at]->launches, 7 * sizeof(long));
    return 1;
}

void clear_kernels(void) {
    for (long at = 0; at < kernel_count; at++) memset(&kernels[at]->launches, 0, 7 * sizeof(long));
}

static CUresult load(const char *image, int *library) {
    if (!strstr(image, ".version")) {
        complain("a module was loaded that is no PTX");
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    *library = libraries++;
    return translate(image, strlen(image), *library) ? CUDA_ERROR_INVALID_PTX : lost;
}

static Kernel *kernel_of(int library, const char *name) {
    for (long at = 0; at < kernel_count; at++)
        if (kernels[at]->library == library && !strcmp(kernels[at]->name, name)) return kernels[at];
    return 0;
}

#define HANDLE(number) ((void *)((long)(number) << 8))
#define NUMBER(handle) ((int)((long)(handle) >> 8))

API CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options, void **values,
                               unsigned count, CUlibraryOption *more, void **more_values, unsigned more_count) {
    ENTER_CONTEXT;
    int number = 0;
    CUresult result = load(code, &number);
    *library = HANDLE(number);
    LEAVE(result);
}

API CUresult cuLibraryUnload(CUlibrary library) {
    ENTER;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
    ENTER;
    *kernel = (CUkernel)kernel_of(NUMBER(library), name);
    LEAVE(*kernel ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
}

static CUresult variable_of(int library, const char *name, CUdeviceptr *address, size_t *size) {
    for (long at = 0; at < variable_count; at++)
        if (variables[at].library == library && !strcmp(variables[at].name, name)) {
            if (address) *address = (CUdeviceptr)variables[at].address;
            if (size) *size = variables[at].size;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

API CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *size, CUlibrary library, const char *name) {
    ENTER;
    LEAVE(variable_of(NUMBER(library), name, address, size));
}

API CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *size, CUmodule module, const char *name) {
    ENTER;
    LEAVE(variable_of(NUMBER(module), name, address, size));
}

API CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library) {
    ENTER;
    *module = (CUmodule)library;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
    ENTER;
    *function = (CUfunction)kernel;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) {
    ENTER;
    *library = HANDLE(((Kernel *)kernel)->library);
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuKernelGetParamInfo(CUkernel kernel, size_t at, size_t *offset, size_t *size) {
    ENTER;
    if ((int)at >= ((Kernel *)kernel)->parameters) LEAVE(CUDA_ERROR_INVALID_VALUE);
    *offset = 0;
    if (size) *size = ((Kernel *)kernel)->sizes[at];
    LEAVE(CUDA_SUCCESS);
}

static int attribute(Kernel *kernel, int asked) {
    switch (asked) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return BLOCK_THREADS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return kernel->shared;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: return kernel->local;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: return 32;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: return 90;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: return SHARED_BYTES - kernel->shared;
    }
    return 0;
}

API CUresult cuKernelGetAttribute(int *value, CUfunction_attribute asked, CUkernel kernel, CUdevice device) {
    ENTER;
    *value = attribute((Kernel *)kernel, asked);
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuKernelSetAttribute(CUfunction_attribute asked, int value, CUkernel kernel, CUdevice device) {
    ENTER;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute asked, CUfunction function) {
    ENTER;
    *value = attribute((Kernel *)function, asked);
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute asked, int value) {
    ENTER;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuModuleLoadData(CUmodule *module, const void *code) {
    ENTER_CONTEXT;
    int number = 0;
    CUresult result = load(code, &number);
    *module = HANDLE(number);
    LEAVE(result);
}

API CUresult cuModuleLoadDataEx(CUmodule *module, const void *code, unsigned count, CUjit_option *options,
                                void **values) {
    ENTER;
    LEAVE(cuModuleLoadData(module, code));
}

API CUresult cuModuleUnload(CUmodule module) {
    ENTER;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    ENTER;
    *function = (CUfunction)kernel_of(NUMBER(module), name);
    LEAVE(*function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
}

API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    ENTER;
    *mode = CU_MODULE_LAZY_LOADING;
    LEAVE(CUDA_SUCCESS);
}

#define PADDED(size) (((size) + 15) / 16 * 16)

// The values of the parameters, each at a multiple of 16 bytes, taken while the launch is called.
static void take_parameters(Work *work, Kernel *kernel, void **values, char *packed) {
    size_t total = 0, offset = 0, at = 0;
    for (int one = 0; one < kernel->parameters; one++) total += PADDED(kernel->sizes[one]);
    work->blob = aligned_alloc(16, total + 16);
    work->parameters = malloc(sizeof(void *) * (kernel->parameters + 1));
    for (int one = 0; one < kernel->parameters; one++) {
        size_t size = kernel->sizes[one], aligned = size < 8 ? size : 8;
        offset = (offset + aligned - 1) / aligned * aligned;
        memcpy(work->blob + at, values ? values[one] : packed + offset, size);
        work->parameters[one] = work->blob + at;
        offset += size;
        at += PADDED(size);
    }
}

API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void **values,
                            void **extra) {
    ENTER_CONTEXT;
    Kernel *kernel = (Kernel *)function;
    char *packed = 0;
    if (current_device() < 0) LEAVE(CUDA_ERROR_INVALID_CONTEXT);
    if (!grid_x || !grid_y || !grid_z || !block_x || !block_y || !block_z || grid_x > 2147483647 || grid_y > 65535 ||
        grid_z > 65535 || (unsigned long)block_x * block_y * block_z > BLOCK_THREADS || block_z > 64 ||
        shared + kernel->shared > SHARED_BYTES) {
        complain("%s: launched with %u, %u, %u blocks of %u, %u, %u threads and %u bytes of shared memory",
                 kernel->name, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared + kernel->shared);
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    for (int at = 0; extra && !values && extra[at]; at += 2)
        if (extra[at] == CU_LAUNCH_PARAM_BUFFER_POINTER) packed = extra[at + 1];
    Work work = {.kind = LAUNCH, .kernel = kernel, .device = current_device(), .shared = shared};
    memcpy(work.grid, (unsigned[]){grid_x, grid_y, grid_z}, sizeof work.grid);
    memcpy(work.block, (unsigned[]){block_x, block_y, block_z}, sizeof work.block);
    take_parameters(&work, kernel, values, packed);
    add(stream_of(stream), work);
    LEAVE(CUDA_SUCCESS); // what goes wrong in a kernel is told by the next call
}

API CUresult cuLaunchKernelEx(const CUlaunchConfig *how, CUfunction function, void **values, void **extra) {
    ENTER;
    LEAVE(cuLaunchKernel(function, how->gridDimX, how->gridDimY, how->gridDimZ, how->blockDimX, how->blockDimY,
                         how->blockDimZ, how->sharedMemBytes, how->hStream, values, extra));
}

API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t shared) {
    ENTER;
    *blocks = 2048 / threads;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuOccupancyMaxPotentialBlockSize(int *blocks, int *threads, CUfunction function,
                                              CUoccupancyB2DSize shared_of, size_t shared, int limit) {
    ENTER;
    *blocks = 132;
    *threads = 512;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuGetExportTable(const void **table, const CUuuid *name) {
    *table = 0; // tables that are not documented, which CuPy asks for
    return CUDA_ERROR_NOT_FOUND;
}

#undef cuGetProcAddress
API CUresult cuGetProcAddress_v2(const char *name, void **function, int version, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *status) {
    static const char *suffixes[] = {"_v4", "_v3", "_v2", ""};
    Dl_info own, found;
    dladdr((void *)cuInit, &own);
    void *library = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    *function = 0;
    for (int at = 0; at < 4 && !*function; at++) {
        char full[128];
        snprintf(full, sizeof full, "%s%s", name, suffixes[at]);
        *function = dlsym(library, full);
        if (*function && (!dladdr(*function, &found) || found.dli_fbase != own.dli_fbase)) *function = 0;
    }
    if (library) dlclose(library);
    if (status) *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

API CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags) {
    return cuGetProcAddress_v2(name, function, version, flags, 0);
}
