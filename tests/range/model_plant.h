/*
 * The rules of libadsm/range as the model test builds them: one of them can be
 * wrong, by its name.
 */
#ifndef TESTS_RANGE_MODEL_PLANT_H
#define TESTS_RANGE_MODEL_PLANT_H

#include <string.h>

extern const char *model_plant; /* NULL: none */

#define ADSM_PLANTED(name) (model_plant && strcmp(model_plant, (name)) == 0)

#endif
