/*
 * Owns: the entry points of forward.def and per_thread.def.
 */
#include "cudart/host_runtime.h"
#include "cudart/rt.h"

cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t start,
                                    cudaEvent_t end);

#define SC_RT_FORWARD(name, call, ...)                                         \
    SC_RT name(__VA_ARGS__)                                                    \
    {                                                                          \
        SC_RT_BEGIN(sc_rt_enter());                                            \
        return sc_rt_done(SC_RT_DRIVER(call));                                 \
    }
#define SC_RT_INIT(name, call, ...)                                            \
    SC_RT name(__VA_ARGS__)                                                    \
    {                                                                          \
        SC_RT_BEGIN(sc_rt_init());                                             \
        return sc_rt_done(SC_RT_DRIVER(call));                                 \
    }
#include "cudart/forward.def"

#define OWN(stream) sc_rt_own(stream)
#define SC_RT_PER_THREAD(name, arguments, ...)                                 \
    SC_RT name##_ptsz(__VA_ARGS__);                                            \
    SC_RT name##_ptsz(__VA_ARGS__)                                             \
    {                                                                          \
        return name arguments;                                                 \
    }
#include "cudart/per_thread.def"
