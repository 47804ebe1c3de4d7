/*
 * What the rules of containers.h are written with: boxes, copies, and moves
 * between them that are counted.
 */
#ifndef BENCH_RANGES_CONTAINERS_PARTS_H
#define BENCH_RANGES_CONTAINERS_PARTS_H

#include "containers.h"

/** One device's copy of a box. */
struct copy {
    struct copy *next;
    int device;
    struct container_box box;
    CUdeviceptr address;
    bool valid, modified;
    uint64_t last_used; /* number of the call */
};

struct container {
    struct container *next;
    size_t elem;
    long rows, columns;
    char *main;
    bool pinned, valid; /* valid: of the main copy */
    struct copy *copies;
};

struct containers {
    enum container_rules rules;
    bool peer;
    int devices;
    CUcontext context[CONTAINERS_DEVICES];
    uint64_t call;
    struct container *all;
    struct container_moved moved;
};
extern struct containers containers;

#define CHECK(call) containers_check(call, #call)
void containers_check(CUresult result, const char *call);

bool box_is_empty(struct container_box a);
bool box_same(struct container_box a, struct container_box b);
struct container_box box_overlap(struct container_box a,
                                 struct container_box b);
bool box_meets(struct container_box a, struct container_box b);

/** Whether all of `a` is in `b`. */
bool box_inside(struct container_box a, struct container_box b);

/** What is left of `a` without `b`. Return: number of boxes, at most 4 */
int box_remaining(struct container_box a, struct container_box b,
                  struct container_box rest[4]);

/** Move a box between copies that contain it; NULL: the main copy. */
void move_box(struct container *c, struct copy *to, struct copy *from,
              struct container_box box);

/** The copy of exactly this box. Return: NULL: there is none */
struct copy *copy_find(const struct container *c, int device,
                       struct container_box box);

/** The same, allocated when there is none; `made` says whether. */
struct copy *copy_get(struct container *c, int device, struct container_box box,
                      bool *made);

/** Free a copy; the caller has saved it. */
void copy_remove(struct container *c, struct copy *copy);

/** Copy a modified copy back to the main copy and clear the flag. */
void copy_save(struct container *c, struct copy *copy);

bool any_modified(const struct container *c);

/* Fig. 3 */
void initial_on_cpu(struct container *c, enum container_mode mode);
struct copy *initial_on_device(struct container *c, int device,
                               struct container_box box,
                               enum container_mode mode);

/* Fig. 5 */
void new_on_cpu(struct container *c, struct container_box box,
                enum container_mode mode);
struct copy *new_on_device(struct container *c, int device,
                           struct container_box box, enum container_mode mode);

#endif
