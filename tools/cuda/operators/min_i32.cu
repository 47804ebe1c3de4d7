#include "../adsm_device.h"

ADSM_KERNELS_(min_i32, adsm_op_min_i32)
