/*
 * Owns: the set of live handles, an open-addressing hash table.  A stale or
 * made-up handle costs a status, never a crash.
 * Does not own: the objects.  Lock: `lock`, rank 4, a leaf.
 */
#include "driver/handle.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct slot {
    const void *handle;
    enum sc_handle_kind kind;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot *slots;
static size_t capacity, used; /* capacity is 0 or a power of two */

static size_t start_of(const void *handle)
{
    uint64_t x = (uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u;
    return (size_t)(x >> 32) & (capacity - 1);
}

static struct slot *find(const void *handle)
{
    size_t i = start_of(handle);
    while (slots[i].handle && slots[i].handle != handle)
        i = (i + 1) & (capacity - 1);
    return &slots[i];
}

static bool grow(void)
{
    struct slot *old = slots;
    size_t old_capacity = capacity;
    size_t wanted = capacity ? capacity * 2 : 256;
    struct slot *fresh = calloc(wanted, sizeof *fresh);
    if (!fresh)
        return false;
    slots = fresh;
    capacity = wanted;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].handle)
            *find(old[i].handle) = old[i];
    free(old);
    return true;
}

bool sc_handle_add(const void *handle, enum sc_handle_kind kind)
{
    pthread_mutex_lock(&lock);
    bool ok = used * 2 < capacity || grow();
    if (ok) {
        *find(handle) = (struct slot){handle, kind};
        used++;
    }
    pthread_mutex_unlock(&lock);
    return ok;
}

void sc_handle_remove(const void *handle)
{
    pthread_mutex_lock(&lock);
    struct slot *hole = capacity ? find(handle) : NULL;
    if (hole && hole->handle) {
        used--;
        /* Close the gap, or later members of the chain would be lost. */
        size_t mask = capacity - 1, i = (size_t)(hole - slots), j = i;
        for (;;) {
            j = (j + 1) & mask;
            if (!slots[j].handle)
                break;
            size_t home = start_of(slots[j].handle);
            if (((j - home) & mask) >= ((j - i) & mask)) {
                slots[i] = slots[j];
                i = j;
            }
        }
        slots[i] = (struct slot){NULL, SC_HANDLE_NONE};
    }
    pthread_mutex_unlock(&lock);
}

enum sc_handle_kind sc_handle_kind(const void *handle)
{
    if (!handle)
        return SC_HANDLE_NONE;
    pthread_mutex_lock(&lock);
    enum sc_handle_kind kind = capacity ? find(handle)->kind : SC_HANDLE_NONE;
    pthread_mutex_unlock(&lock);
    return kind;
}
