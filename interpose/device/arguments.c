/* Argument lists in plain memory; see arguments.h. */
#include "interpose/device/arguments.h"

#include "base/status.h"
#include "interpose/hook.h"
#include "mm/doors/bulk.h"

#include <string.h>

int device_arguments_fetch(void *to, const void *from, size_t bytes)
{
    hook_enter();
    int status = adsm_bulk_move(to, from, bytes);
    hook_leave();
    return status;
}

int device_arguments_list(struct device_arguments *a, void **params)
{
    const struct device_params *known = &a->known;
    int status = ADSM_OK;
    a->params = params;
    if (!params)
        return ADSM_OK;
    bool copied = known->count && !hook_is_apart(params, sizeof *params);
    for (unsigned i = 0; i < known->count && !status; i++) {
        size_t offset = known->at[i].offset, bytes = known->at[i].bytes;
        void *value = params[i];
        if (!hook_is_apart(value, bytes) &&
            offset + bytes <= sizeof a->values) {
            status = device_arguments_fetch(a->values + offset, value, bytes);
            value = a->values + offset;
            copied = true;
        }
        a->copied_params[i] = value;
    }
    if (copied)
        a->params = a->copied_params;
    return status;
}

int device_arguments_buffer(struct device_arguments *a, const void *buffer,
                            size_t bytes)
{
    a->buffer = buffer;
    a->bytes = bytes;
    if (!buffer || hook_is_apart(buffer, bytes) || bytes > sizeof a->values)
        return ADSM_OK;
    a->buffer = a->values;
    return device_arguments_fetch(a->values, buffer, bytes);
}

/* `bytes` of a parameter, that lie at `at` in the list of all. */
static const char *find(const struct device_arguments *a, unsigned param,
                        size_t offset, size_t at, size_t bytes)
{
    if (a->params)
        return param < ADSM_PARAMETERS_MOST ? (char *)a->params[param] + offset
                                            : NULL;
    return a->buffer && at + bytes <= a->bytes ? a->buffer + at : NULL;
}

const char *device_arguments_at(const struct device_arguments *a,
                                const struct sc_place *place)
{
    return find(a, place->param, place->offset, place->at, sizeof(uint64_t));
}

/* Most are pointers and numbers, and need no call. */
static void copy_value(uint8_t *to, const char *from, size_t bytes)
{
    if (bytes == sizeof(uint64_t))
        memcpy(to, from, sizeof(uint64_t));
    else if (bytes == sizeof(uint32_t))
        memcpy(to, from, sizeof(uint32_t));
    else
        memcpy(to, from, bytes);
}

size_t device_arguments_gather(const struct device_arguments *a, uint8_t *to,
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
        copy_value(to + at, from, bytes);
        end = at + bytes;
    }
    return end;
}
