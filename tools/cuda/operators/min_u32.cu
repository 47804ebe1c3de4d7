#include "../adsm_device.h"

ADSM_KERNELS_(min_u32, adsm_op_min_u32)
