/*
 * Kills the processes behind a program's software devices.
 */
#ifndef TESTS_COMMON_KILL_DEVICE_H
#define TESTS_COMMON_KILL_DEVICE_H

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANY_DEVICE = -1 };

/* Is it a device of that program, of that number? Its arguments are its ordinal
 * and the program's process id. */
static inline bool is_device(const char *pid, int ordinal, pid_t of)
{
    char path[300], line[256] = "";
    snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t n = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    if (n < sizeof "softcuda-device" + 3 ||
        strcmp(line, "softcuda-device") != 0)
        return false;
    const char *number = line + strlen(line) + 1;
    const char *program = number + strlen(number) + 1;
    return (ordinal == ANY_DEVICE || atoi(number) == ordinal) &&
           atoi(program) == of;
}

/** Return: how many were killed, all where ANY_DEVICE is asked for. */
static inline int kill_device(int ordinal)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    int killed = 0;
    while ((entry = readdir(proc)))
        if (atoi(entry->d_name) > 0 &&
            is_device(entry->d_name, ordinal, getpid()))
            killed += kill(atoi(entry->d_name), SIGKILL) == 0;
    closedir(proc);
    return killed;
}

/** Devices that a program has. */
static inline int count_devices(pid_t of)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    int count = 0;
    while ((entry = readdir(proc)))
        count +=
            atoi(entry->d_name) > 0 && is_device(entry->d_name, ANY_DEVICE, of);
    closedir(proc);
    return count;
}

#endif
