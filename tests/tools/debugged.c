/*
 * What test_gdb.py stops: kernels on an array that the CPU uses as well, and
 * calls of `stop_here` in between.
 *
 *   debugged              prints what the last kernel made of words[8]
 *   debugged crash        stores to nowhere
 *   debugged handled      the same, with a handler
 *   debugged WORD ...     prints the words
 */
#include "interpose/victims/victim.h"

#include <setjmp.h>
#include <signal.h>

enum { WORDS = 1 << 20 };

struct pair {
    unsigned first, second;
};

static CUfunction step;
static sigjmp_buf out;
static unsigned *volatile nowhere;

/* words[i] = words[i] * 3 + k */
static void launch(void *words, unsigned k)
{
    unsigned n = WORDS;
    void *params[] = {&words, &n, &k};
    CHECK(
        cuLaunchKernel(step, n / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    CHECK(cuCtxSynchronize());
}

static __attribute__((noinline)) void stop_here(unsigned *words,
                                                struct pair *pair)
{
    __asm__ volatile("" : : "r"(words), "r"(pair) : "memory");
}

static __attribute__((noinline)) void crash(void)
{
    *nowhere = 1;
}

static void leave(int number)
{
    siglongjmp(out, number);
}

int main(int argc, char **argv)
{
    CUdeviceptr at;
    CUmodule module;
    for (int i = 1; i < argc; i++)
        printf("%s\n", argv[i]);
    victim_start();
    CHECK(cuModuleLoadData(&module, victim_ptx));
    CHECK(cuModuleGetFunction(&step, module, "step"));
    CHECK(cuMemAlloc(&at, WORDS * sizeof(unsigned)));
    unsigned *words = (unsigned *)at;
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = i;
    launch(words, 1000);
    stop_here(words, (struct pair *)(words + 16));
    launch(words, 1000);
    printf("%u\n", words[8]);
    launch(words, 1000);
    if (argc > 1 && strcmp(argv[1], "handled") == 0) {
        signal(SIGSEGV, leave);
        if (sigsetjmp(out, 1) == 0)
            crash();
        printf("handled\n");
    }
    if (argc > 1 && strcmp(argv[1], "crash") == 0)
        crash();
    return 0;
}
