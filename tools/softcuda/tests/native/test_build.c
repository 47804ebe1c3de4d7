/*
 * From C text to loaded code: the cache, the compiler, and what goes wrong
 * with either.
 */
#include "build_test.h"

#include "native/build_cache.h"
#include "native/build_cc.h"
#include "native/build_object.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>

static struct sc_build_options options;
static char why[160];

static void read_options(void)
{
    sc_build_options_read(&options);
    sc_build_object_reset();
}

/* Code that stores `number` at the parameters. */
static bool get(struct sc_build_object *object, int number)
{
    char text[512];
    snprintf(text, sizeof text,
             "#include <stdint.h>\n"
             "struct sc_native_cta { const unsigned char *params; };\n"
             "void sc_native_run(struct sc_native_cta *cta, uint64_t first,\n"
             "                   uint64_t count)\n"
             "{ *(int *)(uintptr_t)cta->params = %d; }\n",
             number);
    return sc_build_object_get(object, &options, text, NULL, why, sizeof why);
}

static int run(const struct sc_build_object *object)
{
    int value = -1;
    struct sc_native_cta cta = {.params = (const unsigned char *)&value};
    object->run(&cta, 0, 1);
    return value;
}

/* Build, run, unload. Return: whether it came from the cache. */
static bool build(int number)
{
    struct sc_build_object object;
    ck_assert_msg(get(&object, number), "%s", why);
    ck_assert_int_eq(run(&object), number);
    bool cached = object.from_cache;
    sc_build_object_drop(&object);
    return cached;
}

START_TEST(second_build_comes_from_the_cache)
{
    enter_room();
    read_options();
    ck_assert(!build(1));
    ck_assert(build(1));
    ck_assert(!build(2));
    read_options();
    ck_assert(build(1));
    ck_assert_int_eq(count_files("", NULL), 2);
}
END_TEST

START_TEST(other_flags_or_compiler_is_another_entry)
{
    enter_room();
    read_options();
    ck_assert(!build(1));
    setenv("SOFTCUDA_CC", "cc -DSOMETHING", 1);
    read_options();
    ck_assert(!build(1));
    use_script("exec cc \"$@\"");
    read_options();
    ck_assert(!build(1));
    ck_assert_int_eq(count_files(".so", NULL), 3);
}
END_TEST

static void overwrite(const char *path, off_t at, const char *bytes, size_t n)
{
    int fd = open(path, O_RDWR);
    ck_assert_int_ge(fd, 0);
    if (at < 0)
        at += lseek(fd, 0, SEEK_END);
    ck_assert_int_eq(pwrite(fd, bytes, n, at), (ssize_t)n);
    close(fd);
}

START_TEST(damaged_files_are_built_again)
{
    static const off_t places[] = {0, 700, 4100, -1, -30, -60};
    char path[PATH_MAX];
    enter_room();
    read_options();
    ck_assert(!build(1));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        ck_assert_int_eq(count_files(".so", path), 1);
        overwrite(path, places[i], "\x5a\xa5", 1);
        ck_assert_msg(!build(1), "place %d", (int)places[i]);
        ck_assert(build(1));
    }
    for (int bytes = 0; bytes < 12000; bytes += 3001) {
        ck_assert_int_eq(count_files(".so", path), 1);
        ck_assert_int_eq(truncate(path, bytes), 0);
        ck_assert_msg(!build(1), "%d bytes", bytes);
    }
    ck_assert(build(1));
    ck_assert_int_eq(count_files("", NULL), 1);
}
END_TEST

START_TEST(file_of_another_key_is_not_taken)
{
    char first[PATH_MAX], other[PATH_MAX];
    enter_room();
    read_options();
    ck_assert(!build(1));
    ck_assert_int_eq(count_files(".so", first), 1);
    ck_assert_int_eq(rename(first, in_room("kept")), 0);
    ck_assert(!build(2));
    ck_assert_int_eq(count_files(".so", other), 1);
    /* as if the two had the same hash */
    ck_assert_int_eq(rename(other, first), 0);
    ck_assert(!build(1));
}
END_TEST

