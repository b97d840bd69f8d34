// Launches: the threads of a block run one after another, each up to a barrier, and then on to the next one; and the
// checks of what they read and write.
#include "device.h"

#define UNWRITTEN 0xA5
#define SEVERAL 0x7ff // in place of the number of a thread: several threads of a block have read
#define EVERYBODY (~0ul) // threads of several blocks have read
#define MOST_TRACED (1 << 24) // bytes of an allocation in which races are looked for

static struct {
    Kernel *kernel;
    int device, bad;
    char *shared, *local;
    size_t shared_size, dynamic;
    int thread;
    long block;
    uint64_t epoch, block_epoch;
    uint32_t phase;
    Allocation *latest;
} now;
static Trace shared_traces[SHARED_BYTES];
static char harmless[256]; // where an access goes that is out of bounds
static uint64_t epochs, random_state;

enum { WRITES = 1, ATOMIC = 2, VOLATILE = 4, IN_SHARED = 8, IN_LOCAL = 16, HAS_VALUE = 32 };

static const char *verb(int kind) { return kind & ATOMIC ? "changes" : kind & WRITES ? "writes" : "reads"; }

static void fault(int kind, int line, size_t size, const char *address, const char *what, CUresult error) {
    if (!now.bad++)
        complain("%s: thread %d of block %ld %s %zu bytes at %p %s (line %d of the PTX)", now.kernel->name,
                 now.thread, now.block, verb(kind), size, address, what, line);
    lose(error);
}

static void race(int line, const char *address, int in_shared, const char *what) {
    if (!now.bad++)
        complain("%s: a race: thread %d of block %ld %s at %p of %s memory, and nothing lies between them (line %d of the PTX)",
                 now.kernel->name, now.thread, now.block, what, address, in_shared ? "shared" : "global", line);
}

static int same(const char *address, size_t size, long value) { return !memcmp(address, &value, size); }

// Whether an earlier access, of `who` in a phase, comes before this one in every order of threads.
static int ordered(uint64_t who, uint32_t phase, uint64_t me) {
    if (!who || who == me) return 1;
    return who != EVERYBODY && who >> 11 == me >> 11 && phase < now.phase;
}

// Two accesses of one place by two threads, of which one writes another value, need a barrier, or have to be atomic.
static void trace(Trace *at, const char *address, size_t size, int kind, int line, long value) {
    int shared = kind & IN_SHARED;
    uint64_t epoch = shared ? now.block_epoch : now.epoch;
    uint64_t me = (uint64_t)(now.block + 1) << 11 | (uint64_t)now.thread;
    if (at->epoch != epoch) *at = (Trace){epoch, 0, 0, 0, 0};
    if (kind & (VOLATILE | ATOMIC)) {
        if (kind & ATOMIC && !ordered(at->writer, at->write_phase, me))
            race(line, address, shared, "changes atomically what another writes plainly,");
        return;
    }
    if (!(kind & WRITES)) {
        if (!ordered(at->writer, at->write_phase, me)) race(line, address, shared, "reads what another writes,");
        if (at->reader && at->reader != me && !ordered(at->reader, at->read_phase, me))
            at->reader = at->reader >> 11 == me >> 11 ? me | SEVERAL : EVERYBODY;
        else at->reader = me;
        at->read_phase = now.phase;
        return;
    }
    if (kind & HAS_VALUE && same(address, size, value)) {
        if (!at->writer) at->writer = me, at->write_phase = now.phase;
        return;
    }
    if (!ordered(at->writer, at->write_phase, me)) race(line, address, shared, "writes what another writes,");
    else if (!ordered(at->reader, at->read_phase, me)) race(line, address, shared, "writes what another reads,");
    at->writer = me;
    at->write_phase = now.phase;
}

static int in_shared(size_t offset, size_t size) {
    for (int at = 0; at < now.kernel->ranges; at++)
        if (offset >= (size_t)now.kernel->range[2 * at] &&
            offset + size <= (size_t)now.kernel->range[2 * at] + now.kernel->range[2 * at + 1])
            return 1;
    return offset >= (size_t)now.kernel->shared && offset + size <= now.kernel->shared + now.dynamic;
}

// Called before each access of memory: the address, or another one where the access is out of bounds.
API long virtual_access(long address, int size, int kind, int line, long value) {
    char *at = (char *)address;
    size_t offset = (size_t)(at - now.shared);
    int shared = offset < now.shared_size || kind & IN_SHARED;
    int local = !shared && (kind & IN_LOCAL || (size_t)(at - now.local) < (size_t)now.kernel->local);
    Trace *traces = 0;
    if (shared) {
        if (!in_shared(offset, size)) {
            fault(kind, line, size, at, "outside of any variable in shared memory", CUDA_ERROR_ILLEGAL_ADDRESS);
            return (long)memset(harmless, 0, sizeof harmless);
        }
        kind |= IN_SHARED;
        traces = shared_traces + offset;
    } else if (local) {
        if (at < now.local || at + size > now.local + now.kernel->local) {
            fault(kind, line, size, at, "outside of its local memory", CUDA_ERROR_ILLEGAL_ADDRESS);
            return (long)memset(harmless, 0, sizeof harmless);
        }
    } else {
        Allocation *found = now.latest;
        if (!found || at < found->at || at + size > found->at + found->bound) {
            found = find(at, size);
            if (!found || at + size > found->at + found->bound || (found->kind == DEVICE && found->device != now.device)) {
                int elsewhere = found && found->kind == DEVICE && found->device != now.device;
                const char *where = elsewhere ? "in the memory of another device" : place_of(at);
                fault(kind, line, size, at, where, CUDA_ERROR_ILLEGAL_ADDRESS);
                return (long)memset(harmless, 0, sizeof harmless);
            }
            now.latest = found;
        }
        if (kind & (WRITES | ATOMIC)) now.kernel->writes++, now.kernel->bytes_written += size;
        if (!(kind & WRITES)) now.kernel->reads++, now.kernel->bytes_read += size;
        if (kind & ATOMIC) now.kernel->atomics++;
        if (settings.races && !found->traces && found->size <= MOST_TRACED)
            found->traces = calloc(found->size, sizeof(Trace));
        traces = found->traces ? found->traces + (at - found->at) : 0;
    }
    if (address % (size > 16 ? 16 : size))
        fault(kind, line, size, at, "which is not a multiple of its size", CUDA_ERROR_MISALIGNED_ADDRESS);
    if (settings.races && traces) trace(traces, at, size, kind, line, value);
    return address;
}

