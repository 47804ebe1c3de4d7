/* The kernel of heat.c for the processors: docs/ranges.md is about it. */
#include "adsm_cpu.h"

#include "heat.cu"

ADSM_CPU_KERNEL(heat)
