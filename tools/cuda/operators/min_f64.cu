#include "../adsm_device.h"

ADSM_KERNELS_(min_f64, adsm_op_min_f64)
