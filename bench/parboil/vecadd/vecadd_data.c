/*
 * Files for vecadd: the length of the vectors and where each begins in the
 * sequence of random numbers.
 */
#include "common/data.h"
#include "vecadd/vecadd.h"

static const uint32_t small[] = {262144, 1, 2};
static const uint32_t medium[] = {8388608, 1, 2};
static const uint32_t large[] = {67108864, 1, 2};
static const uint32_t gpu[] = {268435456, 1, 2};

const struct data_kind vecadd_data = {
    "vecadd", vecadd_fields, VECADD_FIELDS, small,
    medium,   large,         gpu,           data_write_numbers};
