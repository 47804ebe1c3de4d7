/*
 * dlmopen: what is loaded where no hook is seen is said, once, and works.
 */
#include "said.h"

#include <dlfcn.h>
#include <math.h>

enum { BYTES = 1 << 20 };

static double cosine(Lmid_t space, Lmid_t *got)
{
    void *library = dlmopen(space, "libm.so.6", RTLD_NOW);
    ck_assert_msg(library != NULL, "%s", dlerror());
    ck_assert_int_eq(dlinfo(library, RTLD_DI_LMID, got), 0);
    double (*function)(double) = (double (*)(double))dlsym(library, "cos");
    double result = function(0);
    dlclose(library);
    return result;
}

START_TEST(a_namespace_of_its_own_is_said_once)
{
    Lmid_t got;
    begin();
    uint8_t *memory = device_bytes(BYTES, 7);
    for (int i = 0; i < 2; i++) {
        ck_assert(cosine(LM_ID_NEWLM, &got) == 1);
        ck_assert_int_ne(got, LM_ID_BASE);
    }
    ck_assert_int_eq(memory[5], 7);
    ck_assert_int_eq(times_said("dlmopen: what is loaded into"), 1);
    ck_assert_int_eq(times_said("libm.so.6"), 1);
    ck_assert_int_eq(times_said("\n"), 1);
}
END_TEST

START_TEST(the_programs_own_is_not)
{
    Lmid_t got;
    begin();
    uint8_t *memory = device_bytes(BYTES, 7);
    ck_assert(cosine(LM_ID_BASE, &got) == 1);
    ck_assert_int_eq(got, LM_ID_BASE);
    void *deep = dlopen("libm.so.6", RTLD_LAZY | RTLD_DEEPBIND);
    ck_assert_ptr_nonnull(deep);
    ck_assert_ptr_nonnull(
        dlmopen(LM_ID_BASE, "libm.so.6", RTLD_LAZY | RTLD_DEEPBIND));
    ck_assert_int_eq(memory[5], 7);
    ck_assert_int_eq(times_said("\n"), 0);
}
END_TEST

SUITE_MAIN("apart", 60, a_namespace_of_its_own_is_said_once,
           the_programs_own_is_not)
