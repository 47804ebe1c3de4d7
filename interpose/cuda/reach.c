/* From places of pointers to uses of objects; see cuda_reach.h. */
#include "interpose/cuda/reach.h"

#include "base/option.h"
#include "interpose/cuda/module.h"
#include "mm/index.h"

#include <string.h>

/* No address lies that low, or that high: sizes and strides. */
static bool is_small(uint64_t value)
{
    return value < UINT64_C(1) << 32 || value > -(UINT64_C(1) << 32);
}

/* What a kernel uses that writes through `at`. Return: false: nothing is shared
 * there */
static bool use_at(const uint8_t *at, struct adsm_use *use)
{
    struct adsm_object *object = adsm_index_acquire(at);
    if (!object)
        return false;
    size_t left = object->bytes - (size_t)(at - object->host);
    *use = adsm_use_of(object, at, left, ADSM_INOUT);
    adsm_rwlock_release_shared(&object->lock);
    return true;
}

/* Where the arguments in these places point, a use each at most. Return: false:
 * somewhere that is not known */
static bool uses_of(const struct cuda_arguments *a,
                    const struct sc_reach *reach, uint32_t places,
                    struct adsm_use *uses, size_t *count)
{
    uint64_t value;
    *count = 0;
    for (unsigned i = 0; i < reach->place_count; i++) {
        if (!(places >> i & 1))
            continue;
        const char *from = cuda_arguments_at(a, &reach->place[i]);
        if (!from)
            return false;
        memcpy(&value, from, sizeof value);
        if (is_small(value))
            continue;
        if (!use_at((const uint8_t *)(uintptr_t)value, &uses[*count]))
            return false;
        ++*count;
    }
    return true;
}

/* Arrays that are passed less some elements begin behind where arguments point:
 * those are added. Return: how many uses there are then */
static size_t add_behind(struct adsm_use *uses, size_t count)
{
    enum { BEHIND_BYTES = 64 << 10 };
    size_t all = count;
    for (size_t i = 0; i < count; i++)
        if (uses[i].bytes <= BEHIND_BYTES &&
            use_at(uses[i].at + BEHIND_BYTES, &uses[all]))
            all++;
    return all;
}

/* Every eight bytes of the arguments that are the address of an object. Return:
 * false: nobody knows where arguments are, or they are too many */
static bool find_pointers(const struct cuda_arguments *a, CUfunction function,
                          struct adsm_use *uses, size_t *count)
{
    struct cuda_params known;
    uint64_t value;
    *count = 0;
    cuda_params_of(function, &known);
    for (unsigned i = 0; i < known.count; i++)
        for (unsigned at = 0; at + sizeof value <= known.at[i].bytes;
             at += sizeof value) {
            const struct sc_place place = {(uint16_t)i, (uint16_t)at,
                                           (uint16_t)(known.at[i].offset + at)};
            const char *from = cuda_arguments_at(a, &place);
            if (!from || *count == CUDA_REACH_MOST / 2)
                return false;
            memcpy(&value, from, sizeof value);
            *count += !is_small(value) &&
                      use_at((const uint8_t *)(uintptr_t)value, &uses[*count]);
        }
    return known.count > 0;
}

/* What the launch may touch of objects that come and go. */
static bool reach_of(const struct sc_reach *kernel,
                     const struct cuda_arguments *a, CUfunction function,
                     struct adsm_use *uses, size_t *count)
{
    if (kernel && !kernel->reaches_anywhere &&
        uses_of(a, kernel, kernel->reached, uses, count))
        return true;
    return adsm_options_get()->oversubscribe ==
               ADSM_OPT_OVERSUBSCRIBE_ARGUMENTS &&
           find_pointers(a, function, uses, count);
}

void cuda_reach_tell(struct adsm_call *call, CUfunction function,
                     const struct cuda_arguments *a, struct cuda_told *told)
{
    const struct adsm_options *options = adsm_options_get();
    bool writes = options->kernel_writes == ADSM_OPT_KERNEL_WRITES_PTX;
    bool comes_and_goes = options->oversubscribe;
    struct sc_reach k;
    size_t count;
    if (!writes && !comes_and_goes)
        return;
    bool known = cuda_module_reach(function, &k);
    if (known && writes && !k.writes_anywhere &&
        uses_of(a, &k, k.written, told->writes, &count)) {
        call->rest = ADSM_REST_READ;
        call->uses = told->writes;
        call->use_count = count;
    }
    if (comes_and_goes &&
        reach_of(known ? &k : NULL, a, function, told->reach, &count)) {
        call->reach = told->reach;
        call->reach_count = add_behind(told->reach, count);
        call->reach_known = true;
    }
}
