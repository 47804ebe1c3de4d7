/*
 * Writes the variables that the loader reads. See preload.h.
 */
#include "preload.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"

int preload_prepend(const char *name, const char *value)
{
    const char *old = getenv(name);
    char *list;
    if (asprintf(&list, "%s%s%s", value, old && *old ? ":" : "",
                 old ? old : "") < 0)
        return -1;
    int rc = setenv(name, list, 1);
    free(list);
    return rc;
}

bool preload_takes_folder(const char *folder)
{
    if (!strpbrk(folder, ":;"))
        return true;
    fprintf(stderr,
            "adsm-run: the loader cannot take '%s' because of the colon or "
            "semicolon in it; put libadsm in another folder\n",
            folder);
    return false;
}

static bool by_name;

bool preload_is_by_name(void)
{
    return by_name;
}

/* LD_PRELOAD is split at white space, too. The list of folders is not, and a
 * library without a folder is looked for there. */
int preload_from(const char *folder, const char *name)
{
    char path[PATH_MAX * 2];
    if (!preload_takes_folder(folder))
        return -1;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!strpbrk(folder, " \t\n"))
        return preload_prepend("LD_PRELOAD", path);
    by_name = true;
    return preload_prepend("LD_LIBRARY_PATH", folder) != 0
               ? -1
               : preload_prepend("LD_PRELOAD", name);
}

int preload_own(const char *name)
{
    char folder[PATH_MAX];
    if (find_library(name, folder, sizeof folder) == 0)
        return preload_from(folder, name);
    fprintf(stderr,
            "adsm-run: %s is not beside this adsm-run, neither as built "
            "nor as installed; build it with `ninja -C build`\n",
            name);
    return -1;
}
