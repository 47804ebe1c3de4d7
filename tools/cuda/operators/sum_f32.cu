#include "../adsm_device.h"

ADSM_KERNELS_(sum_f32, adsm_op_sum_f32)
