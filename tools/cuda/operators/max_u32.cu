#include "../adsm_device.h"

ADSM_KERNELS_(max_u32, adsm_op_max_u32)
