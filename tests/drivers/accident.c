/*
 * What can befall any function of the planted driver; see planted.h. No state.
 */
#include "planted.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int crash(void)
{
    return raise(SIGSEGV);
}

static _Noreturn void hang(void)
{
    for (;;)
        pause();
}

static int forget(void)
{
    return 0;
}

/* As the copies to the host do. */
static int touch(void *to)
{
    *(volatile char *)to = 1;
    return 0;
}

static const struct {
    const char *word;
    planted_function *function;
} accidents[] = {{"crash=", (planted_function *)crash},
                 {"hang=", (planted_function *)hang},
                 {"forget=", (planted_function *)forget},
                 {"touch=", (planted_function *)touch}};

/* PLANTED has this word, followed by the name. */
static bool befalls(const char *word, const char *name)
{
    size_t n = strlen(word), m = strlen(name);
    const char *at = getenv("PLANTED");
    for (; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, word, n) == 0 && strncmp(at + n, name, m) == 0 &&
            (at[n + m] == ',' || at[n + m] == '\0'))
            return true;
    return false;
}

planted_function *planted_accident(const char *name)
{
    for (size_t i = 0; i < sizeof accidents / sizeof *accidents; i++)
        if (befalls(accidents[i].word, name))
            return accidents[i].function;
    return NULL;
}
