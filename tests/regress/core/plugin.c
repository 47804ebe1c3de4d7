/* What test_unload.c loads: a computation that leaves all it has made behind. */
#include "adsm.h"
#include "mm/kernels.h"

#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

enum { N = 50000 };

__attribute__((visibility("default"))) int plugin_run(void);

static _Atomic int told;

static void then(void *unused, adsmStatus status)
{
    (void)unused;
    atomic_store(&told, status == ADSM_OK ? 1 : -1);
}

int plugin_run(void)
{
    static const struct timespec moment = {0, 1000000};
    adsmModule *module;
    adsmKernel *inc;
    if (adsmModuleLoad(&module, kernels_ptx, sizeof kernels_ptx - 1) ||
        adsmKernelGet(&inc, module, "inc", ADSM_ONLY_ARGUMENTS))
        return 1;
    uint8_t *p = adsmAlloc(N);
    for (int i = 0; p && i < N; i++)
        p[i] = (uint8_t)i;
    if (!p || adsmCallWith(adsmWith(.devices = ADSM_ALL_DEVICES, .then = then),
                           inc, adsmR1(N), adsmInOut(p)))
        return 2;
    for (int i = 0; i < N; i++)
        if (p[i] != (uint8_t)(i + 1))
            return 3;
    while (!atomic_load(&told)) /* it is called from here no more */
        nanosleep(&moment, NULL);
    return told == 1 ? 0 : 4;
}
