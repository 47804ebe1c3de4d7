#include "../adsm_device.h"

ADSM_KERNELS_(max_f32, adsm_op_max_f32)
