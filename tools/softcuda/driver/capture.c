/*
 * Owns: stream captures: which streams take part, and behind which nodes what
 * comes next in each of them goes.
 * Does not own: graphs (graph.c), what is captured (its callers).
 * Lock: sc_graph_lock; stream->capture is also read without it.
 */
#include "driver/capture.h"

#include <stdlib.h>
#include <string.h>

#include "driver/context.h"
#include "driver/event.h"
#include "driver/handle.h"

/** One capture, from its begin to its end. */
struct sc_capture {
    uint64_t id;
    CUgraph graph;
    bool given; /* the program's graph, not the capture's own */
    CUstreamCaptureMode mode;
    pthread_t thread;
    bool failed;
    CUstream origin, streams; /* linked by next_captured */
    /* last nodes of streams that were destroyed meanwhile */
    struct sc_node_list left;
    struct sc_capture *next;
};

static struct sc_capture *captures; /* that go on */
static uint64_t last_id;
static _Thread_local CUstreamCaptureMode thread_mode;

static struct sc_capture *capture_of(CUstream stream)
{
    return atomic_load_explicit(&stream->capture, memory_order_relaxed);
}

static void join(struct sc_capture *capture, CUstream stream)
{
    stream->after.count = 0;
    stream->next_captured = capture->streams;
    capture->streams = stream;
    if (!(stream->flags & CU_STREAM_NON_BLOCKING))
        atomic_fetch_add(&stream->ctx->capturing, 1);
    atomic_store_explicit(&stream->capture, capture, memory_order_release);
}

static void part(CUstream stream)
{
    free(stream->after.list);
    stream->after = (struct sc_node_list){0};
    if (!(stream->flags & CU_STREAM_NON_BLOCKING))
        atomic_fetch_sub(&stream->ctx->capturing, 1);
    atomic_store_explicit(&stream->capture, NULL, memory_order_release);
}

/* Let all streams out, then free it. */
static void end(struct sc_capture *capture)
{
    while (capture->streams) {
        CUstream stream = capture->streams;
        capture->streams = stream->next_captured;
        part(stream);
    }
    capture->graph->capturing = false;
    struct sc_capture **p = &captures;
    while (*p != capture)
        p = &(*p)->next;
    *p = capture->next;
    free(capture->left.list);
    free(capture);
}

static bool add_nodes(struct sc_node_list *to, const struct sc_node_list *nodes)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (!sc_node_list_has(to, nodes->list[i]) &&
            !sc_node_list_add(to, nodes->list[i]))
            return false;
    return true;
}

/* Add to the nodes that the stream's next one goes behind. */
static bool add_after(CUstream stream, const struct sc_node_list *nodes)
{
    return add_nodes(&stream->after, nodes);
}

static bool set_after(CUstream stream, CUgraphNode only)
{
    stream->after.count = 0;
    return sc_node_list_add(&stream->after, only);
}

CUresult sc_capture_add(CUstream stream, struct sc_work *work)
{
    CUgraphNode node;
    CUresult result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    pthread_mutex_lock(&sc_graph_lock);
    struct sc_capture *capture = capture_of(stream);
    if (capture && !capture->failed) {
        result = sc_graph_add(&node, capture->graph, stream->after.list,
                              stream->after.count, work);
        if (result == CUDA_SUCCESS && !set_after(stream, node))
            result = CUDA_ERROR_OUT_OF_MEMORY;
        capture->failed = result != CUDA_SUCCESS;
    }
    sc_work_fini(work);
    pthread_mutex_unlock(&sc_graph_lock);
    return result;
}

