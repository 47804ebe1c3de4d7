#include "../adsm_device.h"

ADSM_KERNELS_(max_i64, adsm_op_max_i64)
