/*
 * What the mm suites share: the runtime up, the byte kernels at hand. Skips
 * the suite when no driver is to be found.
 */
#ifndef TESTS_MM_FIXTURE_H
#define TESTS_MM_FIXTURE_H

#include "common/must_api.h"
#include "init.h"
#include "kernels.h"
#include "mm/object/host.h"
#include "mm/object/index.h"
#include "os/fault_range.h"

#include <stdio.h>
#include <unistd.h>

struct fixture {
    adsmModule *module;
    adsmKernel *mix, *fill, *mix_only, *fill_only, *inc;
};

static inline struct fixture fixture_up(void)
{
    struct fixture f;
    must(adsm_init());
    must(adsmModuleLoad(&f.module, kernels_ptx, sizeof kernels_ptx - 1));
    must(adsmKernelGet(&f.mix, f.module, "mix", ADSM_ANY_OBJECT));
    must(adsmKernelGet(&f.fill, f.module, "fill", ADSM_ANY_OBJECT));
    must(adsmKernelGet(&f.mix_only, f.module, "mix", ADSM_ONLY_ARGUMENTS));
    must(adsmKernelGet(&f.fill_only, f.module, "fill", ADSM_ONLY_ARGUMENTS));
    must(adsmKernelGet(&f.inc, f.module, "inc", ADSM_ONLY_ARGUMENTS));
    return f;
}

/** p[i] = i * 7 + seed on the device, for n bytes. */
static inline void device_fill(adsmKernel *fill, uint8_t *p, uint32_t n,
                               uint32_t seed)
{
    must(adsmLaunch(fill, adsmDim1((n + 255) / 256), adsmDim1(256), 0,
                    adsmInOut(p), adsmVal(n), adsmVal(seed)));
}

/** The host has nothing of it: no page, nor a mapping where none is needed. */
static inline void must_have_no_pages(const void *p)
{
    struct adsm_object *object = adsm_index_find(p);
    ck_assert(!adsm_object_has_pages(object));
    ck_assert(atomic_load(&object->backed) == adsm_fault_range_is_lasting());
}

static inline uint8_t filled(uint32_t i, uint32_t seed)
{
    return (uint8_t)(i * 7 + seed);
}

/** Kill the device processes of this program, which are not its children: their
 * second argument is its number. Returns how many there were. */
static inline int kill_children(void)
{
    char command[128];
    snprintf(command, sizeof command,
             "pkill -KILL -c -f '^softcuda-device [0-9]+ %d '", (int)getpid());
    FILE *pipe = popen(command, "r");
    int killed = 0;
    if (!pipe || fscanf(pipe, "%d", &killed) != 1)
        killed = 0;
    if (pipe)
        pclose(pipe);
    return killed;
}

#endif
