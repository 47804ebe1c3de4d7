/* The table of bits; see placeholder.h. */
#include "mm/object/placeholder.h"

#include "base/system.h"

#include <sys/mman.h>

#define BIT_BYTES ((uintptr_t)1 << ADSM_PLACEHOLDER_SHIFT)

struct adsm_placeholder_part *_Atomic
    adsm_placeholders[1 << (ADSM_PLACEHOLDER_BITS - ADSM_PLACEHOLDER_PART)]
    __attribute__((aligned(4096)));
_Atomic bool adsm_placeholder_any;

/* How many ranges were marked. */
static _Atomic uint64_t marks;

static struct adsm_placeholder_part *part_at(uintptr_t at)
{
    return atomic_load(&adsm_placeholders[at >> ADSM_PLACEHOLDER_PART]);
}

/* The part around an address, made where there is none; NULL without memory. */
static struct adsm_placeholder_part *part_for(uintptr_t at)
{
    struct adsm_placeholder_part *none = NULL, *part = part_at(at);
    if (part)
        return part;
    size_t bytes = adsm_system_map_bytes(sizeof *part);
    part = adsm_system_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (part == MAP_FAILED)
        return NULL;
    if (atomic_compare_exchange_strong(
            &adsm_placeholders[at >> ADSM_PLACEHOLDER_PART], &none, part))
        return part;
    adsm_system_munmap(part, bytes);
    return none;
}

/* Read first: an allocation in a marked place costs no more than a load. */
static void set(_Atomic uint64_t *words, size_t bit)
{
    uint64_t mask = UINT64_C(1) << (bit % 64);
    if (!(atomic_load(&words[bit / 64]) & mask))
        atomic_fetch_or(&words[bit / 64], mask);
}

void adsm_placeholder_mark(uintptr_t at, size_t bytes)
{
    uintptr_t end = at + bytes;
    if (bytes == 0 || (end - 1) >> ADSM_PLACEHOLDER_BITS || end < at)
        return;
    /* Before the bits: who clears one that is set by now sees it. */
    atomic_fetch_add(&marks, 1);
    for (uintptr_t c = at & ~(BIT_BYTES - 1); c < end; c += BIT_BYTES) {
        struct adsm_placeholder_part *part = part_for(c);
        if (!part)
            continue;
        if (c < at || end - c < BIT_BYTES)
            set(part->crowded, adsm_placeholder_bit(c));
        set(part->marked, adsm_placeholder_bit(c));
    }
    if (!atomic_load_explicit(&adsm_placeholder_any, memory_order_relaxed))
        atomic_store(&adsm_placeholder_any, true);
}

void adsm_placeholder_mark_variable(uintptr_t at, size_t bytes)
{
    uintptr_t end = at + bytes;
    if (bytes == 0 || (end - 1) >> ADSM_PLACEHOLDER_BITS || end < at)
        return;
    for (uintptr_t c = at & ~(BIT_BYTES - 1); c < end; c += BIT_BYTES) {
        struct adsm_placeholder_part *part = part_at(c);
        if (part)
            set(part->variables, adsm_placeholder_bit(c));
    }
}

bool adsm_placeholder_has_variable(uintptr_t at, size_t bytes)
{
    uintptr_t end = at + bytes;
    bool has = false;
    if ((end - 1) >> ADSM_PLACEHOLDER_BITS)
        return false;
    for (uintptr_t c = at & ~(BIT_BYTES - 1); c < end && !has; c += BIT_BYTES) {
        struct adsm_placeholder_part *part = part_at(c);
        size_t bit = adsm_placeholder_bit(c);
        has = part && atomic_load(&part->variables[bit / 64]) >> bit % 64 & 1;
    }
    return has;
}

uint64_t adsm_placeholder_marks(void)
{
    return atomic_load(&marks);
}

void adsm_placeholder_clear(uintptr_t at, uint64_t asked)
{
    struct adsm_placeholder_part *part =
        at >> ADSM_PLACEHOLDER_BITS ? NULL : part_at(at);
    size_t bit = adsm_placeholder_bit(at);
    uint64_t mask = UINT64_C(1) << (bit % 64);
    if (!part || atomic_load(&part->crowded[bit / 64]) & mask)
        return;
    atomic_fetch_and(&part->marked[bit / 64], ~mask);
    if (atomic_load(&marks) != asked)
        atomic_fetch_or(&part->marked[bit / 64], mask);
}

uintptr_t adsm_placeholder_next(uintptr_t at, uintptr_t end)
{
    uintptr_t all = (uintptr_t)1 << ADSM_PLACEHOLDER_BITS;
    uintptr_t last = end < all ? end : all;
    while (at < last) {
        struct adsm_placeholder_part *part = part_at(at);
        size_t bit = adsm_placeholder_bit(at);
        uint64_t word = part ? atomic_load_explicit(&part->marked[bit / 64],
                                                    memory_order_relaxed) >>
                                   (bit % 64)
                             : 0;
        if (word & 1)
            return at;
        /* To the next bit that is set, the next word, or the next part. */
        uintptr_t bits = !part  ? 64 * ADSM_PLACEHOLDER_WORDS - bit
                         : word ? (uintptr_t)__builtin_ctzll(word)
                                : 64 - bit % 64;
        at = (at & ~(BIT_BYTES - 1)) + bits * BIT_BYTES;
    }
    return end;
}

void adsm_placeholder_expect_fork(void)
{
    (void)adsm_system_madvise((void *)adsm_placeholders,
                              sizeof adsm_placeholders, MADV_WIPEONFORK);
}

void adsm_placeholder_forget(void)
{
    atomic_store_explicit(&adsm_placeholder_any, false, memory_order_relaxed);
}
