/*
 * Calls of more threads than an int counts.
 */
#include "call/fixture.h"

#define FAR (1l << 31)

enum { N = 1003 };

START_TEST(indices_from_2_31_on_are_told_apart)
{
    adsmModule *module;
    adsmKernel *far_from;
    long from = FAR, *out = adsmAlloc(N * sizeof *out), bad = 0;
    ck_assert_msg(out, "%s", adsmErrorDetail());
    must(adsmModuleLoad(&module, ENDS_PTX, 0));
    must(adsmKernelGet(&far_from, module, "far_from", ADSM_ONLY_ARGUMENTS));
    memset(out, 0, N * sizeof *out);
    must(adsmCall(far_from, FAR + N, adsmVal(from), adsmInOut(out)));
    for (long i = 0; i < N; i++)
        bad += out[i] != FAR + i;
    ck_assert_int_eq(bad, 0);
    must(adsmFree(out));
}
END_TEST

SUITE_MAIN("far", 240, indices_from_2_31_on_are_told_apart)
