// The lock, the settings, the counts of calls, and the faults that were found.
#include "device.h"

#define MOST_FAULTS 64
#define FAULT_BYTES 16384 // a mangled name holds the types of all arguments
#define MOST_CALLS 512

Settings settings = {1, 1l << 32, 0, ASCENDING, 0, 1, 0, 0, CUDA_ERROR_ILLEGAL_ADDRESS};
CUresult lost;

static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct {
    const char *name;
    long calls;
} counters[MOST_CALLS];
static int counted;
static char faults[MOST_FAULTS][FAULT_BYTES];
static long found;
static long worked; // launches and copies that have begun

void enter(void) { pthread_mutex_lock(&mutex); }

CUresult leave(CUresult result) {
    pthread_mutex_unlock(&mutex);
    return result;
}

long *counter_of(const char *name) {
    if (counted == MOST_CALLS) abort();
    counters[counted].name = name;
    return &counters[counted++].calls;
}

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (found < MOST_FAULTS) vsnprintf(faults[found], sizeof faults[0], format, arguments);
    va_end(arguments);
    found++;
}

void lose(CUresult error) {
    if (settings.lose && !lost) lost = error;
}

// Called before each launch and copy: one of them may be where the loss of the device was planted.
void work_begins(void) {
    if (++worked == settings.loss && !lost) lost = (CUresult)settings.error;
}

// How many launches and copies have begun since the last reset or change of the settings.
API long virtual_worked(void) { return worked; }

static void finish_all(void) {
    for (int device = 0; device < MOST_DEVICES; device++) finish_device(device);
}

API void virtual_configure(const Settings *chosen) {
    enter();
    finish_all();
    settings = *chosen;
    worked = 0;
    leave(0);
}

// How many faults there were; the text of fault `at`, of those that are kept.
API long virtual_fault(long at, char *text, int size) {
    if (at < found && at < MOST_FAULTS) snprintf(text, size, "%s", faults[at]);
    return found;
}

// 0 behind the last function that was called.
API int virtual_calls(int at, char *name, int size, long *calls) {
    if (at >= counted) return 0;
    snprintf(name, size, "%s", counters[at].name);
    *calls = counters[at].calls;
    return 1;
}

void clear_kernels(void);

// Forget faults, counts and the loss of the device.
API void virtual_reset(void) {
    enter();
    finish_all(); // what a lost device has not done is dropped
    found = 0;
    lost = 0;
    worked = 0;
    for (int at = 0; at < counted; at++) counters[at].calls = 0;
    clear_kernels();
    leave(0);
}
