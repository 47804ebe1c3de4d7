/* Sets, launches and waits, noted; see cuda_parts.h. */
#include "interpose/cuda/arguments.h"
#include "interpose/cuda/module.h"
#include "interpose/report/cuda_parts.h"

#include <string.h>

/* ---- sets --------------------------------------------------------------------- */

static CUresult was_set(struct report_call *call, CUresult result,
                        CUdeviceptr to, size_t bytes, bool dense,
                        CUstream stream, bool per_thread)
{
    if (result == CUDA_SUCCESS && bytes)
        report_set(call, to, bytes, dense,
                   report_stream_of(stream, per_thread));
    report_leave();
    return result;
}

#define SET(name, params, args, bytes, dense, stream, per_thread)              \
    CUresult report_noted_##name params                                        \
    {                                                                          \
        struct report_call call;                                               \
        if (!report_enter_stream(&call, stream))                               \
            return report_driver.name args;                                    \
        return was_set(&call, REPORT_CALL(&call, name, args), to, bytes,       \
                       dense, stream, per_thread);                             \
    }

/* The forms of a set of `type` values. */
#define SET_LINE(bits, type)                                                   \
    SET(cuMemsetD##bits##_v2, (CUdeviceptr to, type value, size_t count),      \
        (to, value, count), count * sizeof value, true, NULL, false)           \
    SET(cuMemsetD##bits##_v2_ptds, (CUdeviceptr to, type value, size_t count), \
        (to, value, count), count * sizeof value, true,                        \
        CUDA_STREAM_PER_THREAD, true)                                          \
    SET(cuMemsetD##bits##Async,                                                \
        (CUdeviceptr to, type value, size_t count, CUstream stream),           \
        (to, value, count, stream), count * sizeof value, true, stream, false) \
    SET(cuMemsetD##bits##Async_ptsz,                                           \
        (CUdeviceptr to, type value, size_t count, CUstream stream),           \
        (to, value, count, stream), count * sizeof value, true, stream, true)

#define SPAN  (count && height ? (height - 1) * pitch + count * sizeof value : 0)
#define DENSE (height == 1 || pitch == count * sizeof value)
#define SET_ROWS(bits, type)                                                   \
    SET(cuMemsetD2D##bits##_v2,                                                \
        (CUdeviceptr to, size_t pitch, type value, size_t count,               \
         size_t height),                                                       \
        (to, pitch, value, count, height), SPAN, DENSE, NULL, false)           \
    SET(cuMemsetD2D##bits##_v2_ptds,                                           \
        (CUdeviceptr to, size_t pitch, type value, size_t count,               \
         size_t height),                                                       \
        (to, pitch, value, count, height), SPAN, DENSE,                        \
        CUDA_STREAM_PER_THREAD, true)                                          \
    SET(cuMemsetD2D##bits##Async,                                              \
        (CUdeviceptr to, size_t pitch, type value, size_t count,               \
         size_t height, CUstream stream),                                      \
        (to, pitch, value, count, height, stream), SPAN, DENSE, stream, false) \
    SET(cuMemsetD2D##bits##Async_ptsz,                                         \
        (CUdeviceptr to, size_t pitch, type value, size_t count,               \
         size_t height, CUstream stream),                                      \
        (to, pitch, value, count, height, stream), SPAN, DENSE, stream, true)

SET_LINE(8, unsigned char)
SET_LINE(16, unsigned short)
SET_LINE(32, unsigned)
SET_ROWS(8, unsigned char)
SET_ROWS(16, unsigned short)
SET_ROWS(32, unsigned)

/* ---- what a kernel touches -------------------------------------------------------- */

enum { USES_MOST = SC_RANGES_MOST + SC_PLACES_MOST };

struct uses {
    struct report_use at[USES_MOST];
    unsigned count;
};

static bool add(struct uses *uses, struct report_use use)
{
    if (uses->count == USES_MOST)
        return false;
    uses->at[uses->count++] = use;
    return true;
}

/* All that the arguments in these places point into. Return: false: nobody knows
 * where they point */
static bool add_places(struct uses *uses, const struct device_arguments *a,
                       const struct sc_reach *reach, uint32_t places,
                       bool reads, uint32_t writes)
{
    for (unsigned i = 0; i < reach->place_count; i++) {
        uint64_t value;
        if (!(places >> i & 1))
            continue;
        const char *from = device_arguments_at(a, &reach->place[i]);
        if (!from)
            return false;
        memcpy(&value, from, sizeof value);
        if (!add(uses, (struct report_use){.first = value,
                                           .last = value,
                                           .reads = reads,
                                           .writes = writes >> i & 1,
                                           .whole = true}))
            return false;
    }
    return true;
}

static bool add_ranges(struct uses *uses, const struct device_arguments *a,
                       const struct sc_reach *reach,
                       const struct sc_touched *touched)
{
    for (unsigned i = 0; i < touched->count; i++) {
        const struct sc_range *r = &touched->range[i];
        bool added = r->known
                         ? add(uses, (struct report_use){.first = r->first,
                                                         .last = r->last,
                                                         .reads = r->reads,
                                                         .writes = r->writes})
                         : add_places(uses, a, reach, r->places, r->reads,
                                      r->writes ? r->places : 0);
        if (!added)
            return false;
    }
    return true;
}

static bool find_uses(struct uses *uses, struct adsm_code *code,
                      const struct sc_geometry *geometry,
                      const struct device_arguments *a)
{
    uint8_t params[DEVICE_ARGUMENT_BYTES_MOST];
    struct sc_touched touched;
    const struct sc_reach *reach = code ? adsm_code_reach(code) : NULL;
    if (!reach || reach->reaches_anywhere)
        return false;
    size_t bytes = device_arguments_gather(a, params, sizeof params);
    if (bytes && adsm_code_touched(code, geometry, params, bytes, &touched))
        return add_ranges(uses, a, reach, &touched);
    return add_places(uses, a, reach, reach->reached, true, reach->written);
}

