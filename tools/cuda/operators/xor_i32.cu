#include "../adsm_device.h"

ADSM_KERNELS_(xor_i32, adsm_op_xor_i32)
