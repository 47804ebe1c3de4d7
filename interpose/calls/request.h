/*
 * Requests of ioctl, by which the memory behind its argument is known.
 */
#ifndef INTERPOSE_CALLS_REQUEST_H
#define INTERPOSE_CALLS_REQUEST_H

#include <stddef.h>

/** Most bytes behind the argument of any request. */
enum { CALL_REQUEST_MOST = 1 << 14 };

/** Bytes of the structure that ioctl's third argument points to; 0: none, or
 *  the request is not known. Signal: any handler */
size_t call_ioctl_bytes(unsigned long request);

#endif
