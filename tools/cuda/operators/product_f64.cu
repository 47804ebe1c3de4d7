#include "../adsm_device.h"

ADSM_KERNELS_(product_f64, adsm_op_product_f64)
