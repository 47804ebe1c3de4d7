/*
 * PTX text out of images: text itself, fat binaries, their wrappers.
 */
#ifndef SOFTCUDA_PTX_FATBIN_H
#define SOFTCUDA_PTX_FATBIN_H

#include "ptx/unpack.h"

#include <stddef.h>

enum sc_image_status {
    SC_IMAGE_FOUND,
    SC_IMAGE_DAMAGED,
    SC_IMAGE_NO_CODE, /* none that the device can run */
    SC_IMAGE_NO_MEMORY,
};

/** PTX text of one module; ends in a NUL that `bytes` does not count. */
struct sc_text {
    char *text; /* malloc'ed */
    size_t bytes;
};

/** What an image is looked into for. */
struct sc_fatbin_device {
    unsigned sm; /* 90 for capability 9.0 */
    /* it runs machine code where there is some for it: PTX that may be of
     * other source code, compiled for another architecture, is none then */
    bool runs_machine_code;
};

/**
 * Find the PTX that suits the device best in an image, and copy it as it is.
 * The parts of a relocatable program are unpacked and joined.
 *
 * As sc_fatbin_find otherwise.
 */
enum sc_image_status sc_fatbin_pick(const void *image,
                                    struct sc_fatbin_device device,
                                    struct sc_packed *packed, char *why,
                                    size_t why_bytes);

/**
 * Find the PTX that suits the device best in an image, decompress it, and
 * join the parts of a relocatable program into one text.
 *
 * Sizes and offsets inside the image are not trusted: one that leads out of
 * readable memory or expands without end is refused.  Plain text must end in
 * a NUL, as cuModuleLoadData demands.
 *
 * @image as given to cuModuleLoadData; @sm 90 for capability 9.0
 * @text  receives the PTX, to be freed
 * @why   receives one sentence when there is none
 * Thread: any
 */
enum sc_image_status sc_fatbin_find(const void *image, unsigned sm,
                                    struct sc_text *text, char *why,
                                    size_t why_bytes);

#endif
