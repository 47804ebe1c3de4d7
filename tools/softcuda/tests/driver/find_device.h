/*
 * Finds the processes behind the devices of a program.
 */
#ifndef TESTS_SOFTCUDA_FIND_DEVICE_H
#define TESTS_SOFTCUDA_FIND_DEVICE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* Device processes that serve program `owner`: their second argument. */
static inline pid_t device_of(pid_t owner, int nth)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    pid_t found = 0;
    while (!found && (entry = readdir(proc))) {
        char path[300], line[256] = "";
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        FILE *file = fopen(path, "re");
        if (!file)
            continue;
        size_t n = fread(line, 1, sizeof line - 1, file);
        fclose(file);
        if (n < 20 || strcmp(line, "softcuda-device") != 0)
            continue;
        const char *ordinal = line + strlen(line) + 1;
        const char *program = ordinal + strlen(ordinal) + 1;
        if (atoi(program) == owner && nth-- == 0)
            found = atoi(entry->d_name);
    }
    closedir(proc);
    return found;
}

#endif
