/*
 * Limits of the compiler: what is cut, and that nothing of it goes on.
 */
#include "build_test.h"

#include "native/build_cc.h"
#include "native/build_object.h"

#include <pthread.h>
#include <signal.h>

static struct sc_build_options options;
static char why[160];

/* A compiler that writes its arguments down, then does as `body` says. */
static void use_counted(const char *body)
{
    char script[1024];
    snprintf(script, sizeof script, "echo \"$*\" >>${0%%/*}/runs\n%s", body);
    use_script(script);
    sc_build_options_read(&options);
    sc_build_object_reset();
}

/* As a new process would begin. */
static bool get_text(const char *text)
{
    struct sc_build_object object;
    sc_build_object_reset();
    bool good =
        sc_build_object_get(&object, &options, text, NULL, why, sizeof why);
    sc_build_object_drop(&object);
    return good;
}

static bool get(void)
{
    return get_text("void sc_native_run(void) { }\n");
}

static void expect(const char *reason)
{
    ck_assert_msg(strstr(why, reason), "'%s' has no '%s'", why, reason);
}

START_TEST(endless_output_is_cut)
{
    enter_room();
    use_counted("exec yes");
    ck_assert(!get());
    expect("ended by signal 25"); /* SIGXFSZ */
}
END_TEST

/* Whether the process with the number in a file runs; zombies do not. */
static bool lives(const char *name)
{
    char path[64];
    int pid = 0;
    char state = 'Z';
    FILE *file = fopen(in_room(name), "r");
    if (!file || fscanf(file, "%d", &pid) != 1)
        return false;
    fclose(file);
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 'Z';
    if (file)
        fclose(file);
    return state != 'Z';
}

/* A compiler with a pass that does not end, and the numbers of both. */
static void use_endless(void)
{
    use_counted("sleep 300 & echo $! >${0%/*}/pass; echo $$ >${0%/*}/driver\n"
                "echo $PPID >${0%/*}/keeper; wait");
}

static bool is_over(int most_ms)
{
    for (int ms = 0; ms < most_ms; ms += 10) {
        if (!lives("pass") && !lives("driver") && !lives("keeper"))
            return true;
        usleep(10000);
    }
    return false;
}

static void await_start(void)
{
    for (int i = 0; i < 2000 && !lives("keeper"); i++)
        usleep(10000);
    ck_assert(lives("pass") && lives("driver") && lives("keeper"));
}

START_TEST(clock_ends_all_passes)
{
    enter_room();
    use_endless();
    options.limits.clock_ms = 500;
    ck_assert(!get());
    ck_assert(is_over(2000));
}
END_TEST

START_TEST(pass_that_the_compiler_left_ends_with_it)
{
    enter_room();
    use_counted("sleep 300 & echo $! >${0%/*}/pass; exit 1");
    ck_assert(!get());
    ck_assert(is_over(2000));
}
END_TEST

START_TEST(compiler_that_ignores_requests_is_ended)
{
    enter_room();
    use_counted("trap '' TERM; sleep 300 & echo $! >${0%/*}/pass\n"
                "while :; do sleep 1; done");
    options.limits.clock_ms = 500;
    ck_assert(!get());
    ck_assert(is_over(2000));
}
END_TEST

START_TEST(killed_process_takes_its_compiler_along)
{
    enter_room();
    use_endless();
    pid_t child = fork();
    if (child == 0) {
        get();
        _exit(0);
    }
    await_start();
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert(is_over(5000));
}
END_TEST

static void *get_endlessly(void *result)
{
    *(bool *)result = get();
    return NULL;
}

START_TEST(killed_keeper_takes_the_compiler_along)
{
    pthread_t thread;
    bool result = true;
    int keeper = 0;
    enter_room();
    use_counted("echo $PPID >${0%/*}/keeper.new\n"
                "mv ${0%/*}/keeper.new ${0%/*}/keeper\n"
                "echo $$ >${0%/*}/driver; exec sleep 300");
    pthread_create(&thread, NULL, get_endlessly, &result);
    for (int i = 0; i < 2000 && !lives("driver"); i++)
        usleep(10000);
    FILE *file = fopen(in_room("keeper"), "r");
    ck_assert(file && fscanf(file, "%d", &keeper) == 1);
    fclose(file);
    kill(keeper, SIGKILL);
    pthread_join(thread, NULL);
    ck_assert(!result);
    expect("ended by signal 9");
    ck_assert(is_over(5000));
}
END_TEST

SUITE_MAIN("softcuda native: limits of the compiler", 60, endless_output_is_cut,
           clock_ends_all_passes, pass_that_the_compiler_left_ends_with_it,
           compiler_that_ignores_requests_is_ended,
           killed_process_takes_its_compiler_along,
           killed_keeper_takes_the_compiler_along)
