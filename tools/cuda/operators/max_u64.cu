#include "../adsm_device.h"

ADSM_KERNELS_(max_u64, adsm_op_max_u64)
