/*
 * What the driver says of itself, of its device, and of its entry points.
 */
#include "probe.h"

#include <dlfcn.h>
#include <stdio.h>

static void granularity(void)
{
    struct memory_prop memory = {.type = 1, .location = 1, .device = device};
    uint64_t least = 0, best = 0;
    ask("do pieces of memory that can be mapped divide 2 MiB?", "yes");
    if (DID("cuMemGetAllocationGranularity", P(&least), P(&memory), 0) &&
        DID("cuMemGetAllocationGranularity", P(&best), P(&memory), 1))
        answer_if(least && SPAN % least == 0, "minimum %zu, recommended %zu",
                  (size_t)least, (size_t)best);
}

void probe_driver(void)
{
    static const struct {
        int attribute;
        const char *question, *expected;
    } rows[] = {
        {75, "what is the capability's first number?", NULL},
        {76, "what is the capability's second number?", NULL},
        {41, "do host and device have one address space?", "1"},
        {102, "can memory be mapped to reserved addresses?", "1"},
        {99, "can host memory be registered?", "1"},
        {91, "are registered addresses the device's, too?", NULL},
        {88, "can the device access pageable memory?", NULL},
        {100, "does it do so by the CPU's page tables?", NULL},
        {89, "can both access managed memory at once?", NULL},
        {40, "how many copy engines are there?", NULL},
        {18, "does the device share the CPU's memory?", NULL},
    };
    char text[100] = "";
    int value = 0;
    ask("which version is the driver?", NULL);
    if (DID("cuDriverGetVersion", P(&value))) {
        snprintf(text, sizeof text, "%d.%d", value / 1000, value % 1000 / 10);
        answer(text, "%d", value);
    }
    ask("which device is it?", NULL);
    if (DID("cuDeviceGetName", P(text), sizeof text, (uint64_t)device))
        answer(text, "device %d", device);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ask(rows[i].question, rows[i].expected);
        if (!DID("cuDeviceGetAttribute", P(&value), (uint64_t)rows[i].attribute,
                 (uint64_t)device))
            continue;
        snprintf(text, sizeof text, "%d", value);
        answer(text, "attribute %d", rows[i].attribute);
    }
    granularity();
}

void probe_entries(void)
{
    static const struct {
        const char *name, *symbol;
        uint64_t flags; /* 2: the default stream is the thread's own */
    } rows[] = {
        {"cuMemAlloc", "cuMemAlloc_v2", 0},
        {"cuMemAlloc", "cuMemAlloc_v2", 2},
        {"cuMemFree", "cuMemFree_v2", 0},
        {"cuMemFree", "cuMemFree_v2", 2},
        {"cuLaunchKernel", "cuLaunchKernel", 0},
        {"cuLaunchKernel", "cuLaunchKernel_ptsz", 2},
        {"cuMemcpyHtoD", "cuMemcpyHtoD_v2", 0},
        {"cuMemcpyHtoD", "cuMemcpyHtoD_v2_ptds", 2},
    };
    char question[120];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(question, sizeof question,
                 "is cuGetProcAddress of %s, flags %d, the export %s?",
                 rows[i].name, (int)rows[i].flags, rows[i].symbol);
        ask(question, "yes");
        void *found = driver_procedure(rows[i].name, rows[i].flags);
        void *export = dlsym(driver, rows[i].symbol);
        answer_if(found && found == export, "%p, %p", found, export);
    }
}
