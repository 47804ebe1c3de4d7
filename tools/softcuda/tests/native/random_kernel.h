/*
 * Random kernels: PTX text from a seed, with divergence, loops, memory,
 * barriers and mixed types, whose results do not depend on the order in which
 * threads run.
 *
 * Which NaN an operation gives is the machine's business, so no instruction
 * here turns bits of a float into an integer, and floats are stored where the
 * comparison knows them. No state; no lock.
 */
#ifndef TESTS_SOFTCUDA_NATIVE_RANDOM_KERNEL_H
#define TESTS_SOFTCUDA_NATIVE_RANDOM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RANDOM_INPUT = 32 << 10, /* bytes every thread may read */
    RANDOM_OWN = 128,        /* bytes of scratch memory of one thread */
    RANDOM_SUMS = 64,        /* 8-byte cells of atomic operations */
    RANDOM_THREADS = 1024,   /* most of one grid */
};

/** What a kernel may hold. */
enum random_feature {
    RANDOM_SHARED = 1, /* shared memory and barriers */
    RANDOM_ATOMICS = 2,
    RANDOM_WARP = 4, /* shfl, vote, match, redux */
    RANDOM_ALL = 7,
    RANDOM_FLUSH = 8, /* floats are single, and all arithmetic has .ftz */
};

/** One kernel: .entry k(in, out, own, sums, number), all .u64. */
struct random_kernel {
    uint64_t seed;
    uint32_t grid[3], block[3];
    uint32_t threads; /* of the grid */
    bool columns;     /* results: slot after slot, else thread after thread */
    char *ptx;        /* malloc'ed */
};

/** How many values a thread stores at its end. */
size_t random_slots(void);

/** Kind of a slot: s 32 bits, l 64, h 16, p 0 or 1, f float, d double. */
char random_slot_kind(size_t slot);

/** Bytes of all results. */
size_t random_result_bytes(const struct random_kernel *kernel);

/** Bits of one result, unused ones zero. */
uint64_t random_result(const struct random_kernel *kernel, const void *results,
                       size_t slot, uint32_t thread);

/** Fill RANDOM_INPUT bytes of input. */
void random_input(uint64_t seed, void *input);

/**
 * Write a kernel.
 *
 * @features of enum random_feature; the seed decides which of them it has
 * Thread: any
 */
void random_kernel_make(struct random_kernel *kernel, uint64_t seed,
                        unsigned features);

/** One instruction of the menu: text with %0 … %4, and the kinds of these. */
struct random_entry {
    const char *text;  /* statements apart by "; "; scratch %x %xh %xl */
    const char *kinds; /* the first is the destination */
};

/** The menu. Return: how many entries. */
size_t random_menu(const struct random_entry **entries);

/** That of RANDOM_FLUSH: floats alone. */
size_t random_menu_flush(const struct random_entry **entries);

#endif
