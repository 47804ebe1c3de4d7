/* Arguments and tasks in C++ that are made in one statement and used in another,
 * of values that are gone by then. The argument is the path of kernels.ptx. */
#include "adsm_skeleton.h"

#include <cstdio>

enum { N = 1000 };

/* More than an argument has room for. */
struct large {
    int word[32];
};

__attribute__((noinline)) static void use_the_stack()
{
    volatile int over[64];
    for (int i = 0; i < 64; i++)
        over[i] = -1;
    (void)over[63];
}

static int twice(int a)
{
    return 2 * a;
}

static int *numbers()
{
    int *p = static_cast<int *>(adsmAlloc(N * sizeof(int)));
    for (int i = 0; p && i < N; i++)
        p[i] = i;
    return p;
}

/* y = 2 * x + y + a, so often. */
static int check(const int *x, const int *y, int a, int times)
{
    for (int i = 0; i < N; i++)
        if (y[i] != i + times * (2 * x[i] + a)) {
            std::fprintf(stderr, "y[%d] is %d after %d calls\n", i, y[i],
                         times);
            return 1;
        }
    return 0;
}

static int fail()
{
    std::fprintf(stderr, "%s\n", adsmErrorDetail());
    return 1;
}

int main(int argc, char **argv)
{
    adsmModule *module;
    adsmKernel *map;
    if (argc < 2 || adsmModuleLoad(&module, argv[1], 0) ||
        adsmKernelGet(&map, module, "map", ADSM_ONLY_ARGUMENTS))
        return fail();
    int *x = numbers(), *y = numbers();
    if (!x || !y)
        return fail();

    const adsmArg args[] = {adsmIn(x), adsmInOut(y), adsmVal(twice(6))};
    use_the_stack();
    if (adsmCallV(map, N, 3, args) || check(x, y, 12, 1))
        return fail();

    auto task =
        adsmTaskOf(map, adsmR1(N), adsmIn(x), adsmInOut(y), adsmVal(twice(6)));
    const adsmTask same = task;
    use_the_stack();
    adsmOpts opts = adsmOpts();
    if (adsmFarm(&opts, task) || adsmFarmV(&same, 1, &opts) ||
        check(x, y, 12, 3))
        return fail();

    const large variable = {{0}};
    return adsmVal(variable).p != &variable || adsmVal(1.5).p ||
           adsmVal(1.5).edge != ADSM_REAL || adsmVal(N).edge != ADSM_ANY_KIND ||
           adsmVal(*x).edge != ADSM_INTEGER || adsmIn(x).align != alignof(int);
}
