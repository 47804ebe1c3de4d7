/* Argument lists in plain memory; see arguments.h. */
#include "interpose/cuda/arguments.h"

#include "interpose/cuda/result.h"
#include "mm/doors/bulk.h"

#include <string.h>

CUresult cuda_arguments_fetch(void *to, const void *from, size_t bytes)
{
    hook_enter();
    int status = adsm_bulk_move(to, from, bytes);
    hook_leave();
    return cuda_result("reading the arguments of a launch", status);
}

/* params[i] points at the value of parameter i, as many as the kernel has.
 * Where nobody can tell how many these are, the list stays as it is. */
static CUresult resolve_params(struct cuda_arguments *a, void **params)
{
    const struct cuda_params *known = &a->known;
    CUresult result = CUDA_SUCCESS;
    a->params = params;
    if (!params)
        return CUDA_SUCCESS;
    bool copied = known->count && !hook_is_plain(params, sizeof *params);
    for (unsigned i = 0; i < known->count && !result; i++) {
        size_t offset = known->at[i].offset, bytes = known->at[i].bytes;
        void *value = params[i];
        if (!hook_is_plain(value, bytes) &&
            offset + bytes <= sizeof a->values) {
            result = cuda_arguments_fetch(a->values + offset, value, bytes);
            value = a->values + offset;
            copied = true;
        }
        a->copied_params[i] = value;
    }
    if (copied)
        a->params = a->copied_params;
    return result;
}

/* extra: pairs of a name and a pointer, up to CUDA_PARAM_END. */
static CUresult resolve_extra(struct cuda_arguments *a, void **extra)
{
    CUresult result = CUDA_SUCCESS;
    int i, place = -1;
    a->extra = extra;
    a->buffer = NULL;
    a->extra_bytes = 0;
    if (!extra)
        return CUDA_SUCCESS;
    for (i = 0; i + 2 < CUDA_EXTRA_MOST && extra[i] != CUDA_PARAM_END; i += 2) {
        a->copied_extra[i] = extra[i];
        a->copied_extra[i + 1] = extra[i + 1];
        if (extra[i] == CUDA_PARAM_BUFFER) {
            a->buffer = extra[i + 1];
            place = i + 1;
        } else if (extra[i] == CUDA_PARAM_SIZE) {
            a->extra_bytes = *(size_t *)extra[i + 1];
            a->copied_extra[i + 1] = &a->extra_bytes;
        }
    }
    a->copied_extra[i] = CUDA_PARAM_END;
    a->extra = a->copied_extra;
    if (a->buffer && !hook_is_plain(a->buffer, a->extra_bytes) &&
        a->extra_bytes <= sizeof a->values) {
        result = cuda_arguments_fetch(a->values, a->buffer, a->extra_bytes);
        a->buffer = a->copied_extra[place] = a->values;
    }
    return result;
}

CUresult cuda_arguments_resolve(struct cuda_arguments *a, CUfunction kernel,
                                void **params, void **extra)
{
    cuda_params_of(kernel, &a->known);
    CUresult result = resolve_params(a, params);
    return result ? result : resolve_extra(a, extra);
}

/* `bytes` of a parameter, that lie at `at` in the list of all. */
static const char *find(const struct cuda_arguments *a, unsigned param,
                        size_t offset, size_t at, size_t bytes)
{
    if (a->params)
        return param < ADSM_PARAMETERS_MOST ? (char *)a->params[param] + offset
                                            : NULL;
    return a->buffer && at + bytes <= a->extra_bytes ? a->buffer + at : NULL;
}

const char *cuda_arguments_at(const struct cuda_arguments *a,
                              const struct sc_place *place)
{
    return find(a, place->param, place->offset, place->at, sizeof(uint64_t));
}

size_t cuda_arguments_gather(const struct cuda_arguments *a, uint8_t *to,
                             size_t room)
{
    size_t end = 0;
    for (unsigned i = 0; i < a->known.count; i++) {
        size_t at = a->known.at[i].offset, bytes = a->known.at[i].bytes;
        const char *from = find(a, i, 0, at, bytes);
        if (!from || at + bytes > room)
            return 0;
        if (at > end)
            memset(to + end, 0, at - end);
        memcpy(to + at, from, bytes);
        end = at + bytes;
    }
    return end;
}
