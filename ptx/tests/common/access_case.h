/*
 * What tests of ptx/access.h share: a kernel of parameters out, in (pointers), n
 * (64 bits), i (32 bits) and s, a structure of two pointers, for bodies; and what
 * launches of it touch, as text.
 */
#ifndef PTX_TESTS_ACCESS_CASE_H
#define PTX_TESTS_ACCESS_CASE_H

#include "ptx/access.h"

/** All before a body. The pointers are in %rd1 and %rd2, n in %rd3, i in %r1. */
extern const char access_case_head[];

/** Code before a body: the block's number, its size and the thread's number are
 *  in %r2, %r3, %r4, and the number of the thread in the grid in %r5. */
extern const char access_case_numbered[];

extern const char *const access_case_names[]; /* of parameters */

/** Where the pointers point. */
enum { OUT = 1, IN };
extern const uint64_t access_case_base[];

/** The kernel with that body. */
struct sc_program *access_case_read(const char *body);

/** "w out+0..400 r in*": what is touched, from where to where, in bytes from
 *  where the pointer points; with strides " by ROW,COUNTxSTRIDE...". */
void access_case_tell(const struct sc_reach *reach,
                      const struct sc_touched *touched, char *text);

/** A launch, or a part of one, of a body behind access_case_numbered. */
struct access_part {
    const char *text;
    struct sc_geometry geometry;
    const char *touched;
};

/** Ask twice what it touches, which is found first and then remembered. */
void access_case_check(const struct access_part *part);

#endif
