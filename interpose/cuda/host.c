/*
 * Host functions of streams and of graphs: the runtime has to know that a
 * thread is inside one (mm/doors/turn.h), so it is given to the driver wrapped.
 *
 * One that is enqueued runs once, and its wrapper ends with it. One in a graph
 * runs at each launch, and nothing tells when it is gone for good: there is one
 * wrapper for each pair of function and argument, which stays.
 */
#include "base/lock.h"
#include "base/status.h"
#include "interpose/cuda/graph.h"
#include "interpose/cuda/capture.h"
#include "interpose/cuda/context.h"
#include "interpose/cuda/result.h"
#include "interpose/cuda/work.h"
#include "interpose/signals/mask.h"
#include "mm/doors/turn.h"

#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* What the program asked for. */
struct wish {
    cuda_host_fn *function;
    cuda_stream_callback *callback; /* instead of the function */
    void *data;
};

struct once {
    struct adsm_turn turn;
    struct wish wish;
};

struct kept {
    struct cuda_host_node node; /* the key */
    UT_hash_handle hh;
};

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_MODULE);
static struct kept *all_kept;

/* ---- in the driver's thread ---------------------------------------------- */

/* The driver may have blocked every signal in there. */
static void begin_turn(struct adsm_turn *turn)
{
    mask_adopt();
    adsm_turn_begin(turn);
}

static void run_once(void *data)
{
    struct once once = *(struct once *)data;
    free(data);
    begin_turn(&once.turn);
    once.wish.function(once.wish.data);
    adsm_turn_end();
}

static void call_back_once(CUstream stream, CUresult result, void *data)
{
    struct once once = *(struct once *)data;
    free(data);
    cuda_seen(result);
    begin_turn(&once.turn);
    once.wish.callback(stream, result, once.wish.data);
    adsm_turn_end();
}

static void run_kept(void *data)
{
    const struct kept *kept = data;
    struct adsm_turn turn = {0};
    begin_turn(&turn);
    kept->node.function(kept->node.data);
    adsm_turn_end();
}

/* ---- in graphs ----------------------------------------------------------- */

static struct kept *keep(const struct cuda_host_node *node)
{
    struct kept *kept;
    adsm_lock_acquire(&lock);
    HASH_FIND(hh, all_kept, node, sizeof *node, kept);
    if (!kept && (kept = calloc(1, sizeof *kept))) {
        kept->node = *node;
        HASH_ADD(hh, all_kept, node, sizeof kept->node, kept);
        if (!kept->hh.tbl) {
            free(kept);
            kept = NULL;
        }
    }
    adsm_lock_release(&lock);
    return kept;
}

/* The node as the driver gets it. Return: CUDA_ERROR_OUT_OF_MEMORY */
static CUresult wrap_node(struct cuda_host_node *node)
{
    if (!node->function || hook_passes())
        return CUDA_SUCCESS;
    struct kept *kept = keep(node);
    if (!kept)
        return CUDA_ERROR_OUT_OF_MEMORY;
    adsm_turn_expect_always();
    *node = (struct cuda_host_node){run_kept, kept};
    return CUDA_SUCCESS;
}

/* What the program gave, from what the driver has. */
static void unwrap_node(struct cuda_host_node *node)
{
    if (node->function == run_kept)
        *node = ((const struct kept *)node->data)->node;
}

/* ---- enqueued ------------------------------------------------------------ */

/* Between the program's call and the driver's. */
struct submission {
    struct device_order order;
    struct adsm_turn turn;
    /* What the driver gets. */
    struct wish wish;
    struct once *once; /* NULL: as the program gave it, or in a graph */
};

