/* adsm::array: arguments that outlive what they were made of. The argument is the
 * path of kernels.ptx. */
#include "adsm_array.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

static const long N = 1000;

static void must(bool is, const char *what)
{
    if (is)
        return;
    std::fprintf(stderr, "%s: %s\n", what, adsmErrorDetail());
    std::exit(1);
}
#define MUST(is) must((is), #is)

static adsmKernel *kernel(adsmModule *module, const char *name)
{
    adsmKernel *found = nullptr;
    MUST(adsmKernelGet(&found, module, name, ADSM_ONLY_ARGUMENTS) == ADSM_OK);
    return found;
}

/* More than an argument of adsm.h keeps. */
struct large {
    int word[32];
};

/* Of an array that is gone when it returns, and of values that are. */
static std::vector<adsm::arg> arguments(adsm::array<int> *result)
{
    adsm::array<int> x(adsmR1(N), 0), y(adsmR1(N));
    MUST(x && y && x.fill(3) == ADSM_OK);
    for (long i = 0; i < N; i++)
        y[i] = static_cast<int>(i);
    *result = y;
    int a = 7;
    return {x.in(), y.inout(), a};
}

int main(int, char **argv)
{
    adsmModule *module = nullptr;
    MUST(adsmModuleLoad(&module, argv[1], 0) == ADSM_OK);
    adsmKernel *map = kernel(module, "map"), *square = kernel(module, "square");
    adsmOpts all = adsmOpts();
    all.devices = ADSM_ALL_DEVICES;

    adsm::array<int> y;
    MUST(!y && y.size() == 0);
    {
        std::vector<adsm::arg> kept = arguments(&y);
        for (int i = 0; i < 2; i++)
            MUST(adsm::call_with(&all, map, adsmR1(N), kept[0], kept[1],
                                 kept[2]) == ADSM_OK);
    }
    for (long i = 0; i < N; i++)
        MUST(y[i] == i + 26);

    /* The last one frees it: the address is nobody's then. */
    int *at = y.data();
    adsm::arg one = y.in();
    y = adsm::array<int>();
    MUST(adsmSafe(at) != nullptr || adsmLastStatus() == ADSM_E_UNSUPPORTED);
    one = adsm::arg(1);
    MUST(!adsmSafe(at) && adsmLastStatus() == ADSM_E_NOT_SHARED);

    large value = {{5}};
    adsm::arg many(value);
    value.word[0] = 6;
    MUST(static_cast<const large *>(many.c().p)->word[0] == 5);
    adsm::arg same = many;
    many = adsm::arg(2.5);
    MUST(same.c().bytes == sizeof value &&
         static_cast<const large *>(same.c().p)->word[0] == 5);

    adsm::array<int, 2> u(adsmR2(20, 30)), w(adsmR2(20, 30), 0);
    MUST(u && w && u.size() == 600 && u.extent(1) == 30 &&
         u.end() - u.begin() == 600);
    MUST(u.fill(2) == ADSM_OK);
    u(3, 4) = 9;
    MUST(adsm::call_with(&all, square, adsmR2(20, 30), u.square(0, 0), w.out(),
                         0, 0) == ADSM_OK);
    MUST(w(3, 4) == 9 && w(19, 29) == 2);
    MUST(adsm::call_with(&all, map, adsmR1(600), u.in().flat(),
                         w.inout().flat(), 1) == ADSM_OK);
    MUST(w(3, 4) == 28 && w(0, 0) == 7);
    MUST(u.copy(w) == ADSM_OK && u(3, 4) == 28);

    adsm::array<int, 2> wrong(adsmR1(10));
    MUST(!wrong && adsmLastStatus() == ADSM_E_INVALID);
    return 0;
}
