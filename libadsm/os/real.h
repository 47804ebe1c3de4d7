/*
 * The C library's own entry points, behind whatever has been preloaded.
 *
 * Owns one table, from one list (real.def), for programs on the GNU C library.
 * Resolved by reading the library's symbol table, without a call that a
 * preloaded library could answer and without malloc: it works from the first
 * hooked call on, before any constructor. RTLD_NEXT is no help here: a library
 * that is only needed by a preloaded one comes after the C library in that
 * order.
 * No lock: resolving twice gives the same table.
 */
#ifndef ADSM_OS_REAL_H
#define ADSM_OS_REAL_H

#include "os/image.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>

struct adsm_real {
#define X(ret, name, params) ret(*name) params;
#include "os/real.def"
#undef X
};

extern struct adsm_real adsm_real_table;
extern _Atomic bool adsm_real_ready;

/** Fill the table; use adsm_real(). */
const struct adsm_real *adsm_real_resolve(void);

/**
 * The table; resolved on the first call. An entry is NULL when the C library
 * does not have that function.
 *
 * Return: never NULL
 * Thread: any
 * Signal: fault path
 */
static inline const struct adsm_real *adsm_real(void)
{
    /* Acquire pairs with the release after the table was filled. */
    if (__builtin_expect(
            atomic_load_explicit(&adsm_real_ready, memory_order_acquire), 1))
        return &adsm_real_table;
    return adsm_real_resolve();
}

/**
 * Any other function of the C library by name, behind preloaded ones, or of
 * liburing where it is loaded.
 *
 * @name  symbol; @version  "GLIBC_2.2.5", or NULL for the default version
 * Return: its address; NULL when the C library has none
 * Thread: any
 * Signal: any handler
 */
void *adsm_real_lookup(const char *name, const char *version);

/** The same in libc.so.6 alone, where nearly all is; the default version. */
void *adsm_real_lookup_libc(const char *name);

/** Is the file at `path` one of the libraries in which they are looked for?
 *  Thread: any. Signal: any handler */
bool adsm_real_is_library(const char *path);

enum { ADSM_REAL_IMAGES = 64 };

/** Libraries where the loader looks before it comes to the C library. */
struct adsm_real_images {
    size_t count;
    struct adsm_image images[ADSM_REAL_IMAGES];
};

/**
 * Those behind the library with that dynamic section: so a function that none
 * of them has is what dlsym(RTLD_NEXT) finds from there in the C library. They
 * were loaded at the start; of one that was loaded later nothing is known.
 *
 * Return: false: it cannot be said, ask dlsym
 * Thread: any. Signal: any handler
 */
bool adsm_real_before(const void *dynamic, struct adsm_real_images *before);

/** Has one of them a symbol of that name? Thread: any. Signal: any handler */
bool adsm_real_is_before(const struct adsm_real_images *before,
                         const char *name);

#endif
