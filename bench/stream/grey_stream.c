/*
 * Turn pictures into grey ones on every device.
 *
 *     grey-stream [options] FOLDER FILE.png...
 *
 *   --table       the grey by table; else by arithmetic
 *   --devices=N   the first N devices; else all
 *   --chunks=N    pieces of each picture; else as many as the library likes
 *   --alone       one thread does all, one picture behind the other
 *   --verify      see that each is the CPU's byte for byte
 *
 * FILE.png becomes FOLDER/FILE-grey.png. A file that cannot be read is named with
 * the reason, and the others are converted. Exit: 0: all were; 1: not all; 2: the
 * command line is wrong; 3: there is no device.
 */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int usage(const char *about, const char *what)
{
    fprintf(stderr, "grey-stream: %s%s\n", about, what);
    fprintf(stderr,
            "usage: grey-stream [--table] [--devices=1..31] "
            "[--chunks=0..32] [--alone] [--verify] FOLDER FILE.png...\n");
    return 2;
}

/* "NAME=N" from `least` to `most`. */
static bool number(const char *word, const char *name, int least, int most,
                   int *value)
{
    char rest;
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 &&
           sscanf(word + length, "%d%c", value, &rest) == 1 &&
           *value >= least && *value <= most;
}

/* Two files whose results would be one. Return: the second; NULL: none */
static const char *twice(const char *folder, char *const *files, int count)
{
    char a[4096], b[4096];
    for (int i = 1; i < count; i++) {
        task_result(folder, files[i], a, sizeof a);
        for (int k = 0; k < i; k++) {
            task_result(folder, files[k], b, sizeof b);
            if (strcmp(a, b) == 0)
                return files[i];
        }
    }
    return NULL;
}

static int convert(struct converter *converter, bool by_table, char **files,
                   int count, bool threads)
{
    if (!converter_make(converter, by_table))
        return 3;
    double began = now();
    int failed = stream_run(converter, files, count, threads);
    double seconds = now() - began;
    converter_free(converter);
    if (failed < 0) {
        fprintf(stderr, "grey-stream: no threads can be started\n");
        return 3;
    }
    printf("%d of %d pictures in %.2f s, %.1f a second\n", count - failed,
           count, seconds, (count - failed) / seconds);
    return failed > 0;
}

int main(int argc, char **argv)
{
    struct converter converter = {.devices = ADSM_ALL_DEVICES, .fetch = true};
    bool by_table = false, threads = true;
    int i = 1, value;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--table") == 0)
            by_table = true;
        else if (strcmp(argv[i], "--alone") == 0)
            threads = false;
        else if (strcmp(argv[i], "--verify") == 0)
            converter.verify = true;
        else if (number(argv[i], "--devices=", 1, 31, &value))
            converter.devices = (UINT32_C(1) << value) - 1;
        else if (number(argv[i], "--chunks=", 0, 32, &value))
            converter.chunks = value;
        else
            return usage("not an option: ", argv[i]);
    }
    if (argc - i < 2)
        return usage("a folder and files are needed", "");
    converter.folder = argv[i++];
    const char *again = twice(converter.folder, argv + i, argc - i);
    if (again)
        return usage("a second file with the result of another: ", again);
    return convert(&converter, by_table, argv + i, argc - i, threads);
}
