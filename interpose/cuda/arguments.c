/* Argument lists in plain memory; see arguments.h. */
#include "interpose/cuda/arguments.h"

#include "interpose/cuda/result.h"
#include "mm/doors/bulk.h"

CUresult cuda_arguments_fetch(void *to, const void *from, size_t bytes)
{
    hook_enter();
    int status = adsm_bulk_move(to, from, bytes);
    hook_leave();
    return cuda_result("reading the arguments of a launch", status);
}

/* params[i] points at the value of parameter i, as many as the kernel has.
 * Where nobody can tell how many these are, the list stays as it is. */
static CUresult resolve_params(struct cuda_arguments *a, CUfunction kernel,
                               void **params)
{
    struct cuda_params known;
    CUresult result = CUDA_SUCCESS;
    a->params = params;
    if (!params)
        return CUDA_SUCCESS;
    cuda_params_of(kernel, &known);
    bool copied = known.count && !hook_is_plain(params, sizeof *params);
    for (unsigned i = 0; i < known.count && !result; i++) {
        size_t offset = known.at[i].offset, bytes = known.at[i].bytes;
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
    const void *buffer = NULL;
    int i, place = -1;
    a->extra = extra;
    a->extra_bytes = 0;
    if (!extra)
        return CUDA_SUCCESS;
    for (i = 0; i + 2 < CUDA_EXTRA_MOST && extra[i] != CUDA_PARAM_END; i += 2) {
        a->copied_extra[i] = extra[i];
        a->copied_extra[i + 1] = extra[i + 1];
        if (extra[i] == CUDA_PARAM_BUFFER) {
            buffer = extra[i + 1];
            place = i + 1;
        } else if (extra[i] == CUDA_PARAM_SIZE) {
            a->extra_bytes = *(size_t *)extra[i + 1];
            a->copied_extra[i + 1] = &a->extra_bytes;
        }
    }
    a->copied_extra[i] = CUDA_PARAM_END;
    a->extra = a->copied_extra;
    if (buffer && !hook_is_plain(buffer, a->extra_bytes) &&
        a->extra_bytes <= sizeof a->values) {
        result = cuda_arguments_fetch(a->values, buffer, a->extra_bytes);
        a->copied_extra[place] = a->values;
    }
    return result;
}

CUresult cuda_arguments_resolve(struct cuda_arguments *a, CUfunction kernel,
                                void **params, void **extra)
{
    CUresult result = resolve_params(a, kernel, params);
    return result ? result : resolve_extra(a, extra);
}

const char *cuda_arguments_at(const struct cuda_arguments *a,
                              const struct sc_place *place)
{
    if (a->params)
        return place->param < CUDA_PARAMS_MOST
                   ? (char *)a->params[place->param] + place->offset
                   : NULL;
    for (int i = 0; a->extra && a->extra[i] != CUDA_PARAM_END; i += 2)
        if (a->extra[i] == CUDA_PARAM_BUFFER &&
            place->at + sizeof(uint64_t) <= a->extra_bytes)
            return (char *)a->extra[i + 1] + place->at;
    return NULL;
}
