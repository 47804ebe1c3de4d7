/*
 * The argument list of a launch, where a driver may read it.
 *
 * A driver reads the values of a kernel's parameters, which may lie in shared
 * memory that the launch closes to the CPU. Those are copied before; all else
 * is passed on as it is. Does not know what a launch is, nor what kernels do
 * with their arguments.
 */
#ifndef INTERPOSE_DEVICE_ARGUMENTS_H
#define INTERPOSE_DEVICE_ARGUMENTS_H

#include "code/layout.h"
#include "ptx/access.h"

enum { DEVICE_ARGUMENT_BYTES_MOST = 4096 };

/** Where the parameters of a kernel lie. */
struct device_params {
    unsigned count; /* 0 also when nobody can tell, or there are too many   */
    struct adsm_parameter at[ADSM_PARAMETERS_MOST]; /* of no kind           */
};

/** What the driver is given, and copies of what lies in shared memory. */
struct device_arguments {
    struct device_params known; /* of the kernel                            */
    void **params;      /* one points to each value; NULL: there is a buffer */
    const char *buffer; /* all values in one piece; NULL: none              */
    size_t bytes;       /* of the buffer                                    */
    void *copied_params[ADSM_PARAMETERS_MOST];
    char values[DEVICE_ARGUMENT_BYTES_MOST];
};

/**
 * params[i] points at the value of parameter i, as many as are known. Where
 * nobody can tell how many these are, the list stays as it is. NULL: there is
 * none. May wait for the device, whose the memory may be.
 *
 * Return: an error is the launch's (device/driver.h)
 */
int device_arguments_list(struct device_arguments *a, void **params);

/** The same with `bytes` of all values in one piece; NULL: there are none. */
int device_arguments_buffer(struct device_arguments *a, const void *buffer,
                            size_t bytes);

/** Where eight bytes of the arguments are; NULL: nobody can tell. */
const char *device_arguments_at(const struct device_arguments *a,
                                const struct sc_place *place);

/** The values of all parameters, in one piece, as the kernel has them. Return:
 *  how many bytes; 0: nobody can tell, or they have no room */
size_t device_arguments_gather(const struct device_arguments *a, uint8_t *to,
                               size_t room);

/** Bytes [from, +bytes) of the program, which may be shared, to plain memory. */
int device_arguments_fetch(void *to, const void *from, size_t bytes);

#endif
