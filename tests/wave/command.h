/*
 * Running the wave programs from a test and looking at what they say.
 *
 * Where things are comes from the environment that meson sets: WAVE_PROGRAMS
 * (folder of the programs), WAVE_SOURCE (their sources), DEVICE_DIR (folder
 * of libcuda.so.1), ADSM_RUN (the runner).
 */
#ifndef TESTS_WAVE_COMMAND_H
#define TESTS_WAVE_COMMAND_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct command_result {
    int status;        /* exit status, or 128 + signal */
    char output[4096]; /* stdout and stderr together, the beginning */
};

/** Value of a variable meson sets; ends the test program without it. */
static inline const char *place(const char *name)
{
    const char *value = getenv(name);
    if (!value || !*value) {
        fprintf(stderr, "%s is not set: run through meson test\n", name);
        exit(99);
    }
    return value;
}

/** Run a shell command line and wait for it. */
__attribute__((format(printf, 1, 2))) static inline struct command_result
command(const char *format, ...)
{
    char line[4096];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line - 8, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof line - 8)
        abort();
    strcat(line, " 2>&1");

    struct command_result result = {0};
    FILE *pipe = popen(line, "r");
    if (!pipe)
        abort();
    size_t got = fread(result.output, 1, sizeof result.output - 1, pipe);
    char rest[4096];
    while (fread(rest, 1, sizeof rest, pipe) > 0)
        continue;
    result.output[got] = 0;
    int status = pclose(pipe);
    result.status =
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
}

/** A new empty folder; the caller removes it with scratch_remove. */
static inline void scratch_make(char path[64])
{
    snprintf(path, 64, "%s/wave-test-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(path))
        abort();
}

static inline void scratch_remove(const char *path)
{
    command("rm -r '%s'", path);
}

#endif
