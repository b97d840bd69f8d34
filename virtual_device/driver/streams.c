// Streams and events: work is done in the order that they demand, at once or, where `lazy`, when something waits for
// it. A missing wait then shows as data that is not there yet, or no longer.
#include "device.h"

#define MOST_STREAMS 4096
#define MOST_EVENTS (1 << 20)
#define HANDLES 0x1000 // of streams: the small numbers are those of the default streams
#define REMEMBERED 4096

Stream streams[MOST_STREAMS] = {[0 ... MOST_DEVICES - 1] = {1, 0, 0, -1}}; // first the null stream of each device
static int stream_count = MOST_DEVICES;
static struct {
    int alive;
    long work;
} events[MOST_EVENTS];
static int event_count = 1;
static Work *queue;
static long queued, pending, room;

static void perform(Work *work) {
    if (work->kind == LAUNCH || work->kind == COPY) work_begins();
    int works = !lost || work->kind == CALLBACK || work->kind == BOUND;
    switch (works ? work->kind : MARK) {
    case LAUNCH: launch(work); break;
    case COPY: {
        const char *source = work->staged ? work->staged : work->source;
        Allocation *ends[] = {find(work->target, work->size), find(source, work->size)};
        for (int end = 0; end < 2; end++)
            if (ends[end] && (end ? source : work->target) + work->size > ends[end]->at + ends[end]->bound)
                complain("a copy of %zu bytes %s memory that was given back", work->size, end ? "from" : "to");
        memmove(work->target, source, work->size);
        break;
    }
    case FILL:
        for (size_t at = 0; at < work->size; at++) memcpy(work->target + at * work->width, &work->value, work->width);
        break;
    case CALLBACK:
        if (work->callback) work->callback((CUstream)(long)(work->stream + HANDLES), lost, work->data);
        else work->function(work->data);
        break;
    case BOUND: {
        Allocation *found = find(work->target, 0);
        if (found) found->bound = work->size;
        break;
    }
    }
    free(work->staged);
    free(work->blob);
    free(work->parameters);
}

// Do some work, and before it what it waits for.
void finish(long wanted) {
    if (wanted < 0 || queue[wanted].done) return;
    long size = 64, count = 0, *todo = malloc(sizeof(long) * size);
    todo[count++] = wanted;
    while (count) {
        Work *work = queue + todo[count - 1];
        int ready = 1;
        for (int at = 0; !work->done && at < work->count; at++) {
            long other = work->after[at];
            if (other < 0 || queue[other].done) continue;
            if (count == size) todo = realloc(todo, sizeof(long) * (size *= 2));
            todo[count++] = other;
            ready = 0;
        }
        if (!ready) continue;
        count--;
        if (work->done) continue;
        long at = work - queue;
        work->done = 1;
        pending--;
        Work copy = *work; // a callback may add work, which moves the queue
        perform(&copy);
        free(queue[at].after);
        queue[at].after = 0;
        queue[at].count = 0;
    }
    free(todo);
}

static void forget_work(void) {
    if (pending || queued < REMEMBERED) return;
    for (int at = 0; at < stream_count; at++) streams[at].last = -1;
    for (int at = 0; at < event_count; at++) events[at].work = -1;
    queued = 0;
}

void finish_device(int device) {
    for (int at = 0; at < stream_count; at++)
        if (streams[at].alive && (at < MOST_DEVICES ? at : streams[at].device) == device) finish(streams[at].last);
    forget_work();
}

int stream_of(CUstream handle) {
    long number = (long)handle;
    if (number > 2) return (int)(number - HANDLES);
    return current_device() < 0 ? 0 : current_device();
}

static void waits_for(Work *work, long other) {
    if (other < 0 || queue[other].done) return;
    work->after = realloc(work->after, sizeof(long) * (work->count + 1));
    work->after[work->count++] = other;
}

