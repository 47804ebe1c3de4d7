/*
 * Strings of the environment that may be shared.
 *
 * putenv makes the program's own string a part of the environment, which libc
 * hands to the kernel as it is whenever it runs a program. So libc gets a copy:
 * what the program changes in its string afterwards is not seen there, as POSIX
 * does not want it, and as most programs do not.
 */
#include "interpose/hook.h"

#include <stdlib.h>
#include <string.h>

int putenv(char *text)
{
    if (hook_likely(hook_is_plain(text, 1)))
        return HOOK_REAL(putenv)(text);
    char *copy = strdup(text);
    if (!copy)
        return -1; /* with its errno, ENOMEM */
    char *value = strchr(copy, '=');
    int failed;
    if (value)
        *value++ = '\0';
    failed = value ? setenv(copy, value, 1) : unsetenv(copy);
    free(copy);
    return failed;
}
