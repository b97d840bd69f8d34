// What the files of the virtual device share: its settings, memory, kernels and the work of its streams.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cuda.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define MOST_DEVICES 16
#define SHARED_BYTES 49152
#define BLOCK_THREADS 1024

// Every function of the driver holds one lock and counts its calls.
#define ENTER                                                                                                \
    static long *counter;                                                                                    \
    enter();                                                                                                 \
    if (!counter) counter = counter_of(__func__);                                                            \
    ++*counter
#define LEAVE(result) return leave(result)

// The same for a function that needs a context: once that is lost, it returns the error that has ended it.
#define ENTER_CONTEXT                                                                                        \
    ENTER;                                                                                                   \
    if (lost) LEAVE(lost)

enum { ASCENDING, DESCENDING, RANDOM };

// The same fields, in this order, as `Settings` in `settings.py`.
typedef struct {
    long devices, memory, lazy, order, seed, races, lose, loss, error;
} Settings;

enum { DEVICE, PINNED, REGISTERED, STATIC };

// The last accesses of a byte in a launch, for the search for races.
typedef struct {
    uint64_t epoch, writer, reader;
    uint32_t write_phase, read_phase;
} Trace;

typedef struct {
    char *at;
    size_t size, bound; // kernels may use the bytes before `bound`, which is 0 while a pool has the memory
    int device, kind;
    Trace *traces;
} Allocation;

// Runs one thread from its start (resume 0) or from behind a barrier to its end (0) or the next barrier.
typedef long (*ThreadFunction)(void **, const int *, char *, char *, int, int, int, long);

typedef struct {
    char *name;
    ThreadFunction run;
    int library, parameters, *sizes;
    int shared, state, local, ranges, *range; // range: offset and size of each static shared variable
    long launches, threads, reads, bytes_read, writes, bytes_written, atomics;
} Kernel;

enum { LAUNCH, COPY, FILL, MARK, CALLBACK, BOUND };

// Something that a stream does once the work `after` is done.
typedef struct {
    int kind, stream, done, device, count;
    long *after;
    Kernel *kernel;
    void **parameters;
    char *blob;
    unsigned grid[3], block[3], shared;
    char *target, *staged;
    const char *source;
    size_t size;
    unsigned value, width;
    CUstreamCallback callback;
    CUhostFn function;
    void *data;
} Work;

typedef struct {
    int alive, nonblocking, device;
    long last;
} Stream;

extern Settings settings;
extern CUresult lost; // the error that has ended the use of the device
extern Stream streams[];

void enter(void);
CUresult leave(CUresult result);
long *counter_of(const char *name);
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void lose(CUresult error);
void work_begins(void);

int current_device(void);

Allocation *find(const void *address, size_t size);
const char *place_of(const void *address);
void allow(void *address, size_t size, int kind, int device);
void forget(void *address);

int stream_of(CUstream handle);
long add(int stream, Work work);
void finish(long work);
void finish_device(int device);
void launch(Work *work);
