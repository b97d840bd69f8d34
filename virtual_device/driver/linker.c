// nvJitLink: PTX stays PTX, and of LTO IR the real library makes PTX, in place of code for a GPU.
#include "device.h"
#include <dlfcn.h>

#define MOST_OPTIONS 62 // and two of our own

enum { INPUT_PTX = 2, INPUT_LTO = 3 };

typedef struct {
    char *text;
    size_t size;
    void *real;
    const char *options[MOST_OPTIONS + 2];
    int count;
} Link;

static const char *real_path;

API void virtual_linker(const char *path) { real_path = strdup(path); }

static int (*real(const char *name))() {
    static void *library;
    if (!library) library = dlopen(real_path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "virtual device: %s\n", dlerror());
        abort();
    }
    return (int (*)())dlsym(library, name);
}

API int nvJitLinkCreate(void **handle, unsigned count, const char **options) {
    Link *link = calloc(1, sizeof *link);
    for (unsigned at = 0; at < count && at < MOST_OPTIONS; at++) link->options[link->count++] = strdup(options[at]);
    *handle = link;
    return 0;
}

API int nvJitLinkDestroy(void **handle) {
    Link *link = *handle;
    if (link->real) real("nvJitLinkDestroy")(&link->real);
    free(link->text);
    free(link);
    *handle = 0;
    return 0;
}

static int begin(Link *link) {
    int has_lto = 0;
    for (int at = 0; at < link->count; at++) has_lto |= !strcmp(link->options[at], "-lto");
    if (!has_lto) link->options[link->count++] = "-lto";
    link->options[link->count++] = "-ptx";
    return real("nvJitLinkCreate")(&link->real, (unsigned)link->count, link->options);
}

API int nvJitLinkAddData(void *handle, int type, const void *data, size_t size, const char *name) {
    Link *link = handle;
    if (type == INPUT_LTO) {
        int result = link->real ? 0 : begin(link);
        return result ? result : real("nvJitLinkAddData")(link->real, type, data, size, name);
    }
    if (type != INPUT_PTX) {
        complain("nvJitLink was given data of type %d: only PTX and LTO IR are linked", type);
        return 4;
    }
    link->text = realloc(link->text, link->size + size + 1);
    memcpy(link->text + link->size, data, size);
    link->size += size;
    link->text[link->size] = 0;
    return 0;
}

API int nvJitLinkAddFile(void *handle, int type, const char *file) { return 4; }

API int nvJitLinkComplete(void *handle) {
    Link *link = handle;
    if (!link->real) return 0;
    size_t size = 0;
    int result = real("nvJitLinkComplete")(link->real);
    if (!result) result = real("nvJitLinkGetLinkedPtxSize")(link->real, &size);
    if (result) return result;
    link->text = realloc(link->text, size + 1);
    result = real("nvJitLinkGetLinkedPtx")(link->real, link->text);
    link->text[size] = 0;
    link->size = strlen(link->text);
    return result;
}

static int linked_size(Link *link, size_t *size) {
    *size = link->size + 1;
    return 0;
}

static int linked(Link *link, char *text) {
    memcpy(text, link->text, link->size + 1);
    return 0;
}

API int nvJitLinkGetLinkedCubinSize(void *handle, size_t *size) { return linked_size(handle, size); }
API int nvJitLinkGetLinkedCubin(void *handle, void *code) { return linked(handle, code); }
API int nvJitLinkGetLinkedPtxSize(void *handle, size_t *size) { return linked_size(handle, size); }
API int nvJitLinkGetLinkedPtx(void *handle, char *text) { return linked(handle, text); }

static int log_size(Link *link, const char *name, size_t *size) {
    *size = 1;
    return link->real ? real(name)(link->real, size) : 0;
}

static int log_text(Link *link, const char *name, char *text) {
    *text = 0;
    return link->real ? real(name)(link->real, text) : 0;
}

API int nvJitLinkGetErrorLogSize(void *handle, size_t *size) {
    return log_size(handle, "nvJitLinkGetErrorLogSize", size);
}

API int nvJitLinkGetErrorLog(void *handle, char *text) { return log_text(handle, "nvJitLinkGetErrorLog", text); }

API int nvJitLinkGetInfoLogSize(void *handle, size_t *size) { return log_size(handle, "nvJitLinkGetInfoLogSize", size); }

API int nvJitLinkGetInfoLog(void *handle, char *text) { return log_text(handle, "nvJitLinkGetInfoLog", text); }

API int nvJitLinkVersion(unsigned *major, unsigned *minor) {
    *major = 13;
    *minor = 0;
    return 0;
}
