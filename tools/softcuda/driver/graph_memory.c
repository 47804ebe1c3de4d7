/*
 * Owns: memory that nodes of graphs allocate: one address for as long as a
 * node names it, held from the node's making on, so that what is captured
 * next can use the address.
 * Does not own: blocks (alloc.c), nodes (graph.c).
 * Lock: sc_graph_lock; `count` is also read without it.
 */
#include "driver/graph_memory.h"

#include <stdlib.h>
#include <string.h>

#include "driver/context.h"
#include "driver/device.h"
#include "driver/memory.h"
#include "driver/pool.h"

struct sc_graph_memory {
    struct sc_graph_memory *next;
    CUDA_MEM_ALLOC_NODE_PARAMS params; /* the access list is owned */
    struct sc_device *device;
    uint64_t id;        /* of its block */
    unsigned refs;      /* nodes, and one while it is allocated */
    bool allocated;     /* a launch passed its node, nothing has freed it */
    bool soon;          /* the same behind the launch that is looked at */
    struct sc_op *last; /* end of the last launch with it; holds a reference */
};

static struct sc_graph_memory *all;
static _Atomic size_t count;
static struct {
    uint64_t now, most;
} held[SC_MAX_DEVICES];

static struct sc_graph_memory *find(uint64_t address)
{
    struct sc_graph_memory *m = all;
    while (m && m->params.dptr != address)
        m = m->next;
    return m;
}

static void forget(struct sc_graph_memory *m)
{
    struct sc_graph_memory **p = &all;
    while (*p != m)
        p = &(*p)->next;
    *p = m->next;
    atomic_fetch_sub(&count, 1);
    held[m->device->ordinal].now -= m->params.bytesize;
    if (m->last)
        sc_op_drop(m->last);
    free((void *)m->params.accessDescs);
    free(m);
}

void sc_graph_memory_drop(struct sc_graph_memory *m)
{
    if (--m->refs > 0)
        return;
    sc_pool_free_after(m->last, m->device, m->params.dptr, m->id);
    forget(m);
}

void sc_graph_memory_keep(struct sc_graph_memory *m)
{
    m->refs++;
}

static CUresult check(const CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    if (!p || p->bytesize == 0 || (p->accessDescCount && !p->accessDescs))
        return CUDA_ERROR_INVALID_VALUE;
    if (p->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        p->poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
        p->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        sc_say("nodes of graphs allocate device memory only, and none that is "
               "shared with other processes");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return sc_device_get(p->poolProps.location.id) ? CUDA_SUCCESS
                                                   : CUDA_ERROR_INVALID_DEVICE;
}

static struct sc_graph_memory *describe(const CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    struct sc_graph_memory *m = calloc(1, sizeof *m);
    size_t bytes = p->accessDescCount * sizeof *p->accessDescs;
    CUmemAccessDesc *access = malloc(bytes + 1);
    if (!m || !access) {
        free(m);
        free(access);
        return NULL;
    }
    if (bytes)
        memcpy(access, p->accessDescs, bytes);
    m->params = *p;
    m->params.accessDescs = access;
    m->device = sc_device_get(p->poolProps.location.id);
    m->refs = 1;
    return m;
}

/* A block for it, which peers may use as the node says. */
static CUresult place(struct sc_graph_memory *m, CUcontext ctx)
{
    struct sc_block block;
    uint64_t address;
    uint32_t peers = 0;
    for (size_t i = 0; i < m->params.accessDescCount; i++)
        SC_TRY(sc_pool_access(m->device, &m->params.accessDescs[i], &peers));
    SC_TRY(sc_alloc_on(ctx, m->device, m->params.bytesize, &address));
    if (!sc_memory_lookup(address, &block))
        return CUDA_ERROR_UNKNOWN;
    m->params.dptr = address;
    m->id = block.id;
    return CUDA_SUCCESS;
}

CUresult sc_graph_memory_new(struct sc_work *work,
                             CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(check(params));
    struct sc_graph_memory *m = describe(params);
    CUresult result = m ? place(m, ctx) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) {
        if (m)
            free((void *)m->params.accessDescs);
        free(m);
        return result;
    }
    pthread_mutex_lock(&sc_graph_lock);
    m->next = all;
    all = m;
    atomic_fetch_add(&count, 1);
    uint64_t now = held[m->device->ordinal].now += params->bytesize;
    if (held[m->device->ordinal].most < now)
        held[m->device->ordinal].most = now;
    pthread_mutex_unlock(&sc_graph_lock);
    params->dptr = m->params.dptr;
    *work = (struct sc_work){
        .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .ctx = ctx, .memory = m};
    return CUDA_SUCCESS;
}

