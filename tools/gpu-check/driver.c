/*
 * The driver: found by name, its entry points as it gives them itself.
 */
#include "probe.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Each thread has a page, so that the test is cheap where it is interpreted. */
static const char kernel_text[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry touch(.param .u64 at, .param .u32 pages)\n{\n"
    " .reg .pred %p;\n .reg .b32 %r<6>;\n .reg .b64 %d<4>;\n"
    " ld.param.u64 %d1, [at];\n ld.param.u32 %r1, [pages];\n"
    " mov.u32 %r2, %ctaid.x;\n mov.u32 %r3, %ntid.x;\n"
    " mov.u32 %r4, %tid.x;\n mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    " setp.ge.u32 %p, %r5, %r1;\n @%p bra END;\n"
    " cvta.to.global.u64 %d1, %d1;\n mul.wide.u32 %d2, %r5, 4096;\n"
    " add.s64 %d3, %d1, %d2;\n ld.global.u32 %r1, [%d3];\n"
    " mad.lo.u32 %r1, %r1, 3, 7;\n st.global.u32 [%d3], %r1;\n"
    "END:\n ret;\n}\n";

enum { NO_SUCH_CALL = -1, CUDA_12 = 12000, NON_BLOCKING = 1 };

int device;
uint64_t stream;
void *driver;

void *driver_procedure(const char *name, uint64_t flags)
{
    int (*get)(const char *, void **, int, uint64_t, int *);
    void *found = NULL;
    int how = 0;
    *(void **)&get = dlsym(driver, "cuGetProcAddress_v2");
    if (!get || get(name, &found, CUDA_12, flags, &how) != 0)
        return NULL;
    return found;
}

int driver_call(const char *symbol, const uint64_t *w)
{
    typedef uint64_t u;
    int (*call)(u, u, u, u, u, u, u, u, u, u, u);
    char name[64];
    snprintf(name, sizeof name, "%s", symbol);
    char *version = strstr(name, "_v2"); /* which cuGetProcAddress chooses */
    if (version)
        *version = '\0';
    *(void **)&call = driver_procedure(name, 0);
    if (!call)
        *(void **)&call = dlsym(driver, symbol);
    return call ? call(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8],
                       w[9], w[10])
                : NO_SUCH_CALL;
}

const char *driver_error(int result)
{
    static char text[64];
    const char *name = NULL;
    if (result == NO_SUCH_CALL)
        return "the driver has no such call";
    if (CU("cuGetErrorName", (uint64_t)result, P(&name)) == 0 && name)
        return name;
    snprintf(text, sizeof text, "error %d", result);
    return text;
}

const char *driver_open(void)
{
    static char text[128];
    const char *step;
    int count = 0, result;
    void *context;
    driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver)
        return dlerror();
    result = CU(step = "cuInit", 0);
    if (result == 0)
        result = CU(step = "cuDeviceGetCount", P(&count));
    if (result == 0 && count < 1)
        return "the driver finds no device";
    if (result == 0)
        result = CU(step = "cuDeviceGet", P(&device), 0);
    if (result == 0)
        result = CU(step = "cuDevicePrimaryCtxRetain", P(&context),
                    (uint64_t)device);
    if (result == 0)
        result = CU(step = "cuCtxSetCurrent", P(context));
    if (result == 0)
        result = CU(step = "cuStreamCreate", P(&stream), NON_BLOCKING);
    snprintf(text, sizeof text, "%s: %s", step,
             result ? driver_error(result) : "");
    return result == 0 ? NULL : text;
}

bool driver_kernel(uint64_t at, size_t bytes)
{
    static uint64_t module, kernel;
    uint32_t pages = (uint32_t)(bytes / PAGE);
    void *arguments[] = {&at, &pages};
    if (!kernel &&
        (!DID("cuModuleLoadData", P(&module), P(kernel_text)) ||
         !DID("cuModuleGetFunction", P(&kernel), module, P("touch"))))
        return false;
    return DID("cuLaunchKernel", kernel, (pages + 255) / 256, 1, 1, 256, 1, 1,
               0, 0, P(arguments)) &&
           DID("cuCtxSynchronize", 0);
}
