/*
 * What the environment says about native code.
 *
 * Owns: SOFTCUDA_NATIVE, _CC, _ISA, _CACHE, _CACHE_MAX, _KEEP, _LATER.
 * Lock: none; read once, before threads start, and fixed afterwards.
 */
#ifndef SOFTCUDA_NATIVE_BUILD_OPTIONS_H
#define SOFTCUDA_NATIVE_BUILD_OPTIONS_H

#include "native/build_child.h"
#include "native/native.h"

enum sc_build_mode {
    SC_BUILD_OFF,  /* interpreter only */
    SC_BUILD_ON,   /* kernels that take time, in the background */
    SC_BUILD_WAIT, /* every kernel, and its launch waits for it */
};

/* room for a folder, and for the path of a file in it */
#define SC_BUILD_FOLDER 512
#define SC_BUILD_PATH   1024

struct sc_build_options {
    enum sc_build_mode mode;
    enum sc_native_isa isa;
    bool isa_is_native;            /* the best this machine has */
    char cc[SC_BUILD_PATH];        /* command, words between blanks */
    char cache[SC_BUILD_FOLDER];   /* folder; "" = nowhere to put one */
    char keep[SC_BUILD_FOLDER];    /* folder; "" = keep nothing */
    uint64_t cache_max;            /* bytes */
    bool later;                    /* compile on when the program has ended */
    struct sc_build_limits limits; /* of one run of the compiler */
};

/**
 * Read the environment; wrong values are said on stderr and replaced.
 *
 * Thread: one, before others read the environment
 * Signal: never
 */
void sc_build_options_read(struct sc_build_options *options);

#endif