CUresult sc_graph_memory_free_node(struct sc_work *work, CUdeviceptr address)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    pthread_mutex_lock(&sc_graph_lock);
    struct sc_graph_memory *m = find(address);
    if (m)
        m->refs++;
    pthread_mutex_unlock(&sc_graph_lock);
    *work = (struct sc_work){
        .type = CU_GRAPH_NODE_TYPE_MEM_FREE, .ctx = ctx, .memory = m};
    return m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

const CUDA_MEM_ALLOC_NODE_PARAMS *
sc_graph_memory_params(const struct sc_graph_memory *m)
{
    return &m->params;
}

struct sc_graph_memory *sc_graph_memory_of(CUgraphNode node)
{
    return node->work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
                   node->work.type == CU_GRAPH_NODE_TYPE_MEM_FREE
               ? node->work.memory
               : NULL;
}

/* Call `act` for each node with memory, in order; stops when it says false. */
static bool for_each(CUgraph graph, bool (*act)(CUgraphNode, void *),
                     void *data)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode node = graph->nodes.list[i];
        if (node->work.type == CU_GRAPH_NODE_TYPE_GRAPH &&
            !for_each(node->work.child, act, data))
            return false;
        if (sc_graph_memory_of(node) && !act(node, data))
            return false;
    }
    return true;
}

static bool start(CUgraphNode node, void *unused)
{
    (void)unused;
    node->work.memory->soon = node->work.memory->allocated;
    return true;
}

static bool pass(CUgraphNode node, void *auto_free)
{
    struct sc_graph_memory *m = node->work.memory;
    bool alloc = node->work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    bool ok = alloc ? !m->soon || *(bool *)auto_free : m->soon;
    m->soon = alloc;
    return ok;
}

bool sc_graph_memory_can_launch(CUgraph graph, bool auto_free)
{
    return for_each(graph, start, NULL) && for_each(graph, pass, &auto_free);
}

static bool settle(CUgraphNode node, void *data)
{
    struct sc_graph_memory *m = node->work.memory;
    struct sc_op *end = data;
    pthread_mutex_lock(&sc_sched_lock);
    if (m->last)
        sc_op_drop_locked(m->last);
    m->last = end;
    end->refs++;
    pthread_mutex_unlock(&sc_sched_lock);
    if (m->soon == m->allocated)
        return true;
    m->allocated = m->soon;
    if (m->allocated)
        m->refs++;
    else
        sc_graph_memory_drop(m);
    return true;
}

void sc_graph_memory_launched(CUgraph graph, struct sc_op *end)
{
    for_each(graph, settle, end);
}

static void drop_in_turn(void *memory)
{
    pthread_mutex_lock(&sc_graph_lock);
    sc_graph_memory_drop(memory);
    pthread_mutex_unlock(&sc_graph_lock);
}

bool sc_graph_memory_free(CUcontext ctx, CUstream stream, uint64_t address,
                          CUresult *result)
{
    if (atomic_load(&count) == 0)
        return false;
    struct sc_op *op = stream ? sc_op_new(SC_OP_HOST, ctx->device, ctx) : NULL;
    pthread_mutex_lock(&sc_graph_lock);
    struct sc_graph_memory *m = find(address);
    bool ok = m && m->allocated && (op || !stream);
    if (ok)
        m->allocated = false; /* its reference goes below */
    pthread_mutex_unlock(&sc_graph_lock);
    *result = ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (ok && stream) {
        op->host = (struct sc_op_host){.function = drop_in_turn, .data = m};
        sc_op_submit(op, stream);
    } else if (ok) {
        sc_device_drain(m->device);
        drop_in_turn(m);
    } else if (op) {
        sc_op_drop(op);
    }
    return m != NULL;
}

static CUresult find_device(CUdevice ordinal)
{
    SC_TRY(sc_enter());
    return sc_device_get(ordinal) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/* Nothing is kept that no node names. */
SC_API cuDeviceGraphMemTrim(CUdevice device)
{
    return find_device(device);
}

SC_API cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
                                    void *value)
{
    SC_TRY(find_device(device));
    if (!value || (unsigned)attr > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        return CUDA_ERROR_INVALID_VALUE;
    bool high = attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH ||
                attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    pthread_mutex_lock(&sc_graph_lock);
    *(uint64_t *)value = high ? held[device].most : held[device].now;
    pthread_mutex_unlock(&sc_graph_lock);
    return CUDA_SUCCESS;
}

/* Only the two high-water marks can be set, and only to zero. */
SC_API cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
                                    void *value)
{
    SC_TRY(find_device(device));
    if (!value || *(uint64_t *)value != 0 ||
        (attr != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH &&
         attr != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_graph_lock);
    held[device].most = held[device].now;
    pthread_mutex_unlock(&sc_graph_lock);
    return CUDA_SUCCESS;
}
