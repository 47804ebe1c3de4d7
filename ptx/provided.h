/*
 * Functions that kernels call and no text of theirs defines.
 */
#ifndef SOFTCUDA_PTX_PROVIDED_H
#define SOFTCUDA_PTX_PROVIDED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/** Does the device provide it? */
static inline bool sc_is_provided(const char *name, size_t bytes)
{
    static const char *const names[] = {"vprintf", "malloc", "free",
                                        "__assertfail"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == bytes && memcmp(name, names[i], bytes) == 0)
            return true;
    return false;
}

/** Is it of CUDA's runtime, by which kernels launch kernels?  nvcc links it
 *  from libcudadevrt.a, which is machine code; C++ names of programs never look
 *  like that. */
static inline bool sc_is_device_runtime(const char *name)
{
    return strncmp(name, "__cudaCDP", 9) == 0 ||
           (strncmp(name, "cuda", 4) == 0 && name[4] >= 'A' && name[4] <= 'Z');
}

/** What is said of one, with its name. */
#define SC_DEVICE_RUNTIME_REFUSED                                              \
    "a kernel launches kernels, or calls CUDA's runtime, itself ('%s'), "      \
    "which "                                                                   \
    "this device does not support, however it is compiled"

#endif
