/*
 * Copies between the program's memory, whatever it is, and private buffers.
 *
 * What is not shared is copied by the kernel, so that memory that is not there
 * ends a copy and not the program. Owns a few buffers that are kept from one
 * call to the next. Lock: none; a buffer belongs to who took it.
 */
#ifndef INTERPOSE_CALLS_COPY_H
#define INTERPOSE_CALLS_COPY_H

#include <stdbool.h>
#include <stddef.h>

/** Most bytes of a range; what one call of read(2) moves (MAX_RW_COUNT). */
static const size_t call_most_bytes = 0x7ffff000;

/** Memory for one range. */
struct call_buffer {
    char *at;
    void *map; /* NULL: not from the system                                 */
    size_t map_bytes;
};

/**
 * Take `bytes` of memory with any content; with an inaccessible page behind
 * them when `guarded`.
 *
 * Return: false: none is to be had
 * Thread: any. Signal: any handler
 */
bool call_buffer_take(struct call_buffer *buffer, size_t bytes, bool guarded);

/** Give it back. errno is kept. Thread: any. Signal: any handler */
void call_buffer_give(struct call_buffer *buffer);

/** The longest prefix of a range that is of one kind. */
struct call_stretch {
    size_t bytes;
    bool shared; /* in one object */
};

/** That of [at, +bytes). Thread: any. Signal: never */
struct call_stretch call_stretch(const void *at, size_t bytes);

/** How many of `bytes` bytes are there, and can be read. Cheap where all lies
 *  in one object. Thread: any. Signal: never */
size_t call_reach(const void *program, size_t bytes);

/**
 * Copy from and to the program's memory; another thread may free it meanwhile.
 * errno is kept.
 *
 * @done  receives how many bytes were copied: less where memory ends
 * Return: ADSM_OK; why the runtime could not get or put the data;
 *         ADSM_E_NOT_SHARED, of a put: memory ends, or cannot be written
 * Thread: any. Signal: never
 */
int call_get(void *to, const void *program, size_t bytes, size_t *done);
int call_put(void *program, const void *from, size_t bytes);

/** As call_put, but only of bytes that differ from `before`, which is what
 *  call_get found there: others may have been written meanwhile. */
int call_put_changes(void *program, const void *from, const void *before,
                     size_t bytes);

#endif
