/*
 * What is known of kernels, whoever has loaded them.
 *
 * An image is what is loaded at once, and by whom: the program, or the library,
 * which loads it on one device more when a kernel of it is to run there. Each of
 * its kernels has one record, which says where the parameters lie, what a launch
 * may touch, by which handles devices know it, and by which number it is known
 * tomorrow; it lives as long as its image, which is until nobody holds that. All
 * is read out of the image's PTX when it is asked for the first time, and then
 * known. What is learnt by running it is kept by that number (code/learned.h):
 * two images of the same code have it in common, but no handles, for each has its
 * own variables.
 *
 * Lock: one for each image, rank CODE. Thread: any, no lock of that rank or later
 * held. Signal: never.
 */
#ifndef ADSM_CODE_CODE_H
#define ADSM_CODE_CODE_H

#include "accel/accel.h"
#include "code/layout.h"
#include "code/speed.h"
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

/**
 * The same of an image that the library has loaded, and may load elsewhere.
 *
 * @bytes  malloc()ed, with a zero behind its `count`: taken, unless this fails
 * @module where it is loaded: the driver's handle on `accel`
 * Return: NULL: no memory
 */
struct adsm_image *adsm_image_loaded(char *bytes, size_t count,
                                     struct adsm_accel *accel, void *module);

/**
 * Have such an image on a device. It is loaded without the lock, for that takes
 * long: of two threads that do so, one finds that it need not have.
 *
 * Return: ADSM_OK; the device's refusal
 */
int adsm_image_on(struct adsm_image *image,
                  struct adsm_accel *accel) ADSM_MUST_CHECK;

/** Unload it everywhere. Its records stay, of which no handle is used any more.
 *  Return: ADSM_OK; the first refusal, and the device that gave it */
int adsm_image_unload(struct adsm_image *image, int *device);

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

/** How fast devices are with it: one for all records with the same key. NULL: no
 *  memory */
struct adsm_speed *adsm_code_speed(struct adsm_code *code);

/** The driver's handle of it on a device that it was asked for; NULL: it was
 *  not. Of an image that the library has loaded. */
void *adsm_code_handle(const struct adsm_code *code,
                       const struct adsm_accel *accel);

/** Ask for it on a device that has its image. Return: ADSM_OK; ADSM_E_NOT_FOUND:
 *  the image has none of that name; the device's refusal */
int adsm_code_on(struct adsm_code *code, struct adsm_accel *accel,
                 void **handle) ADSM_MUST_CHECK;

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

/** The same with strides, as sc_program_rows has them. */
bool adsm_code_rows(struct adsm_code *code, const struct sc_geometry *geometry,
                    const uint8_t *params, size_t bytes,
                    struct sc_touched *touched);

#endif
