/* Which functions stand before which; see cuda_parts.h. */
#include "interpose/cuda/capture.h"
#include "interpose/cuda/driver.h"
#include "interpose/report/cuda_parts.h"

struct hook_real report_driver;

static const struct {
    void **slot, **driver;
    void *noted;
} rows[] = {
#define NOTE(name)                                                             \
    {(void **)&hook_real.name, (void **)&report_driver.name,                   \
     (void *)report_noted_##name},
#include "interpose/report/noted.def"
#undef NOTE
};

enum { ROWS = sizeof rows / sizeof *rows };

static void *before(void **slot, void *found)
{
    if (!found || !report_is_wanted())
        return found;
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].slot == slot && found != rows[i].noted) {
            *rows[i].driver = found;
            return rows[i].noted;
        }
    return found;
}

static void *standing(void *found)
{
    for (size_t i = 0; found && i < ROWS; i++)
        if (*rows[i].driver == found)
            return rows[i].noted;
    return found;
}

void *(*const cuda_before)(void **slot, void *found) = before;
void *(*const cuda_standing)(void *found) = standing;

struct report_stream report_stream_of(CUstream stream, bool per_thread)
{
    static _Thread_local char mine;
    if (per_thread && !stream)
        stream = CUDA_STREAM_PER_THREAD;
    if (stream == CUDA_STREAM_LEGACY)
        stream = NULL;
    return (struct report_stream){cuda_driver_context(), stream,
                                  stream == CUDA_STREAM_PER_THREAD ? &mine
                                                                   : NULL};
}

bool report_enter_stream(struct report_call *call, CUstream stream)
{
    return !(cuda_captures_now() && cuda_is_capturing(stream)) &&
           report_enter(call);
}
