/*
 * Arguments of calls, as programs make them: what all ways of a call ask of one.
 * It is asked once, when a call is made (call/task_make.c).
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

/**
 * Whether an argument was made as one and fits its parameter. Of a pointer's
 * memory nothing is asked; what a value has must not be a pointer's place.
 *
 * @number  of it in `args`, which are `count`
 * @fixed   parameters before those of the arguments
 * Return: ADSM_OK; ADSM_E_INVALID with a sentence
 */
int adsm_argument_check(const struct adsm_kernel_view *kernel, int number,
                        int fixed, const adsmArg *args, int count);

/** Where a launch finds the values of its parameters: of the bounds, and of the
 *  arguments that are values. Those of pointers are left to the caller.  @values
 *  room for all of them; they stay where they are until the launch is made */
void adsm_arguments_values(struct adsm_grid *grid, int count,
                           const adsmArg *args, void **values);

/** A pointer to memory that is not shared, or was. Return: ADSM_E_NOT_SHARED */
int adsm_argument_not_shared(const struct adsm_kernel_view *kernel, int number,
                             const void *p);

/** Is its parameter said to be a view? */
static inline bool adsm_argument_is_view(const adsmArg *arg)
{
    return arg->view & 1;
}

/** Is its array taken as flat? */
static inline bool adsm_argument_is_flat(const adsmArg *arg)
{
    return arg->view & 2;
}

#endif
