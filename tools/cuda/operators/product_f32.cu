#include "../adsm_device.h"

ADSM_KERNELS_(product_f32, adsm_op_product_f32)
