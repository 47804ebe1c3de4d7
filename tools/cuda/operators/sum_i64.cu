#include "../adsm_device.h"

ADSM_KERNELS_(sum_i64, adsm_op_sum_i64)
