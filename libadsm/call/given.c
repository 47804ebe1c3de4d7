/* See given.h. */
#include "call/given.h"

#include "call/detail.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The structures of programs that say no size, which are the first that had one:
 * never another number, however they grow. */
enum { FIRST_OPTS = 168, FIRST_ARG = 152, MOST = 4096 };
_Static_assert(sizeof(adsmOpts) >= FIRST_OPTS, "options only grow");
_Static_assert(sizeof(adsmArg) >= FIRST_ARG, "arguments only grow");

/* Copy a structure of `size` to one of `own` bytes. Of what names it, for
 * messages. */
static int take(const char *what, const void *given, unsigned size, void *to,
                size_t own)
{
    const uint8_t *bytes = given;
    memset(to, 0, own);
    memcpy(to, given, size < own ? size : own);
    for (size_t i = own; i < size; i++)
        if (bytes[i] != 0)
            return adsm_detail(ADSM_E_INVALID,
                               "%s of %u bytes with something set behind the "
                               "%zu that this library knows: the program was "
                               "built with a newer adsm.h",
                               what, size, own);
    return ADSM_OK;
}

static int wrong_size(const char *what, unsigned size, size_t own)
{
    return adsm_detail(ADSM_E_INVALID,
                       "%s of %u bytes: `size` is 0 or the structure's size, "
                       "here %zu; is all of it set?",
                       what, size, own);
}

static bool is_size(unsigned size, unsigned first)
{
    return size >= first && size <= MOST && size % sizeof(void *) == 0;
}

int adsm_given_opts(const adsmOpts *given, adsmOpts *opts)
{
    unsigned size = given->size ? given->size : FIRST_OPTS;
    if (!is_size(size, FIRST_OPTS))
        return wrong_size("options", size, sizeof *opts);
    int rc = take("options", given, size, opts, sizeof *opts);
    opts->size = sizeof *opts;
    return rc;
}

int adsm_given_args(int count, const adsmArg *given, adsmArg *args)
{
    const uint8_t *at = (const uint8_t *)given;
    unsigned apart =
        count > 0 && given->size ? given->size : (unsigned)FIRST_ARG;
    for (int i = 0; i < count; i++, at += apart) {
        unsigned size = ((const adsmArg *)at)->size;
        char what[32];
        snprintf(what, sizeof what, "argument %d", i);
        if (size == 0)
            size = FIRST_ARG;
        if (!is_size(size, FIRST_ARG) || size > apart)
            return wrong_size(what, size, sizeof *args);
        int rc = take(what, at, size, &args[i], sizeof *args);
        if (rc != ADSM_OK)
            return rc;
        args[i].size = sizeof *args;
    }
    return ADSM_OK;
}
