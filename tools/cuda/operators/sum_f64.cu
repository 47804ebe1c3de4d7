#include "../adsm_device.h"

ADSM_KERNELS_(sum_f64, adsm_op_sum_f64)
