/*
 * A program that uses GNU libsigsegv itself: areas of its own that it opens
 * when they are touched, a handler for what is in none, recovery from a stack
 * overflow; installed, removed and installed again around the use of the
 * memory under test. See memory.h for the command line.
 */
#include "memory.h"

#include <setjmp.h>
#include <sigsegv.h>
#include <unistd.h>

enum { BYTES = 1 << 20, PAGES = 64, PAGE = 4096, EXTRA = 64 << 10 };

static uint8_t *memory, *areas[2], *hole;
static sigsegv_dispatcher dispatcher;
static void *tickets[2];
static volatile int opened[2], outside, overflows, serious_ones;
static sigjmp_buf back;
static char extra[EXTRA];

static int open_area(void *address, void *which)
{
    int i = which == areas[1];
    opened[i]++;
    void *page = (void *)((uintptr_t)address & ~(uintptr_t)(PAGE - 1));
    return mprotect(page, PAGE, PROT_READ | PROT_WRITE) == 0;
}

static void leave(void *value, void *unused2, void *unused3)
{
    (void)unused2;
    (void)unused3;
    siglongjmp(back, (int)(intptr_t)value);
}

static int on_fault(void *address, int serious)
{
    if (sigsegv_dispatch(&dispatcher, address))
        return 1;
    serious_ones += serious;
    if ((uint8_t *)address != hole + 5)
        return 0;
    outside++;
    return sigsegv_leave_handler(leave, (void *)1, NULL, NULL);
}

static void on_overflow(int emergency, stackoverflow_context_t context)
{
    (void)context;
    overflows += 1 + 100 * (emergency != 0);
    sigsegv_leave_handler(leave, (void *)2, NULL, NULL);
}

static void use_memory(const char *name)
{
    unsigned sum = 0;
    for (size_t i = 0; i < BYTES; i += PAGE)
        sum += ((volatile uint8_t *)memory)[i]++;
    printf("%s: %u\n", name, sum);
}

static void fresh(uint8_t value)
{
    memory_fill(memory, BYTES, value, MEMORY_DEVICE);
}

static void use_areas(const char *name)
{
    opened[0] = opened[1] = outside = 0;
    for (int i = 0; i < 2; i++) {
        mprotect(areas[i], PAGES * PAGE, PROT_NONE);
        for (size_t at = 0; at < PAGES * PAGE; at += 2 * PAGE) {
            ((volatile uint8_t *)areas[i])[at] = 7;
            memory[at] = areas[i][at];
        }
    }
    if (sigsetjmp(back, 1) == 0)
        ((volatile uint8_t *)hole)[5] = 1;
    printf("%s: %d and %d opened, %d outside\n", name, opened[0], opened[1],
           outside);
}

static int __attribute__((noinline)) dive(volatile int *depth)
{
    volatile char frame[1024];
    frame[0] = (char)++*depth;
    return *depth < 0 ? 0 : dive(depth) + frame[0];
}

static void overflow(const char *name)
{
    volatile int depth = 0;
    int how = sigsetjmp(back, 1);
    if (how == 0)
        dive(&depth);
    printf("%s: left by %d, %d overflows\n", name, how, overflows);
}

static void everything(void)
{
    fresh(1);
    use_memory("with areas");
    use_areas("areas");
    fresh(2);
    overflow("overflow");
    use_memory("after it");
    fresh(3);
    use_areas("areas");
    overflow("overflow");
    fresh(4);
    use_memory("at last");
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 2; i++) {
        areas[i] = mmap(NULL, PAGES * PAGE, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        printf("early %d\n", areas[i] != MAP_FAILED);
    }
    hole = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigsegv_init(&dispatcher);
    for (int i = 0; i < 2; i++)
        tickets[i] = sigsegv_register(&dispatcher, areas[i], PAGES * PAGE,
                                      open_area, areas[i]);
    printf("installed %d %d\n", sigsegv_install_handler(on_fault),
           stackoverflow_install_handler(on_overflow, extra, sizeof extra));
    memory_start(argc, argv);
    memory = memory_pair(2 << 20);
    everything();
    stackoverflow_deinstall_handler();
    sigsegv_deinstall_handler();
    fresh(5);
    use_memory("without");
    printf("again %d %d\n", sigsegv_install_handler(on_fault),
           stackoverflow_install_handler(on_overflow, extra, sizeof extra));
    everything();
    for (int i = 0; i < 2; i++)
        sigsegv_unregister(&dispatcher, tickets[i]);
    printf("serious %d\n", serious_ones);
    return 0;
}
