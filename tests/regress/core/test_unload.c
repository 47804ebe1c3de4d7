/*
 * A program that loads a plug-in, which uses the library, and unloads it while
 * memory, code and threads of the runtime are there. PLUGIN names it; the program
 * itself knows nothing of the library.
 */
#include "common/suite.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static sigjmp_buf back;

static void on_fault(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static void use_plugin(void)
{
    const char *plugin = getenv("PLUGIN");
    void *library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library, "%s", dlerror());
    int (*run)(void) = (int (*)(void))dlsym(library, "plugin_run");
    ck_assert_ptr_nonnull(run);
    ck_assert_int_eq(run(), 0);
    ck_assert_int_eq(dlclose(library), 0);
    ck_assert_ptr_null(dlopen(plugin, RTLD_NOW | RTLD_NOLOAD));
}

START_TEST(plugin_that_is_unloaded_leaves_the_program_alive)
{
    for (int i = 0; i < 3; i++) {
        use_plugin();
        usleep(100000); /* for the threads that are left */
    }
}
END_TEST

START_TEST(faults_of_the_program_are_its_own_behind_a_plugin)
{
    signal(SIGSEGV, on_fault);
    use_plugin();
    volatile int *volatile nowhere = (volatile int *)16;
    if (sigsetjmp(back, 1) == 0) {
        *nowhere = 1;
        ck_abort_msg("nothing happened");
    }
    use_plugin();
}
END_TEST

SUITE_MAIN("unload", 60, plugin_that_is_unloaded_leaves_the_program_alive,
           faults_of_the_program_are_its_own_behind_a_plugin)
