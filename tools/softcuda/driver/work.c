/*
 * Owns: what the nodes of graphs do: descriptions, checks, operations.
 * Does not own: graphs (graph.c).  Lock: none; callers hold sc_graph_lock
 * where a node's work may change.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/context.h"
#include "driver/device.h"
#include "driver/event.h"
#include "driver/graph_memory.h"
#include "driver/handle.h"

static bool has_memory(const struct sc_work *work)
{
    return work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
           work->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

void sc_work_fini(struct sc_work *work)
{
    if (work->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        free(work->kernel.params);
        free(work->kernel.pointers);
    } else if (work->type == CU_GRAPH_NODE_TYPE_GRAPH && work->child) {
        sc_graph_free(work->child);
    } else if (has_memory(work) && work->memory) {
        sc_graph_memory_drop(work->memory);
    }
    *work = (struct sc_work){.type = CU_GRAPH_NODE_TYPE_EMPTY};
}

/* Room for packed parameters and a pointer to each. */
static bool add_params(struct sc_work *work, const struct CUfunc_st *f)
{
    work->kernel.params = calloc(1, f->info->param_bytes + 1);
    work->kernel.pointers =
        calloc(f->info->param_count + 1, sizeof *work->kernel.pointers);
    if (!work->kernel.params || !work->kernel.pointers)
        return false;
    for (uint32_t i = 0; i < f->info->param_count; i++)
        work->kernel.pointers[i] = work->kernel.params + f->params[i].offset;
    return true;
}

bool sc_work_copy(struct sc_work *to, const struct sc_work *from)
{
    *to = *from;
    if (has_memory(from))
        sc_graph_memory_keep(from->memory);
    if (from->type == CU_GRAPH_NODE_TYPE_GRAPH) {
        to->child = sc_graph_clone(from->child);
        return to->child != NULL;
    }
    if (from->type != CU_GRAPH_NODE_TYPE_KERNEL)
        return true;
    to->kernel.params = NULL;
    to->kernel.pointers = NULL;
    if (sc_handle_is(from->kernel.f, SC_HANDLE_FUNCTION) &&
        add_params(to, from->kernel.f)) {
        memcpy(to->kernel.params, from->kernel.params,
               from->kernel.f->info->param_bytes);
        return true;
    }
    sc_work_fini(to);
    return false;
}

CUresult sc_work_kernel(struct sc_work *work, CUcontext ctx, CUfunction handle,
                        const struct sc_shape *shape, void **params,
                        void **extra)
{
    CUfunction f;
    SC_TRY(sc_function_resolve(handle, ctx, &f));
    SC_TRY(sc_launch_check(shape, f));
    *work = (struct sc_work){.type = CU_GRAPH_NODE_TYPE_KERNEL,
                             .ctx = f->module->ctx};
    work->kernel.f = f;
    work->kernel.shape = *shape;
    if (sc_handle_is(handle, SC_HANDLE_KERNEL))
        work->kernel.kernel = (CUkernel)(void *)handle;
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (add_params(work, f))
        result = sc_launch_pack(work->kernel.params, f, params, extra);
    if (result != CUDA_SUCCESS)
        sc_work_fini(work);
    return result;
}

static CUresult make_kernel(const struct sc_work *work, struct sc_op **op)
{
    CUfunction f = work->kernel.f;
    uint8_t *params;
    if (!sc_handle_is(f, SC_HANDLE_FUNCTION) || f->module->ctx != work->ctx)
        return CUDA_ERROR_INVALID_HANDLE;
    SC_TRY(sc_launch_check(&work->kernel.shape, f));
    *op = sc_launch_make(work->ctx, f, &work->kernel.shape, &params);
    if (!*op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(params, work->kernel.params, f->info->param_bytes);
    return CUDA_SUCCESS;
}

static CUresult make_plain(enum sc_op_kind kind, const struct sc_work *work,
                           struct sc_op **op)
{
    *op = sc_op_new(kind, work->ctx->device, work->ctx);
    if (*op && kind == SC_OP_HOST)
        (*op)->host = (struct sc_op_host){.function = work->host.fn,
                                          .data = work->host.userData};
    return *op ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sc_work_make(const struct sc_work *work, struct sc_op **op)
{
    struct sc_copy copy;
    *op = NULL;
    if (!sc_handle_is(work->ctx, SC_HANDLE_CONTEXT))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    switch (work->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return make_kernel(work, op);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        SC_TRY(sc_copy_shape(&work->copy, &copy));
        return sc_copy_bytes(&copy) ? sc_copy_make(&copy, work->ctx, op)
                                    : make_plain(SC_OP_MARK, work, op);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return sc_fill_make(&work->fill, work->ctx, op, NULL);
    case CU_GRAPH_NODE_TYPE_HOST:
        return make_plain(SC_OP_HOST, work, op);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        if (!sc_handle_is(work->event, SC_HANDLE_EVENT))
            return CUDA_ERROR_INVALID_HANDLE;
        return make_plain(SC_OP_MARK, work, op);
    default:
        return make_plain(SC_OP_MARK, work, op);
    }
}

CUresult sc_work_check(const struct sc_work *work)
{
    struct sc_op *op;
    if (work->type == CU_GRAPH_NODE_TYPE_HOST && !work->host.fn)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(sc_work_make(work, &op));
    sc_op_drop(op);
    return CUDA_SUCCESS;
}