static CUresult prepare(struct submission *s, CUstream stream, bool per_thread,
                        struct wish wish)
{
    *s = (struct submission){.order = cuda_order(stream, per_thread),
                             .wish = wish};
    if ((!wish.function && !wish.callback) || hook_passes())
        return CUDA_SUCCESS;
    if (cuda_is_capturing(s->order.stream)) {
        struct cuda_host_node node = {wish.function, wish.data};
        CUresult result = wrap_node(&node);
        s->wish.function = node.function;
        s->wish.data = node.data;
        return result;
    }
    if (!device_is_serving() && !device_adopts())
        return CUDA_SUCCESS;
    hook_enter();
    int status = adsm_turn_start();
    s->once = status ? NULL : malloc(sizeof *s->once);
    if (!status && !s->once)
        status = ADSM_E_NOMEM;
    if (!status) {
        s->turn.accel = cuda_accel_current();
        adsm_turn_submit(&s->turn);
        *s->once = (struct once){s->turn, wish};
        s->wish = (struct wish){run_once, call_back_once, s->once};
    }
    hook_leave();
    return cuda_result("a host function", status);
}

static CUresult submitted(struct submission *s, CUresult result)
{
    cuda_seen(result);
    if (!s->once)
        return result;
    hook_enter();
    adsm_turn_submitted(&s->turn, s->order.stream, s->order.per_thread,
                        result == CUDA_SUCCESS);
    if (result)
        free(s->once);
    hook_leave();
    return result;
}

/* The body of a call: `args` uses s.wish. */
#define SUBMIT(stream, per_thread, wanted, real, args)                         \
    struct submission s;                                                       \
    CUresult result = prepare(&s, stream, per_thread, (struct wish)wanted);    \
    return result ? result : submitted(&s, CUDA_SUBMIT(real, args))
#define WISH(function, callback, data)                                         \
    {                                                                          \
        function, callback, data                                               \
    }

CUresult cuLaunchHostFunc(CUstream stream, cuda_host_fn *function, void *data)
{
    SUBMIT(stream, false, WISH(function, NULL, data), cuLaunchHostFunc,
           (stream, s.wish.function, s.wish.data));
}

CUresult cuLaunchHostFunc_ptsz(CUstream stream, cuda_host_fn *function,
                               void *data)
{
    SUBMIT(stream, true, WISH(function, NULL, data), cuLaunchHostFunc_ptsz,
           (stream, s.wish.function, s.wish.data));
}

CUresult cuLaunchHostFunc_v2(CUstream stream, cuda_host_fn *function,
                             void *data, unsigned mode)
{
    SUBMIT(stream, false, WISH(function, NULL, data), cuLaunchHostFunc_v2,
           (stream, s.wish.function, s.wish.data, mode));
}

CUresult cuLaunchHostFunc_v2_ptsz(CUstream stream, cuda_host_fn *function,
                                  void *data, unsigned mode)
{
    SUBMIT(stream, true, WISH(function, NULL, data), cuLaunchHostFunc_v2_ptsz,
           (stream, s.wish.function, s.wish.data, mode));
}

CUresult cuStreamAddCallback(CUstream stream, cuda_stream_callback *callback,
                             void *data, unsigned flags)
{
    SUBMIT(stream, false, WISH(NULL, callback, data), cuStreamAddCallback,
           (stream, s.wish.callback, s.wish.data, flags));
}

CUresult cuStreamAddCallback_ptsz(CUstream stream,
                                  cuda_stream_callback *callback, void *data,
                                  unsigned flags)
{
    SUBMIT(stream, true, WISH(NULL, callback, data), cuStreamAddCallback_ptsz,
           (stream, s.wish.callback, s.wish.data, flags));
}

/* ---- nodes --------------------------------------------------------------- */

/* A copy that calls the host through us, for what the program gave. */
static CUresult wrap_host(struct cuda_host_node *copy,
                          const struct cuda_host_node **node)
{
    if (!*node)
        return CUDA_SUCCESS;
    *copy = **node;
    *node = copy;
    return wrap_node(copy);
}

CUresult cuGraphAddHostNode(CUgraphNode *made, CUgraph graph,
                            const CUgraphNode *after, size_t count,
                            const struct cuda_host_node *node)
{
    struct cuda_host_node copy;
    CUresult result = wrap_host(&copy, &node);
    return result ? result
                  : CUDA_CALL(cuGraphAddHostNode,
                              (made, graph, after, count, node));
}

