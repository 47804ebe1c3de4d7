#include "../adsm_device.h"

ADSM_KERNELS_(and_i32, adsm_op_and_i32)
