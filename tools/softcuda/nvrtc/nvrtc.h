/*
 * NVRTC's public interface, as far as it is needed to pass calls on, and what
 * the files of this front share.
 */
#ifndef SOFTCUDA_NVRTC_NVRTC_H
#define SOFTCUDA_NVRTC_NVRTC_H

#include <stdbool.h>
#include <stddef.h>

typedef int nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;

#define NVRTC_SUCCESS              0
#define NVRTC_ERROR_OUT_OF_MEMORY  1
#define NVRTC_ERROR_INTERNAL_ERROR 11

#define SC_NVRTC_API __attribute__((visibility("default")))

/** A function of the real library, which is looked for on the first call.
 *  Return: NULL: there is no such library, or no such function in it
 *  Thread: any */
void *sc_nvrtc_real(const char *name);

/**
 * Options with the architecture that PTX is made for where machine code was
 * asked for.
 *
 * @changed receives whether there was such a one
 * Return: as many as came in; NULL when memory ran out; freed with
 *         sc_nvrtc_options_free
 * Thread: any
 */
char **sc_nvrtc_options(int count, const char *const *options, bool *changed);
void sc_nvrtc_options_free(int count, char **options);

#endif