API void virtual_trap(int line) {
    if (!now.bad++)
        complain("%s: thread %d of block %ld stops at a trap (line %d of the PTX)", now.kernel->name, now.thread,
                 now.block, line);
    lose(CUDA_ERROR_ILLEGAL_INSTRUCTION);
}

static uint64_t drawn(void) { // xorshift64*
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 2685821657736338717ul >> 33;
}

// The numbers 0 .. count - 1 in the order of the settings.
static void arrange(long *order, long count) {
    for (long at = 0; at < count; at++) order[at] = settings.order == DESCENDING ? count - 1 - at : at;
    if (settings.order != RANDOM) return;
    for (long at = count - 1; at > 0; at--) {
        long other = (long)(drawn() % (uint64_t)(at + 1)), number = order[at];
        order[at] = order[other];
        order[other] = number;
    }
}

// All threads of a warp have to wait at one and the same barrier, and none may have ended.
static void check_barrier(const long *resume, long threads) {
    long waiting = 0, warp = 0;
    for (long at = 0; at < threads; at++) waiting += resume[at] != 0;
    if (waiting && waiting < threads && !now.bad++)
        complain("%s: %ld threads of block %ld have ended while others wait at a barrier", now.kernel->name,
                 threads - waiting, now.block);
    for (long at = 0; at < threads; at++) {
        if (at % 32 == 0) warp = 0;
        if (resume[at] && warp && resume[at] != warp && !now.bad++)
            complain("%s: threads of a warp of block %ld wait at different barriers", now.kernel->name, now.block);
        if (resume[at]) warp = resume[at];
    }
}

static void run_block(Work *work, char *state, long *resume, long *order) {
    Kernel *kernel = work->kernel;
    long threads = (long)work->block[0] * work->block[1] * work->block[2];
    int shape[10] = {work->block[0], work->block[1], work->block[2], work->grid[0], work->grid[1], work->grid[2],
                     now.block % work->grid[0], now.block / work->grid[0] % work->grid[1],
                     now.block / work->grid[0] / work->grid[1], work->shared};
    memset(now.shared, UNWRITTEN, now.shared_size);
    memset(state, UNWRITTEN, (size_t)kernel->state * threads);
    memset(resume, 0, sizeof(long) * threads);
    now.block_epoch = ++epochs;
    for (now.phase = 0;; now.phase++) {
        long waiting = 0;
        arrange(order, threads);
        for (long at = 0; at < threads; at++) {
            long thread = order[at];
            if (now.phase && !resume[thread]) continue;
            now.thread = (int)thread;
            now.local = state + thread * kernel->state;
            resume[thread] = kernel->run(
                work->parameters, shape, now.shared, now.local, (int)(thread % work->block[0]),
                (int)(thread / work->block[0] % work->block[1]), (int)(thread / work->block[0] / work->block[1]),
                resume[thread]);
            waiting += resume[thread] != 0;
            if (lost) return;
        }
        if (!waiting) return;
        check_barrier(resume, threads);
    }
}

void launch(Work *work) {
    if (lost) return;
    Kernel *kernel = work->kernel;
    long threads = (long)work->block[0] * work->block[1] * work->block[2];
    long blocks = (long)work->grid[0] * work->grid[1] * work->grid[2];
    size_t shared = kernel->shared + work->shared;
    char *state = aligned_alloc(64, ((size_t)kernel->state * threads + 127) / 64 * 64);
    long *resume = malloc(sizeof(long) * threads), *order = malloc(sizeof(long) * (threads + blocks));
    memset(&now, 0, sizeof now);
    now.kernel = kernel;
    now.device = work->device;
    now.shared = aligned_alloc(64, (shared + 127) / 64 * 64);
    now.shared_size = shared;
    now.dynamic = work->shared;
    now.epoch = ++epochs;
    random_state = (uint64_t)settings.seed * 0x9E3779B97F4A7C15ul + epochs + 1;
    arrange(order + threads, blocks);
    for (long at = 0; at < blocks && !lost; at++) {
        now.block = order[threads + at];
        run_block(work, state, resume, order);
    }
    kernel->launches++;
    kernel->threads += threads * blocks;
    free(now.shared);
    free(state);
    free(resume);
    free(order);
}