START_TEST(file_that_others_may_write_is_not_taken)
{
    char path[PATH_MAX];
    enter_room();
    read_options();
    ck_assert(!build(1));
    ck_assert_int_eq(count_files(".so", path), 1);
    ck_assert_int_eq(chmod(path, 0666), 0);
    ck_assert(!build(1));
    ck_assert(build(1)); /* what replaced it */
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(path, 12345, 12345), 0);
        ck_assert(!build(1));
    }
}
END_TEST

START_TEST(symbolic_link_is_not_followed)
{
    char path[PATH_MAX];
    enter_room();
    read_options();
    ck_assert(!build(1));
    ck_assert_int_eq(count_files(".so", path), 1);
    ck_assert_int_eq(rename(path, in_room("elsewhere")), 0);
    ck_assert_int_eq(symlink(in_room("elsewhere"), path), 0);
    ck_assert(!build(1));
    ck_assert(build(1));
}
END_TEST

START_TEST(folder_that_others_may_write_is_not_used)
{
    enter_room();
    ck_assert_int_eq(mkdir(in_room("cache"), 0700), 0);
    ck_assert_int_eq(chmod(in_room("cache"), 0777), 0);
    read_options();
    ck_assert(!build(1));
    ck_assert(!build(1));
    ck_assert_int_eq(count_files("", NULL), 0);
}
END_TEST

START_TEST(cache_that_is_a_file_is_not_used)
{
    enter_room();
    int fd = open(in_room("cache"), O_CREAT | O_WRONLY, 0600);
    close(fd);
    read_options();
    ck_assert(!build(1));
    ck_assert(!build(1));
}
END_TEST

START_TEST(folders_are_made)
{
    enter_room();
    setenv("XDG_CACHE_HOME", in_room("a/b"), 1);
    unsetenv("SOFTCUDA_CACHE");
    read_options();
    ck_assert(!build(1));
    ck_assert(build(1));
    ck_assert_int_eq(access(in_room("a/b/softcuda"), F_OK), 0);
}
END_TEST

START_TEST(cache_removed_meanwhile_is_no_harm)
{
    enter_room();
    read_options();
    ck_assert(!build(1));
    nftw(in_room("cache"), remove_one, 8, FTW_DEPTH | FTW_PHYS);
    ck_assert(!build(1));
    ck_assert(!build(2));
}
END_TEST

START_TEST(full_disk_builds_without_the_cache)
{
    enter_room();
    ck_assert_int_eq(mkdir(in_room("cache"), 0700), 0);
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", in_room("cache"), "tmpfs", 0, "size=8k,mode=0700") != 0) {
        printf("no mounts here: the full disk is not tested\n");
        return;
    }
    read_options();
    ck_assert(!build(1));
    ck_assert(!build(2));
    ck_assert_int_eq(count_files("", NULL), 0);
    umount(in_room("cache"));
}
END_TEST

START_TEST(limit_removes_what_was_used_longest_ago)
{
    char path[PATH_MAX];
    struct stat st;
    enter_room();
    read_options();
    build(0);
    ck_assert_int_eq(count_files(".so", path), 1);
    ck_assert_int_eq(stat(path, &st), 0);
    char limit[32];
    snprintf(limit, sizeof limit, "%lld",
             (long long)st.st_blocks * 512 * 7 / 2);
    setenv("SOFTCUDA_CACHE_MAX", limit, 1);
    read_options();
    for (int i = 1; i < 6; i++) {
        build(i);
        ck_assert(build(0)); /* used again and again: it stays */
        usleep(20000);
    }
    ck_assert_int_le(count_files(".so", NULL), 3);
    ck_assert(build(5));
    ck_assert(!build(1));
}
END_TEST

