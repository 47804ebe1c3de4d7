#include "../adsm_device.h"

ADSM_KERNELS_(min_f32, adsm_op_min_f32)
