/* Argument lists of CUDA's launches; see arguments.h. */
#include "interpose/cuda/arguments.h"

#include "base/status.h"
#include "interpose/cuda/params.h"
#include "interpose/cuda/result.h"

static CUresult answer(int status)
{
    return cuda_result("reading the arguments of a launch", status);
}

CUresult cuda_arguments_fetch(void *to, const void *from, size_t bytes)
{
    return answer(device_arguments_fetch(to, from, bytes));
}

/* extra: pairs of a name and a pointer, up to CUDA_PARAM_END. */
static int resolve_extra(struct cuda_arguments *a, void **extra)
{
    struct device_arguments *list = &a->list;
    int i, place = -1;
    a->extra = extra;
    list->buffer = NULL;
    list->bytes = 0;
    if (!extra)
        return ADSM_OK;
    for (i = 0; i + 2 < CUDA_EXTRA_MOST && extra[i] != CUDA_PARAM_END; i += 2) {
        a->copied_extra[i] = extra[i];
        a->copied_extra[i + 1] = extra[i + 1];
        if (extra[i] == CUDA_PARAM_BUFFER) {
            list->buffer = extra[i + 1];
            place = i + 1;
        } else if (extra[i] == CUDA_PARAM_SIZE) {
            list->bytes = *(size_t *)extra[i + 1];
            a->copied_extra[i + 1] = &list->bytes;
        }
    }
    a->copied_extra[i] = CUDA_PARAM_END;
    a->extra = a->copied_extra;
    int status = device_arguments_buffer(list, list->buffer, list->bytes);
    if (list->buffer)
        a->copied_extra[place] = (void *)list->buffer;
    return status;
}

CUresult cuda_arguments_resolve(struct cuda_arguments *a, CUfunction kernel,
                                void **params, void **extra)
{
    a->age = cuda_params_age();
    cuda_params_of(kernel, &a->list.known);
    int status = device_arguments_list(&a->list, params);
    a->params = a->list.params;
    return answer(status ? status : resolve_extra(a, extra));
}