START_TEST(leftovers_of_killed_compilers_go)
{
    enter_room();
    read_options();
    build(1);
    const char *old = in_room("cache/.build-1-1.so");
    close(open(old, O_CREAT | O_WRONLY, 0600));
    struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    ck_assert_int_eq(utimensat(AT_FDCWD, old, times, 0), 0);
    build(2);
    ck_assert_int_eq(count_files("", NULL), 2);
}
END_TEST

static void refuse(const char *reason)
{
    struct sc_build_object object;
    read_options();
    ck_assert(!get(&object, 1));
    ck_assert_ptr_null(object.run);
    ck_assert_msg(strstr(why, reason), "'%s' has no '%s'", why, reason);
    ck_assert_int_eq(count_files("", NULL), 0);
}

START_TEST(no_compiler_is_a_reason)
{
    enter_room();
    setenv("SOFTCUDA_CC", "/dev/null/cc", 1);
    refuse("there is no C compiler");
    setenv("SOFTCUDA_CC", " ", 1);
    refuse("there is no C compiler");
    unsetenv("SOFTCUDA_CC");
    setenv("PATH", "/dev/null", 1);
    refuse("there is no C compiler 'cc'");
}
END_TEST

START_TEST(failing_compiler_is_a_reason)
{
    enter_room();
    use_script("echo 'x.c:1:1: error: out of mood' >&2; exit 3");
    refuse("failed with status 3: out of mood");
    use_script("exit 4");
    refuse("failed with status 4: no message");
    use_script("yes | head -c 1000000 >&2; exit 1");
    refuse("failed with status 1");
    use_script("kill -9 $$");
    refuse("ended by signal 9");
    use_script("exit 0");
    refuse("does not load");
    use_script("for out; do :; done; echo junk >$out");
    refuse("does not load");
    ck_assert_int_eq(truncate(in_room("cc.sh"), 0), 0);
    refuse("could not be started");
}
END_TEST

START_TEST(object_without_entry_is_a_reason)
{
    struct sc_build_object object;
    enter_room();
    read_options();
    ck_assert(!sc_build_object_get(&object, &options, "int other;\n", NULL, why,
                                   sizeof why));
    ck_assert_msg(strstr(why, "no entry point"), "%s", why);
    ck_assert(!sc_build_object_get(&object, &options, "int other\n",
                                   in_room("kept"), why, sizeof why));
    ck_assert_msg(strstr(why, "failed with status 1: expected"), "%s", why);
    ck_assert_int_eq(access(in_room("kept.log"), R_OK), 0);
}
END_TEST

START_TEST(many_processes_share_one_cache)
{
    enter_room();
    read_options();
    enum { PROCESSES = 4, TEXTS = 3 };
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            for (int k = 0; k < 2 * TEXTS; k++)
                build((i + k) % TEXTS);
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    ck_assert_int_eq(count_files("", NULL), TEXTS);
    for (int k = 0; k < TEXTS; k++)
        ck_assert(build(k));
}
END_TEST

static void *build_endlessly(void *result)
{
    struct sc_build_object object;
    *(bool *)result = get(&object, 1);
    return NULL;
}

START_TEST(stopped_compiler_ends_at_once)
{
    pthread_t thread;
    bool result = true;
    enter_room();
    use_script("sleep 30; exit 0");
    read_options();
    double begin = now_ms();
    pthread_create(&thread, NULL, build_endlessly, &result);
    usleep(200000);
    sc_build_cc_stop();
    pthread_join(thread, NULL);
    ck_assert(!result);
    ck_assert_msg(strstr(why, "ended by signal"), "%s", why);
    ck_assert_double_lt(now_ms() - begin, 10000);
}
END_TEST

