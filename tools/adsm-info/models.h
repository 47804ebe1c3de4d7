/*
 * What is kept of how fast kernels were, as a table (sections.h) and as a picture.
 */
#ifndef ADSM_INFO_MODELS_H
#define ADSM_INFO_MODELS_H

#include <stdbool.h>

#include "code/model_file.h"

/** Call `take` for each file of the folder. Behind adsm_options_load. */
void models_each(void (*take)(void *context, const char *name,
                              const struct adsm_model *model,
                              enum adsm_model_state state),
                 void *context);

/** The median of a line's times. */
double models_median(const struct adsm_model_line *line);

/** Time for an index over the number of indices: what was measured, and a line
 *  through it. Return: false: there is no picture; said why */
bool models_plot(const char *path);

#endif
