/*
 * What one process has measured, and the first call of the next one: on paced
 * devices, told by which bytes each has written. Each process is a child that has
 * not begun before.
 */
#include "call/fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1 << 13, CALLS = 6 };

static char folder[64];
static double *share; /* of device 0, by call; children have it, too */

static void set_up(void)
{
    strcpy(folder, "/tmp/adsm-models-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("ADSM_MODELS", folder, 1);
    setenv("SOFTCUDA_DEVICES", "2", 1);
    setenv("SOFTCUDA_PACE", "200K/s,100K/s", 1);
    share = mmap(NULL, CALLS * sizeof *share, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static double share_of_first(const int *y)
{
    adsmCopyInfo copies[16];
    int count = adsmCopies(y, copies, 16);
    size_t only[2] = {0};
    for (int i = 0; i < count; i++)
        only[copies[i].device] += copies[i].only;
    return (double)only[0] / (double)(only[0] + only[1]);
}

/* How it ends: as programs do, by the module's unloading, by a signal. */
enum end { BY_EXIT, BY_UNLOAD, BY_KILL };

static void run(int calls, enum end end)
{
    const adsmOpts both = {.devices = 3};
    adsmModule *module;
    adsmKernel *map;
    int a = 4;
    must(adsmModuleLoad(&module, KERNELS_PTX, 0));
    must(adsmKernelGet(&map, module, "map", ADSM_ONLY_ARGUMENTS));
    int *x = array(adsmR1(N), ADSM_NO_HOME),
        *y = array(adsmR1(N), ADSM_NO_HOME);
    number(x, N, 1);
    for (int i = 0; i < calls; i++) {
        number(y, N, 2);
        must(adsmCallWith(&both, map, adsmR1(N), adsmIn(x), adsmInOut(y),
                          adsmVal(a)));
        must(adsmSync());
        share[i] = share_of_first(y);
        ck_assert_int_eq(y[N - 1], 3 * (N - 1) * 61 + 2 + 2 + a);
    }
    if (end == BY_UNLOAD)
        must(adsmModuleUnload(module));
    if (end != BY_EXIT)
        kill(getpid(), SIGKILL);
    exit(0);
}

static void in_process(int calls, enum end end)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        run(calls, end);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (end == BY_EXIT)
        ck_assert_int_eq(status, 0);
    else
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* In the user's cache; the software device has a folder of its own there. */
static bool has_files(void)
{
    char path[96];
    snprintf(path, sizeof path, "%s/libadsm", folder);
    return access(path, F_OK) == 0;
}

START_TEST(the_first_call_is_as_others_have_measured)
{
    in_process(CALLS, BY_EXIT);
    ck_assert_double_eq(share[0], 0.5);
    ck_assert_double_eq(share[2], 0.5);
    in_process(1, BY_EXIT);
    ck_assert_double_gt(share[0], 0.55);
    ck_assert_double_lt(share[0], 0.8);
}
END_TEST

/* What a call took is known to the next one: of two, one time is written. */
START_TEST(what_many_short_processes_measure_adds_up)
{
    for (int turn = 0; turn < 3; turn++) {
        in_process(2, BY_EXIT);
        ck_assert_double_eq(share[0], 0.5);
    }
    in_process(1, BY_EXIT);
    ck_assert_double_gt(share[0], 0.55);
}
END_TEST

START_TEST(what_is_unloaded_is_written)
{
    in_process(CALLS, BY_UNLOAD);
    in_process(1, BY_EXIT);
    ck_assert_double_gt(share[0], 0.55);
}
END_TEST

START_TEST(off_knows_nothing_and_writes_nothing)
{
    in_process(CALLS, BY_EXIT);
    setenv("ADSM_MODELS", "off", 1);
    in_process(1, BY_EXIT);
    ck_assert_double_eq(share[0], 0.5);
    tear_down();
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    setenv("XDG_CACHE_HOME", folder, 1);
    in_process(CALLS, BY_EXIT);
    ck_assert(!has_files());
}
END_TEST

START_TEST(read_writes_nothing)
{
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("ADSM_MODELS", "read", 1);
    in_process(CALLS, BY_EXIT);
    ck_assert(!has_files());
    unsetenv("ADSM_MODELS");
    in_process(CALLS, BY_EXIT);
    ck_assert_double_eq(share[0], 0.5);
    ck_assert(has_files());
    setenv("ADSM_MODELS", "read", 1);
    in_process(1, BY_EXIT);
    ck_assert_double_gt(share[0], 0.55);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("models");
    TCase *cases = tcase_create("models");
    tcase_set_timeout(cases, 120);
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, the_first_call_is_as_others_have_measured);
    tcase_add_test(cases, what_many_short_processes_measure_adds_up);
    tcase_add_test(cases, what_is_unloaded_is_written);
    tcase_add_test(cases, off_knows_nothing_and_writes_nothing);
    tcase_add_test(cases, read_writes_nothing);
    suite_add_tcase(suite, cases);
    return suite_finish(suite);
}
