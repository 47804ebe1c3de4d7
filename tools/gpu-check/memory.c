/*
 * Host memory that is given to the driver, and what it costs.
 */
#include "probe.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PORTABLE = 1, MAPPED = 2, ATTACH_GLOBAL = 1 };

static bool copies_right(uint64_t memory, uint32_t *pages, size_t bytes)
{
    size_t wrong = 0;
    memset(pages, 0x5a, bytes);
    if (!DID("cuMemcpyHtoDAsync_v2", memory, P(pages), bytes, stream) ||
        !DID("cuStreamSynchronize", stream))
        return false;
    memset(pages, 0, bytes);
    if (!DID("cuMemcpyDtoHAsync_v2", P(pages), memory, bytes, stream) ||
        !DID("cuStreamSynchronize", stream))
        return false;
    for (size_t i = 0; i < bytes / 4; i++)
        wrong += pages[i] != 0x5a5a5a5a;
    return answer_if(wrong == 0, "%zu words are wrong", wrong);
}

/* Of a second mapping of the same file, and a kernel's access. */
static void register_second(int fd, size_t bytes)
{
    uint64_t seen = 0;
    uint32_t *pages =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (pages == MAP_FAILED ||
        !WORKS("can a second mapping of the file be registered, too?", NULL,
               "cuMemHostRegister_v2", P(pages), bytes, PORTABLE | MAPPED))
        return;
    ask("can a kernel work on it?", NULL);
    for (size_t i = 0; i < bytes / 4; i++)
        pages[i] = 5;
    if (DID("cuMemHostGetDevicePointer_v2", P(&seen), P(pages)) &&
        driver_kernel(seen, bytes))
        answer_if(pages[0] == 22 && pages[1] == 5, "host %p, device %#zx",
                  (void *)pages, (size_t)seen);
    (void)WORKS("can it be unregistered?", NULL, "cuMemHostUnregister",
                P(pages));
}

void probe_register(void)
{
    size_t bytes = 2 * SPAN;
    unsigned type = 0;
    uint64_t memory = 0;
    int fd;
    ask("is there memory of the device and of the host?", "yes");
    uint32_t *pages = file_memory(bytes, &fd);
    if (!pages || !DID("cuMemAlloc_v2", P(&memory), bytes) ||
        !WORKS("can a shared mapping of a file be registered?", "yes",
               "cuMemHostRegister_v2", P(pages), bytes, PORTABLE))
        return;
    ask("is it page-locked memory to the driver?", "yes");
    if (DID("cuPointerGetAttribute", P(&type), POINTER_MEMORY_TYPE, P(pages)))
        answer_if(type == 1, "type %u", type);
    ask("do asynchronous copies of it work both ways?", "yes");
    if (!copies_right(memory, pages, bytes))
        return;
    register_second(fd, bytes);
    (void)WORKS("can the mapping be unregistered?", "yes",
                "cuMemHostUnregister", P(pages));
}

/* A is the place, with 1s on the device and 2s on the host; B another. */
static void read_at(const char *symbol, const struct place *a, uint64_t b)
{
    uint32_t *back = calloc(1, SPAN);
    char question[80];
    snprintf(question, sizeof question, "what does %s(B, A) read?", symbol);
    ask(question, NULL);
    memset(back, 0x11, SPAN);
    memset(a->shadow, 0x22, SPAN);
    if (DID("cuMemcpyHtoD_v2", a->device, P(back), SPAN) &&
        DID(symbol, b, a->device, SPAN) &&
        DID("cuMemcpyDtoH_v2", P(back), b, SPAN))
        answer(back[9] == 0x11111111   ? "the device's memory"
               : back[9] == 0x22222222 ? "the CPU's pages"
                                       : "neither",
               "%#x", back[9]);
    free(back);
}

void probe_host_pointer(void)
{
    struct place a = {0};
    uint64_t b = 0;
    if (!place_overlay(&a, SPAN) || !DID("cuMemAlloc_v2", P(&b), SPAN))
        return;
    read_at("cuMemcpyHtoD_v2", &a, b);
    read_at("cuMemcpy", &a, b);
    ask("what does cuMemcpyDtoH_v2(A, B) write?", NULL);
    if (DID("cuMemcpyDtoH_v2", a.device, b, SPAN))
        answer(a.shadow[9] == 0x22222222 ? "the device's memory"
                                         : "the CPU's pages",
               "the pages have %#x", a.shadow[9]);
}

/* Faults in pages that were closed; the handler opens what is touched. */
static struct {
    uintptr_t begin, end;
    volatile int count, in_driver;
} faults;

/* Whether the driver is among those that wait for this access. */
static bool from_driver(void)
{
    Dl_info own, frame;
    void *frames[32];
    int n = backtrace(frames, 32);
    if (!dladdr(dlsym(driver, "cuMemcpyDtoH_v2"), &own))
        return false;
    while (n > 0)
        if (dladdr(frames[--n], &frame) && frame.dli_fbase == own.dli_fbase)
            return true;
    return false;
}

