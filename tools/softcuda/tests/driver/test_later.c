/*
 * Compiling that goes on when the program has ended first.
 */
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/driver/driver_test.h"
#include "tests/driver/kernels.h"

static char room[PATH_MAX / 4];

static const char *in_room(const char *name)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", room, name);
    return path;
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

/* Who still compiles may put a file into a folder that is being emptied. */
static void leave_room(void)
{
    do
        nftw(room, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    while (access(room, F_OK) == 0);
}

/* An empty cache, and a compiler that needs `seconds` more and writes down
 * that it was called. */
static void enter_room(int seconds)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(room, sizeof room, "%.900s/softcuda-later-XXXXXX",
             tmp ? tmp : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(room));
    FILE *script = fopen(in_room("cc.sh"), "w");
    ck_assert_ptr_nonnull(script);
    fprintf(script,
            "#!/bin/sh\necho called >>%s/calls\nsleep %d\nexec cc \"$@\"\n",
            room, seconds);
    ck_assert_int_eq(fclose(script), 0);
    ck_assert_int_eq(chmod(in_room("cc.sh"), 0755), 0);
    setenv("SOFTCUDA_CC", in_room("cc.sh"), 1);
    setenv("SOFTCUDA_CACHE", in_room("cache"), 1);
    setenv("SOFTCUDA_NATIVE", "on", 1);
    setenv("SOFTCUDA_STATS", "1", 1);
}

static int calls(void);

/* Run a kernel for longer than a compiler is worth, and end; maybe where the
 * cache folder is not there, as before the first compiler run. */
static void program(bool without_cache)
{
    CUmodule module;
    CUfunction spin;
    CUdeviceptr p;
    uint32_t turns = 3 * 1000 * 1000;
    begin();
    OK(cuModuleLoadData(&module, kernels_ptx));
    OK(cuModuleGetFunction(&spin, module, "spin"));
    OK(cuMemAlloc(&p, 4));
    for (int i = 0; i < 3; i++)
        OK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, NULL,
                          (void *[]){&p, &turns}, NULL));
    OK(cuCtxSynchronize());
    while (without_cache && calls() == 0)
        usleep(1000);
    if (without_cache)
        nftw(in_room("cache"), remove_one, 8, FTW_DEPTH | FTW_PHYS);
    exit(0);
}

