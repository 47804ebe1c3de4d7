/*
 * One picture's way: from its file to the device, grey, and to a file again.
 *
 * A converter is made once and used by all threads: it changes nothing but the
 * task. A task that has failed has said so, once, on standard error, and the
 * steps that are left do nothing.
 */
#ifndef BENCH_STREAM_CONVERT_H
#define BENCH_STREAM_CONVERT_H

#include <adsm.h>

#include "grey.h"
#include "picture.h"

struct converter {
    adsmKernel *kernel;
    unsigned *table; /* shared; NULL: by arithmetic */
    uint32_t devices;
    int chunks;         /* of each picture; 0: as many as the library likes */
    bool fetch;         /* the grey comes as it is made                     */
    bool verify;        /* beside the CPU's, byte for byte                  */
    const char *folder; /* of the results; NULL: none are written           */
};

struct task {
    const char *path;
    struct picture picture;
    adsmEvent event;
    double mean[3]; /* red, green and blue: what the CPU finds meanwhile */
    bool failed;
};

/** Load the kernel; the table where greys are by table. What is wrong is said on
 *  standard error. Return: false: there is no device, or no memory */
bool converter_make(struct converter *converter, bool by_table);

/** Give the table back; no task is under way. */
void converter_free(struct converter *converter);

/** The steps, in this order. `begin` returns before the device has begun. */
void task_load(const struct converter *converter, struct task *task);
void task_begin(const struct converter *converter, struct task *task);
void task_look(const struct converter *converter, struct task *task);
void task_store(const struct converter *converter, struct task *task);

/** The name of a result: FOLDER/NAME-grey.png of .../NAME.png. */
void task_result(const char *folder, const char *path, char *name, size_t room);

#endif
