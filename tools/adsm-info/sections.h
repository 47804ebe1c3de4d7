/*
 * What adsm-info knows: one function per section, each filling a table.
 */
#ifndef ADSM_INFO_SECTIONS_H
#define ADSM_INFO_SECTIONS_H

#include "table.h"

/** Visible devices, their memory, and how they share addresses with the CPU.
 *  Opens each device. */
void section_devices(struct table *table);

/** When a preloaded program's memory is shared, and why. Opens each device and
 *  tries. */
void section_sharing(struct table *table);

/** The driver, and what each device does about host memory. Opens each device
 *  and tries. */
void section_driver(struct table *table);

/** Fault engines: which exist, which is chosen. */
void section_engines(struct table *table);

/** The name of the engine that is chosen. */
const char *engine_in_use(void);

/** Whether shared memory gets huge pages, and what stands in the way. Tries. */
void section_memory(struct table *table);

/** Every option: value in use, where from, what it may be. */
void section_options(struct table *table);

/** Entry points that libadsm-preload.so takes over. */
void section_hooks(struct table *table);

/** Every call of the driver, and why those that are not taken over need not be
 *  (surface.c). */
void section_surface(struct table *table);

/** What would be better here, and the command for it (advice.c). Opens each
 *  device and tries. */
void section_advice(struct table *table);

/** What is kept of how fast kernels were, a row for each kernel, device and
 *  footprint (models.c). Opens no device. */
void section_models(struct table *table);

#endif