CUresult sc_capture_refuse(CUstream stream)
{
    pthread_mutex_lock(&sc_graph_lock);
    if (capture_of(stream))
        capture_of(stream)->failed = true;
    pthread_mutex_unlock(&sc_graph_lock);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

static CUresult add_event(CUstream stream, CUgraphNodeType type, CUevent event)
{
    struct sc_work work = {.type = type, .ctx = stream->ctx, .event = event};
    return sc_capture_add(stream, &work);
}

CUresult sc_capture_record(CUstream stream, CUevent event, bool external)
{
    if (external)
        return add_event(stream, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
    CUresult result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    pthread_mutex_lock(&sc_graph_lock);
    struct sc_capture *capture = capture_of(stream);
    if (capture && !capture->failed) {
        result = CUDA_SUCCESS;
        event->captured.count = 0;
        for (size_t i = 0; i < stream->after.count; i++)
            if (!sc_node_list_add(&event->captured, stream->after.list[i]))
                result = CUDA_ERROR_OUT_OF_MEMORY;
        atomic_store(&event->capture, capture->id);
        capture->failed = result != CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&sc_graph_lock);
    return result;
}

/* The capture an event was recorded in, if it still goes on. */
static struct sc_capture *active(uint64_t id)
{
    struct sc_capture *capture = captures;
    while (capture && capture->id != id)
        capture = capture->next;
    return capture;
}

static CUresult wait_captured(CUstream stream, CUevent event)
{
    struct sc_capture *theirs = active(event->capture);
    struct sc_capture *own = capture_of(stream);
    if (!theirs) {
        if (own)
            own->failed = true;
        return own ? CUDA_ERROR_STREAM_CAPTURE_ISOLATION
                   : CUDA_ERROR_CAPTURED_EVENT;
    }
    if (own && own != theirs) {
        own->failed = theirs->failed = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (theirs->failed)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream->legacy) {
        theirs->failed = true;
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    if (!own)
        join(theirs, stream);
    return add_after(stream, &event->captured) ? CUDA_SUCCESS
                                               : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sc_capture_wait(CUstream stream, CUevent event, bool external)
{
    if (external && sc_captures(stream))
        return add_event(stream, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
    CUresult result;
    pthread_mutex_lock(&sc_graph_lock);
    if (event->capture) {
        result = wait_captured(stream, event);
    } else {
        /* work outside would have to wait for what never runs */
        if (capture_of(stream))
            capture_of(stream)->failed = true;
        result = CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    pthread_mutex_unlock(&sc_graph_lock);
    return result;
}

void sc_capture_leave(CUstream stream)
{
    if (!sc_captures(stream))
        return;
    pthread_mutex_lock(&sc_graph_lock);
    struct sc_capture *capture = capture_of(stream);
    if (capture && capture->origin == stream) {
        CUgraph graph = capture->given ? NULL : capture->graph;
        end(capture);
        if (graph)
            sc_graph_free(graph);
    } else if (capture) {
        CUstream *p = &capture->streams;
        while (*p != stream)
            p = &(*p)->next_captured;
        *p = stream->next_captured;
        /* what it did may be joined already, or by an event still */
        capture->failed |= !add_nodes(&capture->left, &stream->after);
        part(stream);
    }
    pthread_mutex_unlock(&sc_graph_lock);
}

static CUresult begin(CUstream stream, CUgraph graph,
                      const struct sc_node_list *after,
                      CUstreamCaptureMode mode)
{
    struct sc_capture *capture = calloc(1, sizeof *capture);
    bool given = graph != NULL;
    if (!given)
        graph = sc_graph_new();
    if (!capture || !graph) {
        free(capture);
        if (graph && !given)
            sc_graph_free(graph);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *capture = (struct sc_capture){.id = ++last_id,
                                   .graph = graph,
                                   .given = given,
                                   .mode = mode,
                                   .thread = pthread_self(),
                                   .origin = stream,
                                   .next = captures};
    captures = capture;
    graph->capturing = true;
    join(capture, stream);
    if (after && !add_after(stream, after))
        capture->failed = true;
    return CUDA_SUCCESS;
}

static CUresult resolve(CUstream handle, CUstream *stream)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    return sc_stream_resolve(handle, &ctx, stream);
}

SC_API cuStreamBeginCapture(CUstream hStream, CUstreamCaptureMode mode)
{
    CUstream stream;
    SC_TRY(resolve(hStream, &stream));
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    pthread_mutex_lock(&sc_graph_lock);
    CUresult result = capture_of(stream) ? CUDA_ERROR_ILLEGAL_STATE
                                         : begin(stream, NULL, NULL, mode);
    pthread_mutex_unlock(&sc_graph_lock);
    return result;
}

SC_API cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
                                   const CUgraphNode *dependencies,
                                   const CUgraphEdgeData *dependencyData,
                                   size_t numDependencies,
                                   CUstreamCaptureMode mode)
{
    CUstream stream;
    (void)dependencyData; /* checked where edges are made */
    SC_TRY(resolve(hStream, &stream));
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED ||
        (numDependencies && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    CUresult result = CUDA_SUCCESS;
    struct sc_node_list after = {0};
    pthread_mutex_lock(&sc_graph_lock);
    if (!sc_graph_is(hGraph) || hGraph->capturing)
        result = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; result == CUDA_SUCCESS && i < numDependencies; i++)
        if (!sc_handle_is(dependencies[i], SC_HANDLE_NODE) ||
            dependencies[i]->graph != hGraph)
            result = CUDA_ERROR_INVALID_VALUE;
        else if (!sc_node_list_add(&after, dependencies[i]))
            result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        result = capture_of(stream) ? CUDA_ERROR_ILLEGAL_STATE
                                    : begin(stream, hGraph, &after, mode);
    pthread_mutex_unlock(&sc_graph_lock);
    free(after.list);
    return result;
}

/* Mark all a node depends on; the list grows as they are found. */
static bool mark_before(struct sc_node_list *found, CUgraphNode node)
{
    if (node->marked)
        return true;
    node->marked = true;
    return sc_node_list_add(found, node);
}

static bool are_marked(const struct sc_node_list *nodes)
{
    bool all = true;
    for (size_t i = 0; i < nodes->count; i++)
        all &= nodes->list[i]->marked;
    return all;
}

/* Does the origin come behind all the other streams did? */
static bool is_joined(const struct sc_capture *capture)
{
    struct sc_node_list found = {0};
    bool ok = true;
    for (size_t i = 0; i < capture->graph->nodes.count; i++)
        capture->graph->nodes.list[i]->marked = false;
    for (size_t i = 0; i < capture->origin->after.count; i++)
        ok &= mark_before(&found, capture->origin->after.list[i]);
    for (size_t i = 0; ok && i < found.count; i++)
        for (size_t k = 0; ok && k < found.list[i]->before.count; k++)
            ok = mark_before(&found, found.list[i]->before.list[k]);
    for (CUstream s = capture->streams; s; s = s->next_captured)
        ok &= are_marked(&s->after);
    ok &= are_marked(&capture->left);
    free(found.list);
    return ok;
}

static bool are_there(const struct sc_capture *capture,
                      const struct sc_node_list *nodes)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (!sc_handle_is(nodes->list[i], SC_HANDLE_NODE) ||
            nodes->list[i]->graph != capture->graph)
            return false;
    return true;
}

/* All nodes that streams will go behind must be there still. */
static bool is_intact(const struct sc_capture *capture)
{
    for (CUstream s = capture->streams; s; s = s->next_captured)
        if (!are_there(capture, &s->after))
            return false;
    return are_there(capture, &capture->left);
}

static CUresult finish(CUstream stream, CUgraph *out)
{
    struct sc_capture *capture = capture_of(stream);
    if (!capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin != stream)
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
        !pthread_equal(capture->thread, pthread_self()))
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    CUresult result = CUDA_SUCCESS;
    if (capture->failed || !is_intact(capture))
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!is_joined(capture))
        result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    CUgraph graph = capture->graph;
    bool given = capture->given;
    end(capture);
    *out = result == CUDA_SUCCESS ? graph : NULL;
    if (result != CUDA_SUCCESS && !given)
        sc_graph_free(graph);
    return result;
}

SC_API cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
    CUstream stream;
    CUgraph graph = NULL;
    SC_TRY(resolve(hStream, &stream));
    if (!phGraph)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_graph_lock);
    CUresult result = finish(stream, &graph);
    pthread_mutex_unlock(&sc_graph_lock);
    *phGraph = graph;
    return result;
}

