#include "../adsm_device.h"

ADSM_KERNELS_(and_i64, adsm_op_and_i64)
