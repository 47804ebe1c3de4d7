/*
 * Which handles the program holds are alive, and of which kind.
 */
#ifndef SOFTCUDA_DRIVER_HANDLE_H
#define SOFTCUDA_DRIVER_HANDLE_H

#include <stdbool.h>

enum sc_handle_kind {
    SC_HANDLE_NONE,
    SC_HANDLE_CONTEXT,
    SC_HANDLE_STREAM,
    SC_HANDLE_EVENT,
    SC_HANDLE_MODULE,
    SC_HANDLE_FUNCTION,
    SC_HANDLE_LIBRARY,
    SC_HANDLE_KERNEL,
    SC_HANDLE_PHYSICAL,
    SC_HANDLE_POOL,
    SC_HANDLE_ARRAY,
    SC_HANDLE_MIPMAP,
    SC_HANDLE_TEXREF,
    SC_HANDLE_SURFREF,
    SC_HANDLE_GRAPH,
    SC_HANDLE_NODE,
    SC_HANDLE_GRAPH_EXEC,
    SC_HANDLE_USER_OBJECT,
    SC_HANDLE_LINK
};

/** Note a new handle. Return: false when memory ran out. Thread: any. */
bool sc_handle_add(const void *handle, enum sc_handle_kind kind);

/** Forget a handle. Thread: any. */
void sc_handle_remove(const void *handle);

/** Kind of a pointer that may be anything, SC_HANDLE_NONE if not alive. */
enum sc_handle_kind sc_handle_kind(const void *handle);

/** Is it alive and of that kind?  Thread: any. */
static inline bool sc_handle_is(const void *handle, enum sc_handle_kind kind)
{
    return sc_handle_kind(handle) == kind;
}

#endif
