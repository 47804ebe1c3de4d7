/*
 * A program that loads a plug-in, which uses the library, and unloads it while
 * memory, code and threads of the runtime are there. PLUGIN names it; the program
 * itself is not linked with the library. It also closes the libraries themselves,
 * LIBRARY and PRELOAD, and goes on with what they gave it.
 */
#include "common/suite.h"

#include "adsm.h"
#include "mm/kernels.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
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

static void *opened(const char *variable)
{
    void *library = dlopen(getenv(variable), RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library, "%s", dlerror());
    return library;
}

static void *function(void *library, const char *name)
{
    void *found = dlsym(library, name);
    ck_assert_msg(found, "%s", dlerror());
    return found;
}

enum { BYTES = 1 << 20, FAR = BYTES / 2 };

START_TEST(memory_of_a_library_that_is_closed_is_shared)
{
    void *library = opened("LIBRARY");
    __typeof__(adsmAlloc) *alloc = function(library, "adsmAlloc");
    __typeof__(adsmModuleLoad) *load = function(library, "adsmModuleLoad");
    __typeof__(adsmKernelGet) *get = function(library, "adsmKernelGet");
    __typeof__(adsmCallRangeV) *call = function(library, "adsmCallRangeV");
    __typeof__(adsmSync) *sync = function(library, "adsmSync");
    __typeof__(adsmFree) *release = function(library, "adsmFree");
    adsmModule *module;
    adsmKernel *inc;
    uint8_t *p = alloc(BYTES);
    ck_assert_ptr_nonnull(p);
    p[0] = 1;
    ck_assert_int_eq(dlclose(library), 0);
    p[FAR] = 5;
    ck_assert_int_eq(load(&module, kernels_ptx, sizeof kernels_ptx - 1), 0);
    ck_assert_int_eq(get(&inc, module, "inc", ADSM_ONLY_ARGUMENTS), 0);
    ck_assert_int_eq(
        call(inc, adsmR1(BYTES), NULL, 1, (adsmArg[]){adsmInOut(p)}), 0);
    ck_assert_int_eq(sync(), 0);
    ck_assert_int_eq(p[0], 2);
    ck_assert_int_eq(p[FAR], 6);
    ck_assert_int_eq(release(p), 0);
}
END_TEST

/* Its hooks are seen by nobody, as it comes late; called, they do what they do.
 * PRELOAD is not set where sanitisers would have to come first. */
START_TEST(memory_of_a_preload_library_that_is_closed_is_shared)
{
    if (!getenv("PRELOAD"))
        return;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    ck_assert_msg(driver, "%s", dlerror());
    void *library = opened("PRELOAD");
    int (*init)(unsigned) = function(driver, "cuInit");
    int (*retain)(void *, int) = function(driver, "cuDevicePrimaryCtxRetain");
    int (*use)(void *) = function(driver, "cuCtxSetCurrent");
    int (*alloc)(void *, size_t) = function(library, "cuMemAlloc_v2");
    int (*fill)(void *, int, size_t) = function(library, "cuMemsetD8_v2");
    int (*release)(void *) = function(library, "cuMemFree_v2");
    void *context;
    uint8_t *p;
    ck_assert(init(0) == 0 && retain(&context, 0) == 0 && use(context) == 0);
    ck_assert_int_eq(alloc(&p, BYTES), 0);
    ck_assert_int_eq(fill(p, 7, BYTES), 0);
    ck_assert_int_eq(dlclose(library), 0);
    p[0] = 1;
    ck_assert_int_eq(p[FAR], 7);
    ck_assert_int_eq(fill(p, 9, BYTES), 0);
    ck_assert_int_eq(p[0], 9);
    ck_assert_int_eq(p[FAR], 9);
    ck_assert_int_eq(release(p), 0);
}
END_TEST

SUITE_MAIN("unload", 60, plugin_that_is_unloaded_leaves_the_program_alive,
           faults_of_the_program_are_its_own_behind_a_plugin,
           memory_of_a_library_that_is_closed_is_shared,
           memory_of_a_preload_library_that_is_closed_is_shared)