/* What this launch touches. Return: how many uses; -1: nobody knows */
static int uses_of(struct uses *uses, CUfunction kernel,
                   const struct sc_geometry *geometry, void **params,
                   void **extra)
{
    struct cuda_arguments arguments;
    uses->count = 0;
    if (cuda_arguments_resolve(&arguments, kernel, params, extra))
        return -1;
    struct adsm_code *code = cuda_module_hold(kernel);
    bool known = find_uses(uses, code, geometry, &arguments.list);
    cuda_module_release(code);
    return known ? (int)uses->count : -1;
}

static CUresult launched(struct report_call *call, CUresult result,
                         CUfunction kernel, const struct sc_geometry *geometry,
                         void **params, void **extra,
                         struct report_stream stream)
{
    struct uses uses;
    if (result == CUDA_SUCCESS) {
        int count = uses_of(&uses, kernel, geometry, params, extra);
        report_launched(call, uses.at, count, stream);
    }
    report_leave();
    return result;
}

#define GEOMETRY                                                               \
    &(const struct sc_geometry)                                                \
    {                                                                          \
        .grid = {gx, gy, gz}, .block = { bx, by, bz }                          \
    }
#define GRID                                                                   \
    CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,     \
        unsigned by, unsigned bz, unsigned shared, CUstream stream
#define LAUNCH(name, per_thread, params_, args, extra)                         \
    CUresult report_noted_##name params_                                       \
    {                                                                          \
        struct report_call call;                                               \
        if (!report_enter_stream(&call, stream))                               \
            return report_driver.name args;                                    \
        return launched(&call, REPORT_CALL(&call, name, args), kernel,         \
                        GEOMETRY, params, extra,                               \
                        report_stream_of(stream, per_thread));                 \
    }

LAUNCH(cuLaunchKernel, false, (GRID, void **params, void **extra),
       (kernel, gx, gy, gz, bx, by, bz, shared, stream, params, extra), extra)
LAUNCH(cuLaunchKernel_ptsz, true, (GRID, void **params, void **extra),
       (kernel, gx, gy, gz, bx, by, bz, shared, stream, params, extra), extra)
LAUNCH(cuLaunchCooperativeKernel, false, (GRID, void **params),
       (kernel, gx, gy, gz, bx, by, bz, shared, stream, params), NULL)
LAUNCH(cuLaunchCooperativeKernel_ptsz, true, (GRID, void **params),
       (kernel, gx, gy, gz, bx, by, bz, shared, stream, params), NULL)

#define LAUNCH_EX(name, per_thread)                                            \
    CUresult report_noted_##name(const struct cuda_launch *how,                \
                                 CUfunction kernel, void **params,             \
                                 void **extra)                                 \
    {                                                                          \
        struct report_call call;                                               \
        if (!how || !report_enter_stream(&call, how->stream))                  \
            return report_driver.name(how, kernel, params, extra);             \
        struct sc_geometry geometry = {                                        \
            .grid = {how->grid[0], how->grid[1], how->grid[2]},                \
            .block = {how->block[0], how->block[1], how->block[2]}};           \
        return launched(                                                       \
            &call, REPORT_CALL(&call, name, (how, kernel, params, extra)),     \
            kernel, &geometry, params, extra,                                  \
            report_stream_of(how->stream, per_thread));                        \
    }
LAUNCH_EX(cuLaunchKernelEx, false)
LAUNCH_EX(cuLaunchKernelEx_ptsz, true)

/* ---- waits ---------------------------------------------------------------------- */

#define WAIT(name, params, args, stream_, all)                                 \
    CUresult report_noted_##name params                                        \
    {                                                                          \
        struct report_call call;                                               \
        if (!report_enter(&call))                                              \
            return report_driver.name args;                                    \
        struct report_stream of = stream_;                                     \
        bool needless = report_is_needless(of, all);                           \
        CUresult result = REPORT_CALL(&call, name, args);                      \
        if (result == CUDA_SUCCESS)                                            \
            report_waited(&call, of, all, needless);                           \
        report_leave();                                                        \
        return result;                                                         \
    }

static struct report_stream all_of(CUcontext context)
{
    struct report_stream of = report_stream_of(NULL, false);
    if (context)
        of.context = context;
    return of;
}

WAIT(cuCtxSynchronize, (void), (), all_of(NULL), true)
WAIT(cuCtxSynchronize_v2, (CUcontext context), (context), all_of(context), true)
WAIT(cuStreamSynchronize, (CUstream stream), (stream),
     report_stream_of(stream, false), false)
WAIT(cuStreamSynchronize_ptsz, (CUstream stream), (stream),
     report_stream_of(stream, true), false)

/* Which streams' work an event is behind is not followed. */
#define LOOK(name, params, args)                                               \
    CUresult report_noted_##name params                                        \
    {                                                                          \
        struct report_call call;                                               \
        if (!report_enter(&call))                                              \
            return report_driver.name args;                                    \
        CUresult result = report_driver.name args;                             \
        report_looked();                                                       \
        report_leave();                                                        \
        return result;                                                         \
    }
LOOK(cuEventSynchronize, (CUevent event), (event))
LOOK(cuEventQuery, (CUevent event), (event))
LOOK(cuStreamQuery, (CUstream stream), (stream))
LOOK(cuStreamQuery_ptsz, (CUstream stream), (stream))