/* Compile C text that is `bytes` long, nearly all of it a comment. */
static bool compile_long(const struct sc_build_cc *cc, size_t bytes)
{
    static const char code[] = "int answer(void) { return 42; }\n/*";
    char *text = malloc(bytes + 3);
    memset(text, '-', bytes);
    memcpy(text, code, strlen(code));
    strcpy(text + bytes, "*/");
    bool ok = sc_build_cc_run(cc, false, text, in_room("long.so"), why,
                              sizeof why, NULL) == SC_BUILD_CC_DONE;
    free(text);
    return ok;
}

/* Arguments of the compiler's last run. */
static const char *last_run(void)
{
    static char line[4096];
    FILE *file = fopen(in_room("runs"), "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
    }
    fclose(file);
    return line;
}

START_TEST(large_texts_are_compiled_with_less_effort)
{
    static const struct {
        size_t bytes;
        const char *effort; /* what -x comes behind */
    } texts[] = {
        {1000, "-w"}, {(size_t)2 << 20, "-O1"}, {(size_t)5 << 20, "-O0"}};
    struct sc_build_cc cc;
    enter_room();
    use_script("echo \"$*\" >>${0%/*}/runs; exec cc \"$@\"");
    read_options();
    ck_assert(sc_build_cc_find(&cc, &options, why, sizeof why));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ck_assert_msg(compile_long(&cc, texts[i].bytes), "%s", why);
        const char *run = last_run(), *at = strstr(run, texts[i].effort);
        bool last = i > 0 || (!strstr(run, "-O1") && !strstr(run, "-O0"));
        ck_assert_msg(at && last && strstr(at, "-x c"), "%s", run);
    }
}
END_TEST

START_TEST(lesser_instruction_sets_build)
{
    static const char *const names[] = {"generic", "avx2", "avx512"};
    enter_room();
    read_options();
    enum sc_native_isa best = options.isa;
    for (unsigned i = 0; i <= (unsigned)best; i++) {
        setenv("SOFTCUDA_ISA", names[i], 1);
        read_options();
        ck_assert_uint_eq(options.isa, i);
        ck_assert(!build(1));
        ck_assert(build(1));
    }
    setenv("SOFTCUDA_ISA", "mmx", 1);
    read_options();
    ck_assert_uint_eq(options.isa, best);
}
END_TEST

START_TEST(wrong_values_keep_the_usual)
{
    enter_room();
    setenv("SOFTCUDA_NATIVE", "perhaps", 1);
    setenv("SOFTCUDA_CACHE_MAX", "12Q", 1);
    sc_build_options_read(&options);
    ck_assert_int_eq(options.mode, SC_BUILD_ON);
    ck_assert_uint_eq(options.cache_max, 256u << 20);
    setenv("SOFTCUDA_NATIVE", "wait", 1);
    setenv("SOFTCUDA_CACHE_MAX", "3M", 1);
    sc_build_options_read(&options);
    ck_assert_int_eq(options.mode, SC_BUILD_WAIT);
    ck_assert_uint_eq(options.cache_max, 3u << 20);
}
END_TEST

SUITE_MAIN(
    "softcuda native: compiler and cache", 60,
    second_build_comes_from_the_cache, other_flags_or_compiler_is_another_entry,
    damaged_files_are_built_again, file_of_another_key_is_not_taken,
    file_that_others_may_write_is_not_taken, symbolic_link_is_not_followed,
    folder_that_others_may_write_is_not_used, cache_that_is_a_file_is_not_used,
    folders_are_made, cache_removed_meanwhile_is_no_harm,
    full_disk_builds_without_the_cache, limit_removes_what_was_used_longest_ago,
    leftovers_of_killed_compilers_go, no_compiler_is_a_reason,
    failing_compiler_is_a_reason, object_without_entry_is_a_reason,
    many_processes_share_one_cache, stopped_compiler_ends_at_once,
    large_texts_are_compiled_with_less_effort, lesser_instruction_sets_build,
    wrong_values_keep_the_usual)
