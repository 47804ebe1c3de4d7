#include "../adsm_device.h"

ADSM_KERNELS_(product_i64, adsm_op_product_i64)
