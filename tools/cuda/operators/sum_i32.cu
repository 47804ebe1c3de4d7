#include "../adsm_device.h"

ADSM_KERNELS_(sum_i32, adsm_op_sum_i32)
