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

enum { OPTIONS = -1, NAME = 32 }; /* else the number of an argument */

static const char *name_of(int number, char name[NAME])
{
    snprintf(name, NAME, number < 0 ? "options" : "argument %d", number);
    return name;
}

/* Copy a structure of `size` to one of `own` bytes. */
static int take(int number, const void *given, unsigned size, void *to,
                size_t own)
{
    const uint8_t *bytes = given;
    char name[NAME];
    memcpy(to, given, size < own ? size : own);
    if (size < own)
        memset((uint8_t *)to + size, 0, own - size);
    for (size_t i = own; i < size; i++)
        if (bytes[i] != 0)
            return adsm_detail(ADSM_E_INVALID,
                               "%s of %u bytes with something set behind the "
                               "%zu that this library knows: the program was "
                               "built with a newer adsm.h",
                               name_of(number, name), size, own);
    return ADSM_OK;
}

static int wrong_size(int number, unsigned size, size_t own)
{
    char name[NAME];
    return adsm_detail(ADSM_E_INVALID,
                       "%s of %u bytes: `size` is 0 or the structure's size, "
                       "here %zu; is all of it set?",
                       name_of(number, name), size, own);
}

static bool is_size(unsigned size, unsigned first)
{
    return size >= first && size <= MOST && size % sizeof(void *) == 0;
}

int adsm_given_opts(const adsmOpts *given, adsmOpts *opts)
{
    unsigned size = given->size ? given->size : FIRST_OPTS;
    if (!is_size(size, FIRST_OPTS))
        return wrong_size(OPTIONS, size, sizeof *opts);
    int rc = take(OPTIONS, given, size, opts, sizeof *opts);
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
        if (size == 0)
            size = FIRST_ARG;
        if (!is_size(size, FIRST_ARG) || size > apart)
            return wrong_size(i, size, sizeof *args);
        int rc = take(i, at, size, &args[i], sizeof *args);
        if (rc != ADSM_OK)
            return rc;
        args[i].size = sizeof *args;
    }
    return ADSM_OK;
}
