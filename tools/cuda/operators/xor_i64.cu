#include "../adsm_device.h"

ADSM_KERNELS_(xor_i64, adsm_op_xor_i64)
