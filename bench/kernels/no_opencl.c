/* The OpenCL side where there is no OpenCL to build with. */
#include "side.h"

const struct side *side_opencl(void)
{
    return NULL;
}
