/*
 * Limits of the compiler: what is cut, that nothing of it goes on, and what is
 * remembered.
 */
#include "build_test.h"

#include "native/build_cc.h"
#include "native/build_object.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>

static struct sc_build_options options;
static char why[160];
static time_t later_s; /* what the clock of notes is ahead */

time_t __real_time(time_t *at);
time_t __wrap_time(time_t *at);

time_t __wrap_time(time_t *at)
{
    time_t now = __real_time(NULL) + later_s;
    if (at)
        *at = now;
    return now;
}

/* A compiler that writes its arguments down, then does as `body` says. */
static void use_counted(const char *body)
{
    char script[1024];
    snprintf(script, sizeof script, "echo \"$*\" >>${0%%/*}/runs\n%s", body);
    use_script(script);
    sc_build_options_read(&options);
    sc_build_object_reset();
}

static int runs(void)
{
    int n = 0;
    FILE *file = fopen(in_room("runs"), "r");
    for (int c; file && (c = fgetc(file)) != EOF;)
        n += c == '\n';
    if (file)
        fclose(file);
    return n;
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

/* A kernel of so many statements that all depend on each other. */
static char *long_text(int statements)
{
    size_t bytes = 256 + (size_t)statements * 64;
    char *text = malloc(bytes);
    int n = snprintf(text, bytes,
                     "int sc_native_run(int *a) { int x = 0, y = 1;\n");
    for (int i = 0; i < statements; i++)
        n += snprintf(text + n, bytes - (size_t)n,
                      "x += a[%d] * y; y ^= x << (x & %d);\n", i, i % 31);
    snprintf(text + n, bytes - (size_t)n, "return x + y; }\n");
    return text;
}

static void expect(const char *reason)
{
    ck_assert_msg(strstr(why, reason), "'%s' has no '%s'", why, reason);
}

START_TEST(kernel_that_takes_too_long_is_left_for_good)
{
    enter_room();
    use_counted("exec cc \"$@\"");
    options.limits.cpu_s = 1;
    char *text = long_text(60000);
    ck_assert(!get_text(text));
    expect("more than 1 s of processor time");
    ck_assert_int_eq(runs(), 2);
    ck_assert(!get_text(text));
    expect("1 s of processor time in an earlier run");
    ck_assert_int_eq(runs(), 2);
    ck_assert_int_eq(count_files("", NULL), 1);
    options.limits.clock_ms = 1; /* another limit, another try */
    ck_assert(!get_text(text));
    ck_assert_int_gt(runs(), 2);
    free(text);
}
END_TEST

START_TEST(kernel_that_takes_too_much_memory_is_left_for_good)
{
    enter_room();
    use_counted("exec cc \"$@\"");
    options.limits.memory_bytes = 200 << 20;
    char *text = long_text(150000);
    ck_assert(!get_text(text));
    expect("needs more than 200 MiB");
    int before = runs();
    ck_assert(!get_text(text));
    expect("in an earlier run");
    ck_assert_int_eq(runs(), before);
    free(text);
}
END_TEST

START_TEST(less_effort_that_fits_is_remembered)
{
    char path[PATH_MAX];
    enter_room();
    use_counted("case \"$*\" in *-O0*) exec cc \"$@\";; esac\n"
                "while :; do :; done");
    options.limits.cpu_s = 1;
    ck_assert_msg(get(), "%s", why);
    ck_assert_int_eq(runs(), 2);
    ck_assert_int_eq(count_files(".so", path), 1);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert(get());
    ck_assert_int_eq(runs(), 3);
}
END_TEST

START_TEST(what_only_the_clock_cut_is_left_for_a_day)
{
    enter_room();
    use_counted("sleep 100");
    options.limits.clock_ms = 300;
    ck_assert(!get());
    expect("more than 0 s");
    ck_assert_int_eq(runs(), 2);
    ck_assert(!get());
    ck_assert_int_eq(runs(), 2);
    later_s = 90000;
    ck_assert(!get());
    ck_assert_int_eq(runs(), 4);
}
END_TEST

START_TEST(other_failures_are_not_remembered)
{
    enter_room();
    use_counted("echo 'error: out of memory' >&2; exit 1");
    ck_assert(!get());
    ck_assert(!get());
    ck_assert_int_eq(runs(), 2);
    use_counted("echo 'error: wrong' >&2; kill -KILL $$");
    ck_assert(!get());
    ck_assert_int_eq(runs(), 3);
    ck_assert_int_eq(count_files("", NULL), 0);
}
END_TEST

START_TEST(endless_output_is_cut)
{
    enter_room();
    use_counted("exec yes");
    ck_assert(!get());
    expect("ended by signal 25"); /* SIGXFSZ */
}
END_TEST

START_TEST(full_disk_remembers_nothing)
{
    enter_room();
    ck_assert_int_eq(mkdir(in_room("cache"), 0700), 0);
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", in_room("cache"), "tmpfs", 0, "size=4k,mode=0700") != 0) {
        printf("no mounts here: the full disk is not tested\n");
        return;
    }
    int fd = open(in_room("cache/filler"), O_CREAT | O_WRONLY, 0600);
    ck_assert_int_eq(ftruncate(fd, 4096), 0);
    ck_assert_int_eq(write(fd, "full", 4), 4);
    close(fd);
    use_counted("sleep 100");
    options.limits.clock_ms = 100;
    ck_assert(!get());
    int before = runs();
    ck_assert(!get());
    ck_assert_int_gt(runs(), before);
    ck_assert_int_eq(count_files("", NULL), 1);
    umount(in_room("cache"));
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

/* A second of a processor takes many on a busy machine. */
SUITE_MAIN("softcuda native: limits of the compiler", 200,
           kernel_that_takes_too_long_is_left_for_good,
           kernel_that_takes_too_much_memory_is_left_for_good,
           less_effort_that_fits_is_remembered,
           what_only_the_clock_cut_is_left_for_a_day,
           other_failures_are_not_remembered, endless_output_is_cut,
           full_disk_remembers_nothing, clock_ends_all_passes,
           pass_that_the_compiler_left_ends_with_it,
           compiler_that_ignores_requests_is_ended,
           killed_process_takes_its_compiler_along,
           killed_keeper_takes_the_compiler_along)