CUresult cuGraphHostNodeSetParams(CUgraphNode which,
                                  const struct cuda_host_node *node)
{
    struct cuda_host_node copy;
    CUresult result = wrap_host(&copy, &node);
    return result ? result : CUDA_CALL(cuGraphHostNodeSetParams, (which, node));
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec graph, CUgraphNode which,
                                      const struct cuda_host_node *node)
{
    struct cuda_host_node copy;
    CUresult result = wrap_host(&copy, &node);
    return result
               ? result
               : CUDA_CALL(cuGraphExecHostNodeSetParams, (graph, which, node));
}

CUresult cuGraphHostNodeGetParams(CUgraphNode which,
                                  struct cuda_host_node *node)
{
    CUresult result = CUDA_CALL(cuGraphHostNodeGetParams, (which, node));
    if (result == CUDA_SUCCESS && node)
        unwrap_node(node);
    return result;
}

/* The general form: a copy for nodes that call the host, else as given. */
static CUresult wrap_params(struct cuda_node_params *copy,
                            struct cuda_node_params **params)
{
    if (!*params || (*params)->type != CUDA_GRAPH_NODE_HOST)
        return CUDA_SUCCESS;
    *copy = **params;
    *params = copy;
    return wrap_node(&copy->host);
}

/* One that allocates has an address now. Return: `result`, the driver's answer */
static CUresult added(CUresult result, const struct cuda_node_params *params)
{
    if (result == CUDA_SUCCESS && params->type == CUDA_GRAPH_NODE_ALLOC)
        cuda_graph_memory(params->alloc.at, params->alloc.bytes);
    return result;
}

CUresult cuGraphAddNode(CUgraphNode *made, CUgraph graph,
                        const CUgraphNode *after, size_t count,
                        struct cuda_node_params *params)
{
    struct cuda_node_params copy;
    CUresult result = wrap_params(&copy, &params);
    return result ? result
                  : added(CUDA_CALL(cuGraphAddNode,
                                    (made, graph, after, count, params)),
                          params);
}

CUresult cuGraphAddNode_v2(CUgraphNode *made, CUgraph graph,
                           const CUgraphNode *after, const void *edges,
                           size_t count, struct cuda_node_params *params)
{
    struct cuda_node_params copy;
    CUresult result = wrap_params(&copy, &params);
    return result ? result
                  : added(CUDA_CALL(cuGraphAddNode_v2,
                                    (made, graph, after, edges, count, params)),
                          params);
}

CUresult cuGraphAddNode_v3(CUgraphNode *made, CUgraph graph,
                           const CUgraphNode *after, const void *edges,
                           size_t count, struct cuda_node_params *params)
{
    struct cuda_node_params copy;
    CUresult result = wrap_params(&copy, &params);
    return result ? result
                  : added(CUDA_CALL(cuGraphAddNode_v3,
                                    (made, graph, after, edges, count, params)),
                          params);
}

CUresult cuGraphNodeSetParams(CUgraphNode which,
                              struct cuda_node_params *params)
{
    struct cuda_node_params copy;
    CUresult result = wrap_params(&copy, &params);
    return result ? result : CUDA_CALL(cuGraphNodeSetParams, (which, params));
}

CUresult cuGraphNodeSetParams_v2(CUgraphNode which,
                                 struct cuda_node_params *params)
{
    struct cuda_node_params copy;
    CUresult result = wrap_params(&copy, &params);
    return result ? result
                  : CUDA_CALL(cuGraphNodeSetParams_v2, (which, params));
}

CUresult cuGraphNodeGetParams(CUgraphNode which,
                              struct cuda_node_params *params)
{
    CUresult result = CUDA_CALL(cuGraphNodeGetParams, (which, params));
    if (result == CUDA_SUCCESS && params &&
        params->type == CUDA_GRAPH_NODE_HOST)
        unwrap_node(&params->host);
    return result;
}

CUresult cuGraphExecNodeSetParams(CUgraphExec graph, CUgraphNode which,
                                  struct cuda_node_params *params)
{
    struct cuda_node_params copy;
    CUresult result = wrap_params(&copy, &params);
    return result ? result
                  : CUDA_CALL(cuGraphExecNodeSetParams, (graph, which, params));
}