static CUstreamCaptureStatus status_of(CUstream stream)
{
    struct sc_capture *capture = capture_of(stream);
    return !capture          ? CU_STREAM_CAPTURE_STATUS_NONE
           : capture->failed ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                             : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

SC_API cuStreamIsCapturing(CUstream hStream,
                           CUstreamCaptureStatus *captureStatus)
{
    CUstream stream;
    SC_TRY(resolve(hStream, &stream));
    if (!captureStatus)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_graph_lock);
    *captureStatus = status_of(stream);
    pthread_mutex_unlock(&sc_graph_lock);
    return CUDA_SUCCESS;
}

/* The list stays valid until the stream's next call; edges are plain. */
SC_API cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus *status,
                              cuuint64_t *id, CUgraph *graph,
                              const CUgraphNode **dependencies,
                              const CUgraphEdgeData **edges, size_t *count)
{
    CUstream stream;
    SC_TRY(resolve(hStream, &stream));
    if (!status)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_graph_lock);
    *status = status_of(stream);
    if (*status == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        if (id)
            *id = capture_of(stream)->id;
        if (graph)
            *graph = capture_of(stream)->graph;
        if (dependencies)
            *dependencies = stream->after.list;
        if (edges)
            *edges = NULL;
        if (count)
            *count = stream->after.count;
    }
    pthread_mutex_unlock(&sc_graph_lock);
    return CUDA_SUCCESS;
}

SC_API cuStreamUpdateCaptureDependencies(CUstream hStream,
                                         CUgraphNode *dependencies,
                                         const CUgraphEdgeData *dependencyData,
                                         size_t numDependencies,
                                         unsigned int flags)
{
    CUstream stream;
    (void)dependencyData; /* checked where edges are made */
    SC_TRY(resolve(hStream, &stream));
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES ||
        (numDependencies && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    struct sc_node_list nodes = {dependencies, numDependencies, 0};
    pthread_mutex_lock(&sc_graph_lock);
    struct sc_capture *capture = capture_of(stream);
    CUresult result = !capture          ? CUDA_ERROR_ILLEGAL_STATE
                      : capture->failed ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                                        : CUDA_SUCCESS;
    for (size_t i = 0; result == CUDA_SUCCESS && i < numDependencies; i++)
        if (!sc_handle_is(dependencies[i], SC_HANDLE_NODE) ||
            dependencies[i]->graph != capture->graph)
            result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
            stream->after.count = 0;
        if (!add_after(stream, &nodes))
            result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_unlock(&sc_graph_lock);
    return result;
}

/* The mode says which calls to refuse while others capture; none is refused
 * here, so it is only kept. */
SC_API cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    SC_TRY(sc_enter());
    if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}
