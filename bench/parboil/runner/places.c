/*
 * The folders of the build, and one for what is written. See places.h.
 */
#include "runner/places.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/child.h"

struct places places;

static _Noreturn void die(const char *what, const char *value)
{
    fprintf(stderr, "adsm-bench: %s '%s'\n", what, value);
    exit(2);
}

void places_join(char *path, const char *folder, const char *name)
{
    if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
        die("path too long:", folder);
}

void places_find(void)
{
    char self[PATH_MAX] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        die("cannot find itself:", strerror(errno));
    char *bench = dirname(dirname(self));
    for (int i = 0; i < PLAN_ROOMS; i++)
        places_join(places.programs[i], bench, plan_rooms[i]);
    char *build = dirname(bench);
    places_join(places.adsm_run, build, "tools/adsm-run");
    places_join(places.softcuda, build, "tools/softcuda");
    places_join(places.preload, build, "interpose/libadsm-preload.so");

    const char *tmp = getenv("TMPDIR");
    places_join(places.scratch, tmp && *tmp ? tmp : "/tmp",
                "adsm-bench-XXXXXX");
    if (!mkdtemp(places.scratch))
        die("cannot make a folder in", tmp && *tmp ? tmp : "/tmp");
}

void places_remove(void)
{
    struct child child = {.limit_s = 60};
    char why[200];
    child_interrupted = 0;
    child_word(&child, "/bin/rm");
    child_word(&child, "-r");
    child_word(&child, places.scratch);
    if (!child_run(&child, why, sizeof why))
        fprintf(stderr, "adsm-bench: cannot remove %s: %s\n", places.scratch,
                why);
}
