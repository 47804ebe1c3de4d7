#include "../adsm_device.h"

ADSM_KERNELS_(min_i64, adsm_op_min_i64)
