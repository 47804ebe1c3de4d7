/*
 * Owns: nothing; asks the kernel. See exec/processors.h.
 * Lock: none.
 */
#include "exec/processors.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The group's path, "" for the root's. Return: false: there is none. */
static bool find_group(const char *of, char path[PATH_MAX])
{
    char line[PATH_MAX];
    bool found = false;
    FILE *file = fopen(of, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = strncmp(line, "0::/", 4) == 0;
    if (file)
        fclose(file);
    if (!found)
        return false;
    line[strcspn(line, "\n")] = '\0';
    snprintf(path, PATH_MAX, "%s", line + 3);
    return true;
}

static uint32_t limit_of(const char *root, const char *group)
{
    char name[2 * PATH_MAX];
    unsigned long long quota, period;
    snprintf(name, sizeof name, "%s%s/cpu.max", root, group);
    FILE *file = fopen(name, "re");
    if (!file)
        return UINT32_MAX;
    /* "max 100000" where nothing is limited */
    int n = fscanf(file, "%llu %llu", &quota, &period);
    fclose(file);
    if (n != 2 || !period || quota / period >= INT_MAX)
        return UINT32_MAX;
    return (uint32_t)((quota + period - 1) / period);
}

uint32_t sc_processors_paid(const char *of, const char *root)
{
    char group[PATH_MAX];
    uint32_t least = UINT32_MAX;
    if (!find_group(of, group))
        return least;
    for (char *end;; *end = '\0') {
        uint32_t n = limit_of(root, group);
        least = n < least ? n : least;
        end = strrchr(group, '/');
        if (!end)
            return least;
    }
}

/* A mask as large as the kernel's: the fixed one ends at 1024. */
static uint32_t bound_to(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t n = 0;
    for (int most = CPU_SETSIZE; !n && most <= 1 << 16; most *= 2) {
        size_t bytes = CPU_ALLOC_SIZE(most);
        cpu_set_t *set = CPU_ALLOC(most);
        if (set && sched_getaffinity(0, bytes, set) == 0)
            n = (uint32_t)CPU_COUNT_S(bytes, set);
        CPU_FREE(set);
    }
    return n ? n : online > 0 ? (uint32_t)online : 1;
}

uint32_t sc_processors(void)
{
    uint32_t bound = bound_to();
    uint32_t paid = sc_processors_paid("/proc/self/cgroup", "/sys/fs/cgroup");
    uint32_t n = bound < paid ? bound : paid;
    return n ? n : 1;
}
