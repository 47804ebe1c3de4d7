#include "../adsm_device.h"

ADSM_KERNELS_(or_i64, adsm_op_or_i64)
