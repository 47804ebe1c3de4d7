#include "../adsm_device.h"

ADSM_KERNELS_(or_i32, adsm_op_or_i32)