/* Run it as a caller does who reads all it says. */
static void run_program(bool without_cache, char *said, size_t bytes)
{
    int fds[2];
    size_t n = 0;
    ssize_t got;
    ck_assert_int_eq(pipe(fds), 0);
    pid_t child = fork();
    if (child == 0) {
        close(fds[0]);
        dup2(fds[1], STDOUT_FILENO);
        dup2(fds[1], STDERR_FILENO);
        close(fds[1]);
        program(without_cache);
    }
    close(fds[1]);
    while (n < bytes - 1 && (got = read(fds[0], said + n, bytes - 1 - n)) > 0)
        n += (size_t)got;
    said[n] = '\0';
    close(fds[0]);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

static void run(char *said, size_t bytes)
{
    run_program(false, said, bytes);
}

/* Compiled kernels in the cache. */
static int objects(void)
{
    int n = 0;
    DIR *dir = opendir(in_room("cache"));
    for (struct dirent *e; dir && (e = readdir(dir));) {
        size_t length = strlen(e->d_name);
        n += e->d_name[0] != '.' && length > 3 &&
             strcmp(e->d_name + length - 3, ".so") == 0;
    }
    if (dir)
        closedir(dir);
    return n;
}

static int calls(void)
{
    int n = 0;
    FILE *file = fopen(in_room("calls"), "r");
    for (int c; file && (c = fgetc(file)) != EOF;)
        n += c == '\n';
    if (file)
        fclose(file);
    return n;
}

/* Processes that compile on for this cache. */
static int leftovers(void)
{
    char path[300], name[32], setting[PATH_MAX];
    static char environment[1 << 16];
    int n = 0;
    snprintf(setting, sizeof setting, "SOFTCUDA_CACHE=%s/cache", room);
    DIR *proc = opendir("/proc");
    for (struct dirent *e; (e = readdir(proc));) {
        snprintf(path, sizeof path, "/proc/%s/comm", e->d_name);
        FILE *file = fopen(path, "r");
        bool later = file && fgets(name, sizeof name, file) &&
                     strcmp(name, "softcuda-later\n") == 0;
        if (file)
            fclose(file);
        snprintf(path, sizeof path, "/proc/%s/environ", e->d_name);
        int fd = later ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        ssize_t bytes = fd >= 0 ? read(fd, environment, sizeof environment) : 0;
        n += bytes > 0 && memmem(environment, (size_t)bytes, setting,
                                 strlen(setting) + 1) != NULL;
        if (fd >= 0)
            close(fd);
    }
    closedir(proc);
    return n;
}

static void wait_until_alone(void)
{
    for (int i = 0; i < 4000 && leftovers() > 0; i++)
        usleep(10000);
    ck_assert_int_eq(leftovers(), 0);
}

START_TEST(compiling_goes_on_and_the_next_run_is_native)
{
    char said[4096];
    enter_room(3);
    double start = now_ms();
    run(said, sizeof said);
    /* the caller has seen the end of all output before the compiler's */
    ck_assert_double_lt(now_ms() - start, 2500);
    ck_assert_msg(strstr(said, "spin: 3 launches") &&
                      strstr(said, "interpreter"),
                  "%s", said);
    ck_assert_int_eq(objects(), 0);
    for (int i = 0; i < 3000 && objects() == 0; i++)
        usleep(10000);
    wait_until_alone();
    ck_assert_int_eq(objects(), 1);
    int before = calls();
    run(said, sizeof said);
    ck_assert_msg(strstr(said, "native"), "%s", said);
    ck_assert_int_eq(calls(), before);
    leave_room();
}
END_TEST

START_TEST(compiling_goes_on_where_there_was_no_cache_yet)
{
    char said[4096];
    enter_room(2);
    run_program(true, said, sizeof said);
    for (int i = 0; i < 3000 && objects() == 0; i++)
        usleep(10000);
    wait_until_alone();
    ck_assert_int_eq(objects(), 1);
    leave_room();
}
END_TEST

START_TEST(nothing_goes_on_when_that_is_switched_off)
{
    char said[4096];
    enter_room(1);
    setenv("SOFTCUDA_LATER", "0", 1);
    run(said, sizeof said);
    ck_assert_int_eq(leftovers(), 0);
    usleep(1500000);
    ck_assert_int_eq(objects(), 0);
    leave_room();
}
END_TEST

START_TEST(many_short_programs_leave_two_processes_at_most)
{
    char said[4096];
    int most = 0;
    enter_room(2);
    for (int i = 0; i < 6; i++) {
        run(said, sizeof said);
        usleep(20000); /* who is one too many ends */
        int now = leftovers();
        most = now > most ? now : most;
    }
    ck_assert_int_ge(most, 1);
    ck_assert_int_le(most, 2);
    wait_until_alone();
    ck_assert_int_eq(objects(), 1);
    leave_room();
}
END_TEST

START_TEST(a_cache_that_is_gone_is_not_made_again)
{
    char said[4096];
    enter_room(1);
    run(said, sizeof said);
    leave_room();
    wait_until_alone();
    ck_assert_int_ne(access(room, F_OK), 0);
}
END_TEST

int main(void)
{
    const TTest *const cases[] = {
        compiling_goes_on_and_the_next_run_is_native,
        compiling_goes_on_where_there_was_no_cache_yet,
        nothing_goes_on_when_that_is_switched_off,
        many_short_programs_leave_two_processes_at_most,
        a_cache_that_is_gone_is_not_made_again};
    return suite_run("softcuda driver: compiling on", cases,
                     sizeof cases / sizeof *cases, 60);
}
