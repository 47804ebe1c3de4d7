/*
 * Objects of which work waits at the host: tasks that are not begun yet
 * (call/queue.h) and are to read or write bytes of them.
 *
 * A task is entered, then the blocks that it uses are closed. So an access of the
 * CPU that has to come behind it faults, and waits here until the task is begun;
 * from there on it is known to holders and fences like any other. Who opens
 * blocks beside those that he was asked for leaves such objects alone.
 *
 * No lock. Thread: any. Signal: as said
 */
#ifndef ADSM_MM_AWAITED_H
#define ADSM_MM_AWAITED_H

#include "mm/object/object.h"

/** How many tasks wait, of all objects. */
extern _Atomic uint32_t adsm_awaited_tasks;

/** Who is asked of tasks that are not begun. */
struct adsm_awaited_ops {
    /* Is an access to bytes of the object to come behind one? Signal: fault
     * path, with the object's lock held */
    bool (*meets)(const struct adsm_object *object, size_t offset, size_t bytes,
                  bool writes);
    /* Waits until it is not; `object` NULL: until none is left of those that
     * there are. Signal: fault path, without locks */
    void (*await)(const struct adsm_object *object, size_t offset, size_t bytes,
                  bool writes);
};
void adsm_awaited_set(const struct adsm_awaited_ops *ops);

void adsm_awaited_wait(const void *address, size_t bytes, bool writes);

/** Before work that may use any object. Thread: any; holds no lock and no gate.
 *  Signal: never */
void adsm_await_all_tasks(void);

/** Is an access to a block to come behind a task? Asked by who opens it, when
 *  nobody can close it any more; else he would open what a task has closed since
 *  he had waited. Signal: fault path, with the object's lock held */
bool adsm_block_is_awaited(const struct adsm_object *object, uint32_t i,
                           bool writes);

/** Does any task wait for bytes of the object? Signal: any handler */
static inline bool adsm_object_is_awaited(const struct adsm_object *object)
{
    return atomic_load_explicit(&object->awaited, memory_order_relaxed) != 0;
}

/**
 * Before an access of the CPU, which comes behind those that wait: of the whole
 * blocks in which the bytes lie.
 *
 * @bytes  SIZE_MAX: to the object's end
 * Thread: any; holds no lock and no gate. Signal: fault path
 */
static inline void adsm_await_tasks(const void *address, size_t bytes,
                                    bool writes)
{
    if (atomic_load_explicit(&adsm_awaited_tasks, memory_order_acquire) > 0)
        adsm_awaited_wait(address, bytes, writes);
}

#endif
