/*
 * Arguments of calls, as programs make them: what all ways of a call ask of one.
 *
 * Failures set the error detail. Thread: any. Signal: never
 */
#ifndef ADSM_CALL_ARGUMENT_H
#define ADSM_CALL_ARGUMENT_H

#include "call/grid.h"
#include "call/kernel.h"

/** Where the value of an argument is that is one; NULL where there is none. */
static inline const void *adsm_argument_value(const adsmArg *arg)
{
    return arg->how == ADSM_KEPT ? arg->param : arg->p;
}

/**
 * Whether a kernel takes so many arguments, before one of them is looked at.
 *
 * @fixed  parameters before them, which say the part's box
 * Return: ADSM_OK; ADSM_E_INVALID with a sentence
 */
int adsm_arguments_check(const struct adsm_kernel_view *kernel, int count,
                         int fixed);

/** An argument (from 0 on) that is a pointer, before its memory is looked for.
 *  ADSM_OK; ADSM_E_INVALID with a sentence */
int adsm_argument_check_pointer(const struct adsm_kernel_view *kernel,
                                int number, const adsmArg *arg);

/** Where a launch finds the values of its parameters: of the bounds, and of the
 *  arguments that are values. Those of pointers are left to the caller.  @values
 *  room for all of them; they stay where they are until the launch is made */
void adsm_arguments_values(struct adsm_grid *grid, int count,
                           const adsmArg *args, void **values);

/** A pointer to memory that is not shared, or was. Return: ADSM_E_NOT_SHARED */
int adsm_argument_not_shared(const struct adsm_kernel_view *kernel, int number,
                             const void *p);

/** Whether what is passed has the size of its parameter. ADSM_OK; ADSM_E_INVALID
 *  with a sentence */
int adsm_argument_check_bytes(const struct adsm_kernel_view *kernel, int number,
                              int fixed, size_t bytes);

/**
 * Whether an argument that is a value was made as one and fits its parameter,
 * and is not meant to be a pointer.
 *
 * @number  of it in `args`, which are `count`
 * @fixed   parameters before those of the arguments
 * Return: ADSM_OK; ADSM_E_INVALID with a sentence
 */
int adsm_argument_check_value(const struct adsm_kernel_view *kernel, int number,
                              int fixed, const adsmArg *args, int count);

#endif
