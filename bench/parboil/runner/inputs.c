/*
 * Making, warming and removing input files. See inputs.h.
 */
#include "runner/inputs.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/child.h"
#include "runner/places.h"

static const char *wave_size(const char *size)
{
    return strcmp(size, "small") == 0    ? "72x48x72"
           : strcmp(size, "medium") == 0 ? "128x128x128"
                                         : "256x256x256";
}

/* The command that makes the input file. */
static void maker_command(const struct plan *plan, struct child *child,
                          const struct plan_bench *bench, char *program,
                          const char *path)
{
    static const char *const makers[PLAN_ROOMS] = {
        "parboil-data", "wave-volume", "ranges-data"};
    places_join(program, places.programs[bench->room], makers[bench->room]);
    child_word(child, program);
    if (bench->room == PLAN_WAVE) {
        child_word(child, "--size");
        child_word(child, wave_size(plan->size));
    } else {
        child_word(child, bench->name);
        child_word(child, plan->size);
    }
    child_word(child, path);
    for (int i = 0; i < plan->numbers.count; i++)
        child_word(child, plan->numbers.words[i]);
}

bool inputs_find(const struct plan *plan, const struct plan_bench *bench,
                 char *path)
{
    char maker[PATH_MAX], why[240];
    struct child child = {.limit_s = 600};
    *path = 0;
    if (plan->input)
        return snprintf(path, PATH_MAX, "%s", plan->input) < PATH_MAX;
    places_join(path, places.scratch, bench->program);
    maker_command(plan, &child, bench, maker, path);
    if (!plan->quiet && strcmp(plan->size, "small") != 0)
        fprintf(stderr, "%s: making the %s input\n", bench->name, plan->size);
    if (child_run(&child, why, sizeof why))
        return true;
    fprintf(stderr, "adsm-bench: no input for %s: %s\n", bench->name, why);
    return false;
}

/* Sets of a sky lie beside its file. Return: false when there is no such; a
 * pipe can be read once only, and is left to the program. */
static bool part_name(char *part, size_t bytes, const char *path, int number)
{
    struct stat st;
    int length = number < 0 ? snprintf(part, bytes, "%s", path)
                            : snprintf(part, bytes, "%s.%03d", path, number);
    return length < (int)bytes && stat(part, &st) == 0 && S_ISREG(st.st_mode);
}

void inputs_warm(const char *path)
{
    static char buffer[1 << 16];
    char part[PATH_MAX + 16];
    for (int i = -1; part_name(part, sizeof part, path, i); i++) {
        int fd = open(part, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        while (read(fd, buffer, sizeof buffer) > 0)
            continue;
        fsync(fd);
        close(fd);
    }
}

void inputs_remove(const struct plan *plan, const char *path)
{
    char part[PATH_MAX + 16];
    if (plan->input || !*path)
        return;
    for (int i = -1; part_name(part, sizeof part, path, i); i++)
        unlink(part);
}
