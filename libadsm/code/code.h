/*
 * What is known of kernels, whoever has loaded them.
 *
 * An image is what is loaded at once. Each of its kernels has one record, which
 * says where the parameters lie, what a launch may touch, and by which number
 * the kernel is known tomorrow; it lives as long as its image, which is until
 * nobody holds that. All is read out of the image's PTX when it is asked for the
 * first time, and then known. Handles of a device, and what is known of how fast
 * it is with a kernel, are of who launches.
 *
 * Lock: one for each image, rank CODE. Thread: any, no lock of that rank or later
 * held. Signal: never.
 */
#ifndef ADSM_CODE_CODE_H
#define ADSM_CODE_CODE_H

#include "code/layout.h"
#include "ptx/access.h"

struct adsm_image;
struct adsm_code;

/**
 * Note an image, with a copy of what is looked at later. Held by the caller.
 *
 * @image  as given to cuModuleLoadData; @bytes of it, 0: they are not known
 * @sm     of the device that will run it, 90 for capability 9.0; 0: not known,
 *         then PTX is looked at only where it is all of the image
 * Return: NULL: no memory
 */
struct adsm_image *adsm_image_new(const void *image, size_t bytes, unsigned sm);

/** Has it PTX? That it is understood is not said. */
bool adsm_image_has_ptx(const struct adsm_image *image);

void adsm_image_hold(struct adsm_image *image);
void adsm_image_release(struct adsm_image *image);

/** The record of the kernel of that name, whether or not the image has one.
 *  NULL: no memory */
struct adsm_code *adsm_image_code(struct adsm_image *image, const char *name);

/** What it is of. */
struct adsm_image *adsm_code_image(const struct adsm_code *code);

const char *adsm_code_name(const struct adsm_code *code);

/**
 * A number for the kernel that is the same in every process: of its image's PTX,
 * or else the image's bytes, and its name.
 *
 * Return: 0: nothing of the image is known
 */
uint64_t adsm_code_key(struct adsm_code *code);

/**
 * Where its parameters lie, as PTX says it.
 *
 * @ask  is asked where PTX does not, until there is an answer
 * Return: of which `at` lives as long as the record
 */
struct adsm_layout adsm_code_layout(struct adsm_code *code,
                                    adsm_parameter_fn *ask, void *context);

/** What it may touch in any launch; NULL: anything. */
const struct sc_reach *adsm_code_reach(struct adsm_code *code);

/**
 * What a launch of it touches.
 *
 * @params  values of all parameters, as adsm_code_layout has them; @bytes of them
 * Return: false: nothing is known but adsm_code_reach
 */
bool adsm_code_touched(struct adsm_code *code,
                       const struct sc_geometry *geometry,
                       const uint8_t *params, size_t bytes,
                       struct sc_touched *touched);

#endif