// Work of a stream waits for what the stream has begun; on the null stream also for the other streams of the device,
// and on these for the null stream, unless they were made without that.
long add(int stream, Work work) {
    if (queued == room) queue = realloc(queue, sizeof *queue * (room = room ? 2 * room : 1024));
    work.stream = stream;
    waits_for(&work, streams[stream].last);
    if (stream < MOST_DEVICES) {
        for (int other = MOST_DEVICES; other < stream_count; other++)
            if (streams[other].alive && !streams[other].nonblocking && streams[other].device == stream)
                waits_for(&work, streams[other].last);
    } else if (!streams[stream].nonblocking)
        waits_for(&work, streams[streams[stream].device].last);
    long added = queued++;
    queue[added] = work;
    streams[stream].last = added;
    if (!settings.lazy) {
        finish(added);
        forget_work();
    }
    return queued ? added : -1;
}

API CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    ENTER_CONTEXT;
    int at = MOST_DEVICES;
    while (at < stream_count && streams[at].alive) at++;
    if (at == MOST_STREAMS) LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    if (at == stream_count) stream_count++;
    streams[at] = (Stream){1, flags & CU_STREAM_NON_BLOCKING, current_device(), -1};
    *stream = (CUstream)(long)(HANDLES + at);
    LEAVE(lost);
}

API CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
    ENTER;
    LEAVE(cuStreamCreate(stream, flags));
}

API CUresult cuStreamDestroy(CUstream stream) {
    ENTER_CONTEXT;
    finish(streams[stream_of(stream)].last);
    streams[stream_of(stream)].alive = 0;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuStreamSynchronize(CUstream stream) {
    ENTER_CONTEXT;
    finish(streams[stream_of(stream)].last);
    forget_work();
    LEAVE(lost);
}

API CUresult cuStreamQuery(CUstream stream) { // who asks again and again would wait for ever
    ENTER_CONTEXT;
    finish(streams[stream_of(stream)].last);
    LEAVE(lost);
}

API CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    ENTER;
    int at = stream_of(stream);
    *context = (CUcontext)(0x100l + (at < MOST_DEVICES ? at : streams[at].device));
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuStreamGetFlags(CUstream stream, unsigned *flags) {
    ENTER;
    *flags = streams[stream_of(stream)].nonblocking;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuStreamGetPriority(CUstream stream, int *priority) {
    ENTER;
    *priority = 0;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuStreamGetDevice(CUstream stream, CUdevice *device) {
    ENTER;
    int at = stream_of(stream);
    *device = at < MOST_DEVICES ? at : streams[at].device;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    ENTER;
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    ENTER_CONTEXT;
    Work work = {.kind = MARK};
    waits_for(&work, events[(long)event].work);
    add(stream_of(stream), work);
    LEAVE(lost);
}

API CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned flags) {
    ENTER_CONTEXT;
    Work work = {.kind = CALLBACK, .callback = callback, .data = data};
    add(stream_of(stream), work);
    LEAVE(lost);
}

API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) {
    ENTER_CONTEXT;
    Work work = {.kind = CALLBACK, .function = function, .data = data};
    add(stream_of(stream), work);
    LEAVE(lost);
}

API CUresult cuEventCreate(CUevent *event, unsigned flags) {
    ENTER_CONTEXT;
    static int from = 1;
    int at = from;
    while (at < event_count && events[at].alive) at++;
    if (at == MOST_EVENTS) LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    from = at == event_count ? 1 : at + 1;
    if (at == event_count) event_count++;
    events[at].alive = 1;
    events[at].work = -1;
    *event = (CUevent)(long)at;
    LEAVE(lost);
}

API CUresult cuEventDestroy(CUevent event) {
    ENTER_CONTEXT;
    events[(long)event].alive = 0;
    LEAVE(CUDA_SUCCESS);
}

API CUresult cuEventRecord(CUevent event, CUstream stream) {
    ENTER_CONTEXT;
    Work work = {.kind = MARK};
    events[(long)event].work = add(stream_of(stream), work);
    LEAVE(lost);
}

API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
    ENTER;
    LEAVE(cuEventRecord(event, stream));
}

API CUresult cuEventSynchronize(CUevent event) {
    ENTER_CONTEXT;
    finish(events[(long)event].work);
    LEAVE(lost);
}

API CUresult cuEventQuery(CUevent event) {
    ENTER_CONTEXT;
    finish(events[(long)event].work);
    LEAVE(lost);
}

API CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to) {
    ENTER_CONTEXT;
    *milliseconds = 1; // there is no time here
    LEAVE(CUDA_SUCCESS);
}
