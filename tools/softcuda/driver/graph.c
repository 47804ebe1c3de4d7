/*
 * Owns: the structure of graphs: nodes, edges, copies, order.
 * Does not own: what nodes do (work.c), entry points (api_graph.c, ...).
 * Lock: sc_graph_lock.
 */
#include "driver/graph.h"

#include <stdlib.h>
#include <string.h>

#include "driver/handle.h"

pthread_mutex_t sc_graph_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t last_id;

bool sc_node_list_add(struct sc_node_list *list, CUgraphNode node)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 4;
        CUgraphNode *grown =
            realloc(list->list, capacity * sizeof(*list->list));
        if (!grown)
            return false;
        list->list = grown;
        list->capacity = capacity;
    }
    list->list[list->count++] = node;
    return true;
}

static size_t find(const struct sc_node_list *list, CUgraphNode node)
{
    size_t i = 0;
    while (i < list->count && list->list[i] != node)
        i++;
    return i;
}

void sc_node_list_remove(struct sc_node_list *list, CUgraphNode node)
{
    size_t i = find(list, node);
    if (i == list->count)
        return;
    list->count--;
    memmove(list->list + i, list->list + i + 1,
            (list->count - i) * sizeof(*list->list));
}

bool sc_node_list_has(const struct sc_node_list *list, CUgraphNode node)
{
    return find(list, node) < list->count;
}

CUgraph sc_graph_new(void)
{
    CUgraph graph = calloc(1, sizeof *graph);
    if (graph && !sc_handle_add(graph, SC_HANDLE_GRAPH)) {
        free(graph);
        return NULL;
    }
    if (graph)
        graph->id = ++last_id;
    return graph;
}

static void free_node(CUgraphNode node)
{
    sc_handle_remove(node);
    sc_work_fini(&node->work);
    free(node->before.list);
    free(node->behind.list);
    free(node);
}

void sc_graph_free(CUgraph graph)
{
    sc_handle_remove(graph);
    for (size_t i = 0; i < graph->nodes.count; i++)
        free_node(graph->nodes.list[i]);
    free(graph->nodes.list);
    free(graph);
}

bool sc_graph_is(CUgraph graph)
{
    return sc_handle_is(graph, SC_HANDLE_GRAPH) && !graph->exec;
}

CUresult sc_graph_connect(CUgraphNode from, CUgraphNode to)
{
    if (sc_node_list_has(&to->before, from))
        return CUDA_SUCCESS;
    if (!sc_node_list_add(&to->before, from))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!sc_node_list_add(&from->behind, to)) {
        to->before.count--;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

static void disconnect(CUgraphNode node)
{
    for (size_t i = 0; i < node->before.count; i++)
        sc_node_list_remove(&node->before.list[i]->behind, node);
    for (size_t i = 0; i < node->behind.count; i++)
        sc_node_list_remove(&node->behind.list[i]->before, node);
}

static CUgraphNode new_node(CUgraph graph)
{
    CUgraphNode node = calloc(1, sizeof *node);
    if (!node)
        return NULL;
    node->graph = graph;
    node->work.type = CU_GRAPH_NODE_TYPE_EMPTY;
    node->id = ++last_id;
    if (!sc_handle_add(node, SC_HANDLE_NODE)) {
        free(node);
        return NULL;
    }
    if (!sc_node_list_add(&graph->nodes, node)) {
        free_node(node);
        return NULL;
    }
    return node;
}

CUresult sc_graph_add(CUgraphNode *out, CUgraph graph,
                      const CUgraphNode *before, size_t count,
                      struct sc_work *work)
{
    if (count && !before)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!sc_handle_is(before[i], SC_HANDLE_NODE) ||
            before[i]->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
    CUgraphNode node = new_node(graph);
    CUresult result = node ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; result == CUDA_SUCCESS && i < count; i++)
        result = sc_graph_connect(before[i], node);
    if (result != CUDA_SUCCESS) {
        if (node) {
            disconnect(node);
            graph->nodes.count--;
            free_node(node);
        }
        return result;
    }
    node->work = *work;
    if (work->type == CU_GRAPH_NODE_TYPE_GRAPH)
        work->child->owner = node;
    *work = (struct sc_work){.type = CU_GRAPH_NODE_TYPE_EMPTY};
    *out = node;
    return CUDA_SUCCESS;
}