static void open_page(int signal, siginfo_t *info, void *context)
{
    uintptr_t at = P(info->si_addr);
    if (faults.count++ == 0)
        faults.in_driver = from_driver();
    if (at < faults.begin || at >= faults.end ||
        mprotect((void *)(at & ~(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE)) {
        struct sigaction plain = {.sa_handler = SIG_DFL};
        sigaction(signal, &plain, NULL);
    }
}

static bool close_pages(void *pages, size_t bytes)
{
    struct sigaction action = {.sa_sigaction = open_page,
                               .sa_flags = SA_SIGINFO};
    void *warm[1];
    (void)backtrace(warm, 1); /* loads what it needs */
    faults.begin = P(pages);
    faults.end = faults.begin + bytes;
    faults.count = 0;
    return sigaction(SIGSEGV, &action, NULL) == 0 &&
           mprotect(pages, bytes, PROT_NONE) == 0;
}

static void answer_faults(int result)
{
    const char *end = result == 0 ? "it works" : driver_error(result);
    if (faults.count == 0)
        answer(end, "without a fault");
    else
        answer(faults.in_driver ? "it faults in the driver"
                                : "it faults outside of the driver",
               "%d faults that open pages, then: %s", faults.count, end);
}

static void copy_closed(uint64_t memory, void *pages)
{
    ask("what does cuMemcpyHtoD do with PROT_NONE pages?", NULL);
    if (close_pages(pages, SPAN))
        answer_faults(CU("cuMemcpyHtoD_v2", memory, P(pages), SPAN));
    ask("what does cuMemcpyDtoH do with PROT_NONE pages?", NULL);
    if (close_pages(pages, SPAN))
        answer_faults(CU("cuMemcpyDtoH_v2", P(pages), memory, SPAN));
}

void probe_pageable(void)
{
    uint64_t memory = 0;
    int fd;
    ask("is there memory of the device and of the host?", "yes");
    void *pages = file_memory(SPAN, &fd);
    if (pages && DID("cuMemAlloc_v2", P(&memory), SPAN))
        copy_closed(memory, pages);
}

void probe_pageable_overlay(void)
{
    struct place a = {0};
    uint64_t b = 0;
    if (place_overlay(&a, SPAN) && DID("cuMemAlloc_v2", P(&b), SPAN))
        copy_closed(b, a.host);
}

void probe_managed(void)
{
    uint64_t at = 0;
    if (!WORKS("can managed memory be had?", NULL, "cuMemAllocManaged", P(&at),
               SPAN, ATTACH_GLOBAL))
        return;
    void *pages = (void *)(uintptr_t)at;
    ask("is it mapped on the host?", NULL);
    answer_if(msync(pages, PAGE, MS_ASYNC) == 0, "%p", pages);
    ask("can it be closed and opened by mprotect?", NULL);
    int closed = mprotect(pages, SPAN, PROT_NONE);
    int opened = mprotect(pages, SPAN, PROT_READ | PROT_WRITE);
    answer_if(closed == 0 && opened == 0, "%d, %d", closed, opened);
}

static void answer_number(double number, const char *detail)
{
    char text[32];
    snprintf(text, sizeof text, "%.3g", number);
    answer(text, "%s", detail);
}

/* The second of two copies. */
static void rate(const char *question, const char *symbol, uint64_t to,
                 uint64_t from, size_t bytes)
{
    double start = 0;
    ask(question, NULL);
    for (int i = 0; i < 2; i++) {
        start = now_ms();
        if (!DID(symbol, to, from, bytes, stream) ||
            !DID("cuStreamSynchronize", stream))
            return;
    }
    answer_number((double)bytes / (now_ms() - start) * 1e-6, "64 MiB");
}

void probe_timing(void)
{
    size_t bytes = 64 * MIB;
    uint64_t memory = 0;
    int fd;
    ask("how many us does a fault take that opens a page?", NULL);
    char *pages = file_memory(bytes, &fd);
    if (!pages)
        return;
    memset(pages, 1, bytes);
    if (!close_pages(pages, 1000 * PAGE))
        return;
    double start = now_ms();
    for (size_t i = 0; i < 1000; i++)
        pages[i * PAGE] = 2;
    answer_number(now_ms() - start, "SIGSEGV and mprotect, 1000 of them");
    ask("how many ms does it take to register 64 MiB?", NULL);
    start = now_ms();
    if (!DID("cuMemHostRegister_v2", P(pages), bytes, PORTABLE))
        return;
    answer_number(now_ms() - start, "pages that are there");
    ask("how many GB/s are copied to the device?", NULL);
    if (!DID("cuMemAlloc_v2", P(&memory), bytes))
        return;
    rate("how many GB/s are copied to the device?", "cuMemcpyHtoDAsync_v2",
         memory, P(pages), bytes);
    rate("how many GB/s are copied from the device?", "cuMemcpyDtoHAsync_v2",
         P(pages), memory, bytes);
}
