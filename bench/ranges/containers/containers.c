/*
 * Containers, their copies in device memory, and which rules are asked. See
 * containers.h and parts.h.
 */
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct containers containers;

void containers_check(CUresult result, const char *call)
{
    const char *name = "unknown error";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", call, name);
    exit(1);
}

void containers_start(int devices)
{
    int there = 0;
    CHECK(cuInit(0));
    CHECK(cuDeviceGetCount(&there));
    if (devices > there || devices > CONTAINERS_DEVICES) {
        fprintf(stderr, "containers: %d devices wanted, %d there\n", devices,
                there);
        exit(1);
    }
    for (int i = containers.devices; i < devices; i++) {
        CUdevice device;
        CHECK(cuDeviceGet(&device, i));
        CHECK(cuDevicePrimaryCtxRetain(&containers.context[i], device));
    }
    containers.devices = devices;
    containers_use(0);
}

void containers_set(enum container_rules rules, bool peer)
{
    containers.rules = rules;
    containers.peer = peer;
    containers.moved = (struct container_moved){0};
}

const struct container_moved *containers_moved(void)
{
    return &containers.moved;
}

void containers_use(int device)
{
    CHECK(cuCtxSetCurrent(containers.context[device]));
}

void containers_wait(void)
{
    for (int i = 0; i < containers.devices; i++) {
        containers_use(i);
        CHECK(cuCtxSynchronize());
    }
}

struct container *container_create(size_t elem, long rows, long columns,
                                   bool pinned)
{
    struct container *c = calloc(1, sizeof *c);
    size_t bytes = elem * (size_t)(rows * columns);
    void *main = NULL;
    if (pinned)
        CHECK(cuMemHostAlloc(&main, bytes, CU_MEMHOSTALLOC_PORTABLE));
    else
        main = malloc(bytes);
    if (!c || !main) {
        fprintf(stderr, "containers: out of memory\n");
        exit(1);
    }
    memset(main, 0, bytes);
    *c = (struct container){
        .next = containers.all,
        .elem = elem,
        .rows = rows,
        .columns = columns,
        .main = main,
        .pinned = pinned,
        .valid = true,
    };
    containers.all = c;
    return c;
}

void container_destroy(struct container *c)
{
    struct container **link = &containers.all;
    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
    while (c->copies)
        copy_remove(c, c->copies);
    if (c->pinned)
        CHECK(cuMemFreeHost(c->main));
    else
        free(c->main);
    free(c);
}

struct container_box container_all(const struct container *c)
{
    return (struct container_box){0, 0, c->rows, c->columns};
}

bool any_modified(const struct container *c)
{
    for (const struct copy *i = c->copies; i; i = i->next)
        if (i->modified)
            return true;
    return false;
}

void copy_save(struct container *c, struct copy *copy)
{
    move_box(c, NULL, copy, copy->box);
    copy->modified = false;
}

void copy_remove(struct container *c, struct copy *copy)
{
    struct copy **link = &c->copies;
    while (*link != copy)
        link = &(*link)->next;
    *link = copy->next;
    containers_use(copy->device);
    CHECK(cuMemFree(copy->address));
    free(copy);
}

struct copy *copy_find(const struct container *c, int device,
                       struct container_box box)
{
    for (struct copy *i = c->copies; i; i = i->next)
        if (i->device == device && box_same(i->box, box))
            return i;
    return NULL;
}

/* Take away the copy on a device that has not been used for longest, never one
 * of the call that wants memory. What was modified is saved, which the paper
 * does not say. */
static bool evict(int device)
{
    struct container *of = NULL;
    struct copy *oldest = NULL;
    for (struct container *c = containers.all; c; c = c->next)
        for (struct copy *i = c->copies; i; i = i->next)
            if (i->device == device && i->last_used < containers.call &&
                (!oldest || i->last_used < oldest->last_used)) {
                of = c;
                oldest = i;
            }
    if (!oldest)
        return false;
    if (oldest->modified)
        copy_save(of, oldest);
    copy_remove(of, oldest);
    if (!any_modified(of))
        of->valid = true;
    containers.moved.evictions++;
    return true;
}

static CUdeviceptr device_memory(int device, size_t bytes)
{
    CUdeviceptr address;
    CUresult result;
    containers_use(device);
    while ((result = cuMemAlloc(&address, bytes)) == CUDA_ERROR_OUT_OF_MEMORY &&
           evict(device))
        containers_use(device);
    containers_check(result, "cuMemAlloc");
    containers.moved.allocated += bytes;
    containers.moved.allocations++;
    return address;
}

struct copy *copy_get(struct container *c, int device, struct container_box box,
                      bool *made)
{
    struct copy *copy = copy_find(c, device, box);
    *made = !copy;
    if (!copy) {
        size_t bytes = c->elem * (size_t)(box.rows * box.columns);
        CUdeviceptr address = device_memory(device, bytes);
        copy = calloc(1, sizeof *copy);
        if (!copy)
            exit(1);
        copy->device = device;
        copy->box = box;
        copy->address = address;
        copy->next = c->copies;
        c->copies = copy;
    }
    copy->last_used = containers.call;
    return copy;
}

static bool calls_are_apart(void)
{
    return containers.rules <= RULES_BACK_AND_FORTH;
}

void containers_call(void)
{
    containers.call++;
}

void *container_on_cpu(struct container *c, struct container_box box,
                       enum container_mode mode)
{
    if (containers.rules == RULES_INITIAL)
        initial_on_cpu(c, mode);
    else if (containers.rules == RULES_NEW)
        new_on_cpu(c, box, mode);
    return c->main;
}

static struct copy *apart_on_device(struct container *c, int device,
                                    struct container_box box,
                                    enum container_mode mode)
{
    bool made;
    struct copy *copy = copy_get(c, device, box, &made);
    if (made && (mode & MODE_READ)) /* once for all operands of a call */
        move_box(c, copy, NULL, box);
    return copy;
}

CUdeviceptr container_on_device(struct container *c, int device,
                                struct container_box box,
                                enum container_mode mode)
{
    struct copy *copy = calls_are_apart()
                            ? apart_on_device(c, device, box, mode)
                        : containers.rules == RULES_INITIAL
                            ? initial_on_device(c, device, box, mode)
                            : new_on_device(c, device, box, mode);
    return copy ? copy->address : 0;
}

void container_used(struct container *c, int device, struct container_box box,
                    enum container_mode mode)
{
    struct copy *copy = copy_find(c, device, box);
    if (!calls_are_apart() || !copy)
        return;
    if ((mode & MODE_WRITE) || containers.rules == RULES_BACK_AND_FORTH)
        move_box(c, NULL, copy, box);
    copy_remove(c, copy);
}

void container_update_host(struct container *c)
{
    for (struct copy *i = c->copies; i; i = i->next)
        if (i->modified)
            copy_save(c, i);
    c->valid = true;
}

void container_flush(struct container *c)
{
    container_update_host(c);
    while (c->copies)
        copy_remove(c, c->copies);
}

void container_invalidate(struct container *c)
{
    for (struct copy *i = c->copies; i; i = i->next)
        i->valid = i->modified = false;
    c->valid = true;
}
