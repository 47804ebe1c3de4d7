/*
 * Cases of what lanes do together: a kernel body and a reference per lane.
 *
 * A body finds its input in %s0, its place in the grid in %s1, its thread in
 * %s2 and leaves its result in %s7; %s4-31, %l4-7, %h0-3, %q0-7 and the shared
 * array `sh` are free. No lock.
 */
#ifndef TESTS_OPCODES_LANES_H
#define TESTS_OPCODES_LANES_H

#include <stddef.h>
#include <stdint.h>

enum { LANES_THREADS = 96, LANES_CTAS = 2 };

struct lane {
    uint32_t tid, cta, id; /* id within the warp */
    const uint32_t *warp;  /* inputs of its warp */
    uint32_t in;
};

typedef uint32_t lane_reference(const struct lane *lane);

struct lane_case {
    const char *body;
    lane_reference *reference;
};

/** Input of lane `i` of the grid. */
uint32_t lanes_input(int i);

/**
 * Run every case in a module of its own; a wrong lane fails the test, a case
 * that the loader refuses as unsupported is printed and counted.
 *
 * @head version, target and address size of the modules
 */
void lanes_check(const char *head, const struct lane_case *cases, size_t n);

#define LANES_CHECK(cases)                                                     \
    lanes_check(MACHINE_HEAD, cases, sizeof cases / sizeof *cases)

#endif
