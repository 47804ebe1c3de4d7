#include "../adsm_device.h"

ADSM_KERNELS_(max_i32, adsm_op_max_i32)
