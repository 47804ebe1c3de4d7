#include "../adsm_device.h"

ADSM_KERNELS_(min_u64, adsm_op_min_u64)
