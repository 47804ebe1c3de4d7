/*
 * What is known of a kernel's speed, as a text: one for each kernel and machine,
 * which a person may read.
 *
 *     libadsm model 1
 *     kernel saxpy
 *     key 89edc1b2a9b3d05d
 *     machine node7, AMD EPYC 9355
 *     0 "NVIDIA H200, driver 12.4" 4^11 spikes 2: 0.012500 0.012750
 *     end
 *
 * A line for each device and footprint: the device's number and kind, how many
 * indices such calls have at least, how many spikes there were (code/times.h), and
 * the last times in ns per index, oldest first.
 *
 * Pure text: where it is kept is code/model_file.h. What is no such text as a
 * whole is none of it. No lock. Thread: any, one at a time for a model. Signal:
 * never
 */
#ifndef ADSM_CODE_MODEL_H
#define ADSM_CODE_MODEL_H

#include "code/times.h"

#include <stddef.h>

enum {
    ADSM_MODEL_LINES = 128,
    ADSM_MODEL_FOOTPRINTS = 16, /* the last is of all that is larger */
    ADSM_MODEL_NAME = 128,      /* of a kernel, what is longer is cut */
    ADSM_MODEL_KIND = 96,
    ADSM_MODEL_MACHINE = 256,
    ADSM_MODEL_BYTES = 64 << 10, /* no text is longer */
};

struct adsm_model_line {
    int device; /* below ADSM_TIMES_DEVICES */
    char kind[ADSM_MODEL_KIND];
    int footprint; /* below ADSM_MODEL_FOOTPRINTS: of 4 to the so many indices */
    uint32_t spikes;
    int count; /* 1 to ADSM_TIMES_KEPT */
    double ns[ADSM_TIMES_KEPT];
};

struct adsm_model {
    char kernel[ADSM_MODEL_NAME];
    uint64_t key;
    char machine[ADSM_MODEL_MACHINE];
    int count;
    struct adsm_model_line line[ADSM_MODEL_LINES];
};

/** What a call of so many indices counts as. */
int adsm_model_footprint(double indices);

/** Copy a text of others into one of `bytes`, so that it is one in a file. */
void adsm_model_text(char *to, size_t bytes, const char *from);

/** Return: false: that is no whole text of a model; it has been written to */
bool adsm_model_parse(struct adsm_model *model, const char *text, size_t bytes);

/** @text  ADSM_MODEL_BYTES; Return: how many are used */
size_t adsm_model_print(const struct adsm_model *model, char *text);

/** The line of a device and footprint, or else of another device of that kind.
 *  NULL: there is none */
const struct adsm_model_line *adsm_model_find(const struct adsm_model *model,
                                              int device, const char *kind,
                                              int footprint);

/** Put a line in, instead of the one of the same device, kind and footprint.
 *  Where there is no room, it is left out. */
void adsm_model_put(struct adsm_model *model,
                    const struct adsm_model_line *line);

#endif
