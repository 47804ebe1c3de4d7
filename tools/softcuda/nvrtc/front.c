/*
 * Owns: the entry points: all are passed on to NVIDIA's library, and a program
 * compiled for a device's machine code is compiled to PTX, which is handed out
 * as its machine code.
 * Does not own: finding that library (find.c).
 * Lock: `lock` for the list of such programs.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "nvrtc/nvrtc.h"

/* Programs whose machine code is PTX. */
struct translated {
    struct translated *next;
    nvrtcProgram program;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct translated *all;

/* By which other fronts are told from the real library. */
SC_NVRTC_API extern const char sc_nvrtc_is_a_front[];
const char sc_nvrtc_is_a_front[] = "softcuda";

/* Return from the calling entry point what the real one returns. */
#define PASS_ON(name, types, arguments)                                        \
    do {                                                                       \
        nvrtcResult(*real_) types = NULL;                                      \
        *(void **)&real_ = sc_nvrtc_real(#name);                               \
        return real_ ? real_ arguments : NVRTC_ERROR_INTERNAL_ERROR;           \
    } while (0)

#define SC_NVRTC(name, arguments, ...)                                         \
    SC_NVRTC_API nvrtcResult name(__VA_ARGS__);                                \
    nvrtcResult name(__VA_ARGS__)                                              \
    {                                                                          \
        PASS_ON(name, (__VA_ARGS__), arguments);                               \
    }
#include "nvrtc/entries.def"

SC_NVRTC_API const char *nvrtcGetErrorString(nvrtcResult result);
SC_NVRTC_API nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions,
                                             const char *const *options);
SC_NVRTC_API nvrtcResult nvrtcDestroyProgram(nvrtcProgram *prog);
SC_NVRTC_API nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *size);
SC_NVRTC_API nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin);

const char *nvrtcGetErrorString(nvrtcResult result)
{
    const char *(*real)(nvrtcResult) = NULL;
    *(void **)&real = sc_nvrtc_real("nvrtcGetErrorString");
    return real ? real(result) : "NVRTC_ERROR: there is no NVRTC";
}

static bool is_translated(nvrtcProgram program)
{
    pthread_mutex_lock(&lock);
    struct translated *t = all;
    while (t && t->program != program)
        t = t->next;
    pthread_mutex_unlock(&lock);
    return t != NULL;
}

static void forget(nvrtcProgram program)
{
    pthread_mutex_lock(&lock);
    struct translated **p = &all;
    while (*p && (*p)->program != program)
        p = &(*p)->next;
    struct translated *found = *p;
    if (found)
        *p = found->next;
    pthread_mutex_unlock(&lock);
    free(found);
}

static bool note(nvrtcProgram program)
{
    struct translated *t = malloc(sizeof *t);
    if (!t)
        return false;
    pthread_mutex_lock(&lock);
    *t = (struct translated){all, program};
    all = t;
    pthread_mutex_unlock(&lock);
    return true;
}

static nvrtcResult compile(nvrtcProgram prog, int count,
                           const char *const *options)
{
    PASS_ON(nvrtcCompileProgram, (nvrtcProgram, int, const char *const *),
            (prog, count, options));
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions,
                                const char *const *options)
{
    bool changed;
    forget(prog); /* it may be compiled a second time */
    if (numOptions <= 0 || !options)
        return compile(prog, numOptions, options);
    char **list = sc_nvrtc_options(numOptions, options, &changed);
    if (!list || (changed && !note(prog))) {
        sc_nvrtc_options_free(list ? numOptions : 0, list);
        return NVRTC_ERROR_OUT_OF_MEMORY;
    }
    nvrtcResult result = compile(prog, numOptions, (const char *const *)list);
    sc_nvrtc_options_free(numOptions, list);
    return result;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *prog)
{
    if (prog)
        forget(*prog);
    PASS_ON(nvrtcDestroyProgram, (nvrtcProgram *), (prog));
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *size)
{
    if (is_translated(prog))
        return nvrtcGetPTXSize(prog, size);
    PASS_ON(nvrtcGetCUBINSize, (nvrtcProgram, size_t *), (prog, size));
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin)
{
    if (is_translated(prog))
        return nvrtcGetPTX(prog, cubin);
    PASS_ON(nvrtcGetCUBIN, (nvrtcProgram, char *), (prog, cubin));
}
