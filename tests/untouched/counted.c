/*
 * Driver calls in loops: `counted N`, N calls of each kind.
 *
 * Printed for each kind, if not zero: "KIND driver NAME COUNT", calls that came
 * to the planted driver (tests/drivers/planted.h), and "KIND heap calls COUNT",
 * calls of malloc and its like by this thread, but not those that the driver
 * makes. trace.c adds what else happened between the marks. In the end "process
 * status NAME COUNT", threads and KiB of memory.
 */
#include "calls.h"
#include "marks.h"

#include "drivers/planted.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WARM = 300, EXPORTS_MOST = 2048 };

/* ---- the heap -------------------------------------------------------------- */

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *at, size_t bytes);
extern void *__libc_memalign(size_t align, size_t bytes);
extern void __libc_free(void *at);

static _Thread_local const volatile long *inside; /* set: this thread counts */
static unsigned long heap_calls;

static void count_heap(void)
{
    heap_calls += inside && *inside == 0;
}

PLANTED_EXPORT void *malloc(size_t bytes)
{
    count_heap();
    return __libc_malloc(bytes);
}

PLANTED_EXPORT void *calloc(size_t count, size_t bytes)
{
    count_heap();
    return __libc_calloc(count, bytes);
}

PLANTED_EXPORT void *realloc(void *at, size_t bytes)
{
    count_heap();
    return __libc_realloc(at, bytes);
}

PLANTED_EXPORT void *memalign(size_t align, size_t bytes)
{
    count_heap();
    return __libc_memalign(align, bytes);
}

PLANTED_EXPORT void *aligned_alloc(size_t align, size_t bytes)
{
    return memalign(align, bytes);
}

PLANTED_EXPORT int posix_memalign(void **at, size_t align, size_t bytes)
{
    *at = memalign(align, bytes);
    return *at ? 0 : ENOMEM;
}

PLANTED_EXPORT void free(void *at)
{
    count_heap();
    __libc_free(at);
}

/* ---- counting ------------------------------------------------------------------- */

/* No function of libc: those are hooked. */
static void mark(long which, const char *name, const volatile long *where)
{
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(which), "D"(name), "S"(where)
                     : "rcx", "r11", "memory");
#else
    (void)which, (void)name, (void)where;
    exit(77);
#endif
}

static unsigned long long before[EXPORTS_MOST];

static void note(void)
{
    const char *name;
    for (int i = 0; i < EXPORTS_MOST; i++)
        before[i] = plantedCount(i, &name);
    heap_calls = 0;
}

static void report(const char *kind)
{
    const char *name;
    unsigned long of_heap = heap_calls;
    for (int i = 0; i < EXPORTS_MOST; i++) {
        unsigned long long made = plantedCount(i, &name) - before[i];
        if (made)
            printf("%s driver %s %llu\n", kind, name, made);
    }
    if (of_heap)
        printf("%s heap calls %lu\n", kind, of_heap);
    fflush(stdout);
}

static void count(const char *kind, void (*call)(void), int times)
{
    for (int i = 0; i < WARM; i++)
        call();
    calls_wait();
    note();
    mark(MARK_BEGIN, kind, plantedInside());
    inside = plantedInside();
    for (int i = 0; i < times; i++)
        call();
    inside = NULL;
    mark(MARK_END, NULL, NULL);
    report(kind);
    calls_wait();
}

/* What the process has become. */
static void report_process(void)
{
    static const char *const names[] = {"VmSize", "VmRSS", "Threads"};
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (strncmp(line, names[i], strlen(names[i])) == 0)
                printf("process status %s %ld\n", names[i],
                       strtol(line + strlen(names[i]) + 1, NULL, 10));
    if (status)
        fclose(status);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    calls_prepare();
    for (const struct call *c = calls; c->name; c++)
        count(c->name, c->make, atoi(argv[1]));
    report_process();
    return 0;
}
