/*
 * The hooked symbols, as the look-ups of the driver are answered from them.
 */
#ifndef INTERPOSE_HOOKS_LIST_H
#define INTERPOSE_HOOKS_LIST_H

#include <stddef.h>

/** One hooked symbol. */
struct adsm_hook {
    const char *name;   /* as exported by libc or the driver            */
    const char *family; /* "loader", "libc" or "cuda"                    */
    const char *api;    /* cuda: the name cuGetProcAddress is asked for  */
    int since;          /* cuda: first CUDA version that means this form */
    int flags;          /* cuda: 2 = per-thread default stream           */
};

/**
 * All hooks, in the order of hooks.def. Exported by libadsm-preload.so.
 *
 * @count  receives the number of rows
 * Thread: any. Signal: any handler
 */
__attribute__((visibility("default"))) const struct adsm_hook *
adsm_hooks_list(size_t *count);

#endif
