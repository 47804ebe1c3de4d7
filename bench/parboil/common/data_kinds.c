/*
 * The benchmarks parboil-data makes files for.
 */
#include "common/data.h"

const struct data_kind *const data_kinds[] = {
    &cp_data,   &mri_fhd_data, &mri_q_data, &pns_data,
    &rpes_data, &sad_data,     &tpacf_data, &vecadd_data,
};
const int data_kind_count = sizeof data_kinds / sizeof *data_kinds;
