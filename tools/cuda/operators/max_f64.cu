#include "../adsm_device.h"

ADSM_KERNELS_(max_f64, adsm_op_max_f64)
