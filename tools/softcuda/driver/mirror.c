/*
 * Owns: mirrors, and the thread that keeps them up to date.
 * Does not own: registered ranges and the host file (pinned.c).
 * Lock: sc_mirror_lock, see mirror.h; `count` is also read without it.
 *
 * Both sides may be written to while bytes move, so words are compared with
 * what they were, and only bytes that have changed are stored, in one piece.
 */
#include "driver/mirror.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "driver/channel.h"
#include "driver/device.h"
#include "driver/engine.h"
#include "driver/view.h"

/* Hardware reads a buffer whatever sanitizers think of it. */
#define BARE __attribute__((no_sanitize("thread", "address", "undefined")))

#define WORD        8u
#define LINE        64u
#define STACK_BYTES (256u << 10)
#define LOWEST_BITS 0x0101010101010101u

struct mirror {
    struct mirror *next;
    uint64_t program, shadow, bytes;
    uint64_t *known; /* what both sides had, from the first whole word on */
    uint64_t known_bytes;
};

pthread_mutex_t sc_mirror_lock = PTHREAD_MUTEX_INITIALIZER;

static struct mirror *mirrors;
static _Atomic unsigned count;
static struct sc_engine engine = {.wake = PTHREAD_COND_INITIALIZER};

bool sc_mirror_add(uint64_t program, uint64_t shadow, uint64_t bytes)
{
    pthread_mutex_lock(&sc_sched_lock);
    bool runs = sc_engine_start(&engine, STACK_BYTES);
    pthread_mutex_unlock(&sc_sched_lock);
    struct mirror *m = runs ? malloc(sizeof *m) : NULL;
    if (!m)
        return false;
    *m = (struct mirror){mirrors, program, shadow, bytes, NULL, 0};
    m->known_bytes = program % WORD + bytes + WORD;
    /* zeros, as the shadow is */
    void *known = mmap(NULL, m->known_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (known == MAP_FAILED) {
        free(m);
        return false;
    }
    m->known = known;
    mirrors = m;
    atomic_fetch_add(&count, 1);
    return true;
}

void sc_mirror_remove(uint64_t program)
{
    for (struct mirror **p = &mirrors; *p; p = &(*p)->next) {
        struct mirror *m = *p;
        if (m->program != program)
            continue;
        *p = m->next;
        munmap(m->known, m->known_bytes);
        free(m);
        atomic_fetch_sub(&count, 1);
        return;
    }
}

BARE static inline uint64_t load(uint64_t address)
{
    return __atomic_load_n((uint64_t *)(uintptr_t)address, __ATOMIC_RELAXED);
}

/* Store the bytes of `mask`; others of the word may change meanwhile. */
BARE static inline void store(uint64_t address, uint64_t value, uint64_t mask)
{
    uint64_t *at = (uint64_t *)(uintptr_t)address;
    uint64_t old = load(address);
    if (mask == UINT64_MAX) {
        __atomic_store_n(at, value, __ATOMIC_RELAXED);
        return;
    }
    while (!__atomic_compare_exchange_n(at, &old,
                                        (old & ~mask) | (value & mask), false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

/* The bytes in which two words differ, as a mask. */
BARE static inline uint64_t differing(uint64_t a, uint64_t b)
{
    uint64_t x = a ^ b;
    x |= x >> 4;
    x |= x >> 2;
    x |= x >> 1;
    return (x & LOWEST_BITS) * 0xff;
}

/* Bytes of the word at `word` that belong to the range, as a mask. */
BARE static uint64_t inside(uint64_t word, uint64_t begin, uint64_t end)
{
    uint64_t mask = UINT64_MAX;
    if (word < begin)
        mask &= UINT64_MAX << 8 * (begin - word);
    if (word + WORD > end)
        mask &= UINT64_MAX >> 8 * (word + WORD - end);
    return mask;
}

BARE static bool is_same(uint64_t from, const uint64_t *known)
{
    uint64_t differ = 0;
    for (unsigned i = 0; i < LINE / WORD; i++)
        differ |= load(from + i * WORD) ^ known[i];
    return differ == 0;
}

/* What has changed at `from` goes to `to`. */
BARE static void pass(const struct mirror *m, uint64_t from, uint64_t to)
{
    uint64_t begin = from, end = from + m->bytes;
    uint64_t *known = m->known;
    uint64_t word = from & ~(uint64_t)(WORD - 1);
    uint64_t there = to - from; /* the same place of a page, so of a word */
    for (; word < end; word += WORD, known++) {
        while (word >= begin && end - word > LINE && is_same(word, known)) {
            word += LINE;
            known += LINE / WORD;
        }
        uint64_t now = load(word);
        uint64_t mask = differing(now, *known) & inside(word, begin, end);
        if (!mask)
            continue;
        store(word + there, now, mask);
        *known = (*known & ~mask) | (now & mask);
    }
}

/* A range that the program has unmapped or protected meanwhile is left. */
static void refresh(bool after)
{
    pthread_mutex_lock(&sc_mirror_lock);
    for (const struct mirror *m = mirrors; m; m = m->next) {
        if (!after && sc_view_can_read(m->program, m->bytes))
            pass(m, m->program, m->shadow);
        if (after && sc_view_can_write(m->program, m->bytes))
            pass(m, m->shadow, m->program);
    }
    pthread_mutex_unlock(&sc_mirror_lock);
}

bool sc_mirror_concerns(const struct sc_op *op)
{
    uint32_t type = op->compute.command->type;
    return atomic_load_explicit(&count, memory_order_relaxed) &&
           (type == SC_COMMAND_LAUNCH || type == SC_COMMAND_FILL);
}

void sc_mirror_begin(struct sc_op *op)
{
    op->compute.mirror = SC_MIRROR_BEFORE;
    sc_engine_push(&engine, op);
}

void sc_mirror_end(struct sc_op *op, CUresult result)
{
    op->compute.mirror = SC_MIRROR_AFTER;
    op->result = result;
    sc_engine_push(&engine, op);
}

void sc_mirror_step(struct sc_op *op)
{
    bool after = op->compute.mirror == SC_MIRROR_AFTER;
    refresh(after);
    pthread_mutex_lock(&sc_sched_lock);
    if (after)
        sc_op_complete(op, op->result, op->compute.answer.end_ns);
    else if (op->device->dead)
        sc_op_complete(op, CUDA_ERROR_DEVICE_UNAVAILABLE, op->end_ns);
    else
        sc_channel_push(op->device, op);
    pthread_mutex_unlock(&sc_sched_lock);
}
