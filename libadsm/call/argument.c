/* What can be wrong with one argument. */
#include "call/argument.h"

#include "mm/heap/heap.h"
#include "call/detail.h"

#include <string.h>

int adsm_arguments_check(const struct adsm_kernel_view *kernel, int count,
                         int fixed)
{
    static const char *const after[] = {"", " after i0 and i1",
                                        " after i0, i1, j0 and j1",
                                        " after i0, i1, j0, j1, k0 and k1"};
    if (count < 0 || count > ADSM_KERNEL_PARAMETERS - fixed)
        return adsm_detail(ADSM_E_INVALID, "%d arguments; 0 to %d are possible",
                           count, ADSM_KERNEL_PARAMETERS - fixed);
    int there = kernel->layout.count;
    if (there >= 0 && count + fixed != there)
        return adsm_detail(
            ADSM_E_INVALID, "kernel '%s' takes %d arguments%s, %d were given",
            kernel->name, there - fixed, after[fixed / 2], count);
    for (int i = 0; i < fixed && there >= 0; i++)
        if (adsm_kernel_parameter(kernel, i) != sizeof(long))
            return adsm_detail(ADSM_E_INVALID,
                               "parameter %d of kernel '%s' has %u bytes: the "
                               "first %d are the bounds of its part, `long` "
                               "each",
                               i, kernel->name,
                               adsm_kernel_parameter(kernel, i), fixed);
    return ADSM_OK;
}

void adsm_arguments_values(struct adsm_grid *grid, int count,
                           const adsmArg *args, void **values)
{
    int fixed = grid->bound_count;
    grid->launch.values = values;
    grid->launch.bounds = fixed;
    grid->launch.count = count;
    grid->launch.args = args;
    for (int i = 0; i < fixed; i++)
        values[i] = &grid->bounds[i];
    for (int i = 0; i < count; i++)
        if (!args[i].mode)
            values[fixed + i] = (void *)adsm_argument_value(&args[i]);
}

static int not_made(const struct adsm_kernel_view *kernel, int number)
{
    return adsm_detail(ADSM_E_INVALID,
                       "argument %d of kernel '%s' was not made by adsmVal, "
                       "adsmIn, adsmOut or adsmInOut",
                       number, kernel->name);
}

/* Pointer or view, by the parameter. */
static int check_parameter(const struct adsm_kernel_view *kernel, int number,
                           int fixed)
{
    unsigned bytes = adsm_kernel_parameter(kernel, fixed + number);
    if (kernel->layout.count < 0 || bytes == 8 || bytes == 16 || bytes == 24)
        return ADSM_OK;
    return adsm_detail(ADSM_E_INVALID,
                       "argument %d of kernel '%s' is a pointer and has 8 "
                       "bytes, its parameter has %u: 8 are a pointer, 16 an "
                       "adsm_view2, 24 an adsm_view3",
                       number, kernel->name, bytes);
}

/* One that is a pointer, before its memory is looked for. */
static int check_pointer(const struct adsm_kernel_view *kernel, int number,
                         int fixed, const adsmArg *arg)
{
    if (arg->mode < ADSM_IN || arg->mode > ADSM_INOUT)
        return not_made(kernel, number);
    if (arg->align > 1 && (uintptr_t)arg->p % arg->align != 0)
        return adsm_detail(ADSM_E_INVALID,
                           "argument %d of kernel '%s' (%p) is not aligned to "
                           "%u bytes, as its elements are: devices end kernels "
                           "that touch such",
                           number, kernel->name, arg->p, arg->align);
    return check_parameter(kernel, number, fixed);
}

int adsm_argument_not_shared(const struct adsm_kernel_view *kernel, int number,
                             const void *p)
{
    return adsm_detail(ADSM_E_NOT_SHARED,
                       "argument %d of kernel '%s' (%p) is no shared pointer, "
                       "or none any more: allocate it with adsmAlloc, or pass "
                       "a value with adsmVal",
                       number, kernel->name, p);
}

/* Is an address in the allocation that an argument points into, or its end? */
static bool is_of(const adsmArg *arg, const void *address)
{
    void *base;
    size_t bytes;
    return arg->mode && adsm_heap_range(arg->p, &base, &bytes) == ADSM_OK &&
           (uintptr_t)address - (uintptr_t)base <= bytes;
}

/* A shared pointer by its value says nothing about what is done with the memory,
 * which a kernel that is given all it touches would find as it once was. */
static int check_no_pointer(const struct adsm_kernel_view *kernel, int number,
                            const adsmArg *args, int count)
{
    const adsmArg *arg = &args[number];
    void *address, *base;
    size_t bytes;
    if (kernel->reach != ADSM_ONLY_ARGUMENTS || arg->bytes != sizeof address ||
        arg->edge != ADSM_ANY_KIND) /* a number is what it is */
        return ADSM_OK;
    memcpy(&address, adsm_argument_value(arg), sizeof address);
    if (adsm_heap_range(address, &base, &bytes) != ADSM_OK)
        return ADSM_OK;
    for (int i = 0; i < count; i++)
        if (is_of(&args[i], address))
            return ADSM_OK;
    return adsm_detail(ADSM_E_INVALID,
                       "argument %d of kernel '%s' is the value of a shared "
                       "pointer (%p), and no argument says what is done with "
                       "its memory: adsmIn, adsmOut and adsmInOut do",
                       number, kernel->name, address);
}

static int check_bytes(const struct adsm_kernel_view *kernel, int number,
                       int fixed, size_t bytes)
{
    unsigned wanted = adsm_kernel_parameter(kernel, fixed + number);
    if (kernel->layout.count < 0 || bytes == wanted)
        return ADSM_OK;
    return adsm_detail(ADSM_E_INVALID,
                       "argument %d of kernel '%s' has %zu bytes, its "
                       "parameter has %u",
                       number, kernel->name, bytes, wanted);
}

/* One that is a value: made as one, fits its parameter, and is not meant to be a
 * pointer. */
static int check_value(const struct adsm_kernel_view *kernel, int number,
                       int fixed, const adsmArg *args, int count)
{
    const adsmArg *arg = &args[number];
    bool known = kernel->layout.count >= 0, kept = arg->how == ADSM_KEPT;
    if (!adsm_argument_value(arg) || (kept && arg->bytes > sizeof arg->param))
        return not_made(kernel, number);
    int rc = check_bytes(kernel, number, fixed, arg->bytes);
    if (rc != ADSM_OK)
        return rc;
    int kind = known ? kernel->layout.at[fixed + number].kind : ADSM_ANY_KIND;
    if (kind != ADSM_ANY_KIND && kind + arg->edge == ADSM_INTEGER + ADSM_REAL)
        return adsm_detail(
            ADSM_E_INVALID,
            kind == ADSM_REAL
                ? "argument %d of kernel '%s' is an integer, its parameter a "
                  "float or double: give a variable of the parameter's type"
                : "argument %d of kernel '%s' is a float or double, its "
                  "parameter an integer: give a variable of the parameter's "
                  "type",
            number, kernel->name);
    return check_no_pointer(kernel, number, args, count);
}

int adsm_argument_check(const struct adsm_kernel_view *kernel, int number,
                        int fixed, const adsmArg *args, int count)
{
    return args[number].mode
               ? check_pointer(kernel, number, fixed, &args[number])
               : check_value(kernel, number, fixed, args, count);
}
