#include "../adsm_device.h"

ADSM_KERNELS_(product_i32, adsm_op_product_i32)
