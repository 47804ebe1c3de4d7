/*
 * SOFTCUDA_KEEP: generated C and reasons of refusal, for people.
 *
 * Lock: none.
 */
#ifndef SOFTCUDA_NATIVE_BUILD_KEEP_H
#define SOFTCUDA_NATIVE_BUILD_KEEP_H

#include "native/build_options.h"

/** Where files of one kernel and block go, without an ending; "" = nowhere. */
struct sc_build_keep {
    char path[SC_BUILD_PATH];
};

/** Settle the name; characters that file names should not have become '_'. */
void sc_build_keep_name(struct sc_build_keep *keep,
                        const struct sc_build_options *options,
                        const char *kernel, const uint32_t block[3]);

/** The path without ending, NULL when nothing is kept. */
const char *sc_build_keep_path(const struct sc_build_keep *keep);

/**
 * Write what there is: `text` to .c, `why` to .why; either may be NULL.
 * A folder that cannot be written is said once.
 *
 * Thread: any
 * Signal: never
 */
void sc_build_keep_write(const struct sc_build_keep *keep, const char *text,
                         const char *why);

#endif