static bool clone_nodes(CUgraph copy, CUgraph graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode from = graph->nodes.list[i], to = new_node(copy);
        if (!to || !sc_work_copy(&to->work, &from->work))
            return false;
        if (to->work.type == CU_GRAPH_NODE_TYPE_GRAPH)
            to->work.child->owner = to;
        to->origin = from->id;
        to->disabled = from->disabled;
        from->twin = to;
    }
    return true;
}

static bool clone_edges(CUgraph graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode from = graph->nodes.list[i];
        for (size_t k = 0; k < from->before.count; k++)
            if (sc_graph_connect(from->before.list[k]->twin, from->twin))
                return false;
    }
    return true;
}

CUgraph sc_graph_clone(CUgraph graph)
{
    CUgraph copy = sc_graph_new();
    if (!copy)
        return NULL;
    copy->origin = graph->id;
    if (!clone_nodes(copy, graph) || !clone_edges(graph)) {
        sc_graph_free(copy);
        return NULL;
    }
    return copy;
}

bool sc_graph_sort(CUgraph graph)
{
    struct sc_node_list order = {0};
    size_t count = graph->nodes.count;
    order.list = malloc((count + 1) * sizeof(*order.list));
    if (!order.list)
        return false;
    order.capacity = count + 1;
    for (size_t i = 0; i < count; i++) {
        CUgraphNode node = graph->nodes.list[i];
        node->unmet = node->before.count;
        if (node->unmet == 0)
            order.list[order.count++] = node;
        if (node->work.type == CU_GRAPH_NODE_TYPE_GRAPH &&
            !sc_graph_sort(node->work.child))
            order.capacity = 0;
    }
    for (size_t i = 0; i < order.count; i++) {
        const struct sc_node_list *behind = &order.list[i]->behind;
        for (size_t k = 0; k < behind->count; k++)
            if (--behind->list[k]->unmet == 0)
                order.list[order.count++] = behind->list[k];
    }
    if (order.count < count || order.capacity == 0) {
        free(order.list);
        return false;
    }
    free(graph->nodes.list);
    graph->nodes = order;
    return true;
}

SC_API cuGraphDestroyNode(CUgraphNode hNode)
{
    SC_TRY(sc_enter());
    pthread_mutex_lock(&sc_graph_lock);
    bool ok = sc_handle_is(hNode, SC_HANDLE_NODE) && !hNode->graph->exec;
    if (ok) {
        disconnect(hNode);
        sc_node_list_remove(&hNode->graph->nodes, hNode);
        free_node(hNode);
    }
    pthread_mutex_unlock(&sc_graph_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    SC_TRY(sc_enter());
    if (!phGraph || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_graph_lock);
    *phGraph = sc_graph_new();
    pthread_mutex_unlock(&sc_graph_lock);
    return *phGraph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SC_API cuGraphDestroy(CUgraph hGraph)
{
    SC_TRY(sc_enter());
    pthread_mutex_lock(&sc_graph_lock);
    bool ok = sc_graph_is(hGraph) && !hGraph->owner && !hGraph->capturing;
    if (ok)
        sc_graph_free(hGraph);
    pthread_mutex_unlock(&sc_graph_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    SC_TRY(sc_enter());
    if (!phGraphClone)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_graph_lock);
    if (sc_graph_is(originalGraph)) {
        *phGraphClone = sc_graph_clone(originalGraph);
        result = *phGraphClone ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_unlock(&sc_graph_lock);
    return result;
}
