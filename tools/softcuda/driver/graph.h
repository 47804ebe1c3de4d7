/*
 * Graphs: work that is described once and launched as a whole.
 *
 * Lock: sc_graph_lock, between rank 1 (start) and rank 2 (memory), for the
 * structure of all graphs and for captures.
 */
#ifndef SOFTCUDA_DRIVER_GRAPH_H
#define SOFTCUDA_DRIVER_GRAPH_H

#include "driver/launch.h"
#include "driver/sched.h"

/** What one node does. */
struct sc_work {
    CUgraphNodeType type;
    CUcontext ctx; /* in which; checked again at each launch */
    union {
        struct {
            CUfunction f;
            CUkernel kernel; /* NULL unless named by one */
            struct sc_shape shape;
            int priority;
            uint8_t *params; /* packed; owned */
            void **pointers; /* to each of them; owned */
        } kernel;
        CUDA_MEMCPY3D copy;
        CUDA_MEMSET_NODE_PARAMS fill;
        CUDA_HOST_NODE_PARAMS host;
        CUevent event;
        CUgraph child;                  /* owned */
        struct sc_graph_memory *memory; /* that is allocated or freed */
    };
};

struct sc_node_list {
    CUgraphNode *list;
    size_t count, capacity;
};

/** Under sc_graph_lock, as all of this. */
struct CUgraphNode_st {
    CUgraph graph;
    struct sc_work work;
    struct sc_node_list before, behind;
    uint64_t id, origin; /* origin: of the node it was cloned from */
    bool disabled;
    size_t unmet;              /* while sorting: dependencies not placed */
    CUgraphNode twin;          /* while cloning */
    struct sc_op *begin, *end; /* while launching; begin: child graphs only */
    bool marked;               /* while walking */
};

struct CUgraph_st {
    struct sc_node_list nodes; /* in the order they were added */
    CUgraphNode owner;         /* node whose child graph it is, or NULL */
    CUgraphExec exec;          /* whose private copy it is, or NULL */
    bool capturing;            /* streams are adding to it */
    uint64_t id, origin;
};

struct CUgraphExec_st {
    CUgraph graph; /* private copy, its nodes sorted by dependency */
    cuuint64_t flags;
    struct sc_op *last; /* end of its last launch, holds a reference */
};

extern pthread_mutex_t sc_graph_lock;

/** Append to a list. Return: false when memory ran out. */
bool sc_node_list_add(struct sc_node_list *list, CUgraphNode node);

/** Remove a node from a list, if it is there. */
void sc_node_list_remove(struct sc_node_list *list, CUgraphNode node);

bool sc_node_list_has(const struct sc_node_list *list, CUgraphNode node);

/** Free what a piece of work owns. */
void sc_work_fini(struct sc_work *work);

/** Check a piece of work as a launch would.
 *  Return: what the call that describes it returns */
CUresult sc_work_check(const struct sc_work *work);

/** Copy, with all that it owns. Return: false when memory ran out. */
bool sc_work_copy(struct sc_work *to, const struct sc_work *from);

/** Describe a kernel launch; copies the parameters, checks the shape.
 *  @handle CUfunction or CUkernel; @ctx current context */
CUresult sc_work_kernel(struct sc_work *work, CUcontext ctx, CUfunction handle,
                        const struct sc_shape *shape, void **params,
                        void **extra);

/** Make the operation of one node, but child graphs.
 *  Return: CUDA_SUCCESS or why it cannot run any more */
CUresult sc_work_make(const struct sc_work *work, struct sc_op **op);

CUgraph sc_graph_new(void);
void sc_graph_free(CUgraph graph);

/** Is it alive, and open to changes by the program? */
bool sc_graph_is(CUgraph graph);

/**
 * Add a node.
 *
 * @before nodes of the same graph it depends on
 * @work   moved into the node when it succeeds
 * Return: CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY
 * Thread: holds sc_graph_lock
 */
CUresult sc_graph_add(CUgraphNode *out, CUgraph graph,
                      const CUgraphNode *before, size_t count,
                      struct sc_work *work);

/** Add an edge; one that is there already counts as added. */
CUresult sc_graph_connect(CUgraphNode from, CUgraphNode to);

/** Copy a graph with its child graphs. Return: NULL: no memory. */
CUgraph sc_graph_clone(CUgraph graph);

/** Sort nodes so that each comes behind what it depends on, in child graphs
 *  too. Return: false when there is a circle, or memory ran out. */
bool sc_graph_sort(CUgraph graph);

/** Launch an executable graph's copy into a stream. Holds sc_graph_lock. */
CUresult sc_graph_launch(CUgraphExec exec, CUstream stream);

#endif
