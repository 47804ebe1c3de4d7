/*
 * A program under every kind of shortage, bare and preloaded: it ends by
 * itself, what it got was right, and what it did not get one message names.
 * Where the bare program has enough, so has the preloaded one that copies; one
 * that touches device memory may be refused where the row says so.
 *
 * Where things are comes from the environment as in test_victims.c. Shortages
 * that need root, or a system that lets it, are skipped with the reason.
 */
#include "common/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>

enum { SKIPPED = 77, TEXT = 16384 };

/* Users that run nothing else; a new one for each run, since what one has left
 * behind, compilers for one, would count. */
enum { FIRST_USER = 61234 };
static unsigned runs;

struct row {
    const char *name;
    /* In the child, before it executes. Return: why not, NULL: done. */
    const char *(*limit)(long amount);
    long amount;
    bool may_refuse; /* what touches, where the bare program has enough */
};

struct outcome {
    int status;
    char out[TEXT], err[TEXT];
};

/* ---- shortages -------------------------------------------------------------- */

static const char *lower(int resource, long amount)
{
    struct rlimit limit = {(rlim_t)amount, (rlim_t)amount};
    return setrlimit(resource, &limit) == 0 ? NULL : strerror(errno);
}

static const char *none(long unused)
{
    (void)unused;
    return NULL;
}

static const char *descriptors(long amount)
{
    return lower(RLIMIT_NOFILE, amount);
}

static const char *file_size(long amount)
{
    return lower(RLIMIT_FSIZE, amount);
}

static const char *stack(long amount)
{
    return lower(RLIMIT_STACK, amount);
}

static const char *addresses(long amount)
{
    return lower(RLIMIT_AS, amount);
}

static const char *data(long amount)
{
    return lower(RLIMIT_DATA, amount);
}

/* Root may lock what it likes, also what it executes. */
static const char *locked(long amount)
{
    if (geteuid() == 0 && prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0) != 0)
        return strerror(errno);
    return lower(RLIMIT_MEMLOCK, amount);
}

static const char *threads(long amount)
{
    if (geteuid() != 0)
        return "needs root, to be another user";
    unsigned user = FIRST_USER + runs;
    if (setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0)
        return strerror(errno);
    if (access(getenv("PRELOAD"), R_OK) != 0)
        return "another user cannot read the library";
    return lower(RLIMIT_NPROC, amount);
}

static const char *small_pages(long unused)
{
    (void)unused;
    return prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0 ? NULL : strerror(errno);
}

/* A name space of its own, in which a folder is another file system. */
static const char *instead(const char *folder, unsigned long flags,
                           const char *options)
{
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", folder, "tmpfs", flags, options) != 0)
        return "no mount name space of its own (needs root)";
    return NULL;
}

static const char *no_proc(long unused)
{
    (void)unused;
    return instead("/proc", 0, NULL);
}

static const char *no_sys(long unused)
{
    (void)unused;
    return instead("/sys", 0, NULL);
}

static const char *no_dev(long unused)
{
    (void)unused;
    return instead("/dev", 0, NULL);
}

static const char *read_only_shm(long unused)
{
    (void)unused;
    return instead("/dev/shm", MS_RDONLY, NULL);
}

static const char *full_shm(long unused)
{
    (void)unused;
    return instead("/dev/shm", 0, "size=4k,nr_inodes=1");
}

static const char *full_tmp(long unused)
{
    (void)unused;
    return instead("/tmp", 0, "size=64k,mode=1777");
}

/* A control group's memory, of version 1 or 2; see leave_group. */
static const char *group_memory(long amount)
{
    static const char *const places[][2] = {
        {"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
        {"/sys/fs/cgroup", "memory.max"}};
    char path[256], text[32];
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/adsm-test-%d", places[i][0],
                 (int)getppid());
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            continue;
        snprintf(path, sizeof path, "%s/adsm-test-%d/%s", places[i][0],
                 (int)getppid(), places[i][1]);
        int file = open(path, O_WRONLY | O_CLOEXEC);
        int n = snprintf(text, sizeof text, "%ld", amount);
        bool set = file >= 0 && write(file, text, (size_t)n) == n;
        close(file);
        snprintf(path, sizeof path, "%s/adsm-test-%d/cgroup.procs",
                 places[i][0], (int)getppid());
        file = open(path, O_WRONLY | O_CLOEXEC);
        set = set && file >= 0 && write(file, "0", 1) == 1;
        close(file);
        if (set)
            return NULL;
    }
    return "control groups are not to be written";
}

static void leave_group(void)
{
    char path[256];
    for (int i = 0; i < 200; i++) { /* until the device process is gone */
        snprintf(path, sizeof path, "/sys/fs/cgroup/memory/adsm-test-%d",
                 (int)getpid());
        int v1 = rmdir(path) != 0 && errno == EBUSY;
        snprintf(path, sizeof path, "/sys/fs/cgroup/adsm-test-%d",
                 (int)getpid());
        if (!v1 && !(rmdir(path) != 0 && errno == EBUSY))
            return;
        usleep(10000);
    }
}

/* ---- runs ------------------------------------------------------------------- */

static void run_child(const struct row *row, const char *argument,
                      const char *preload, const int *out, const int *err)
{
    char path[4096];
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    setenv("LD_LIBRARY_PATH", getenv("DEVICE_DIR"), 1);
    snprintf(path, sizeof path, "%s/scarce", getenv("VICTIM_DIR"));
    const char *why = row->limit(row->amount);
    if (preload)
        setenv("LD_PRELOAD", preload, 1);
    if (!why)
        execl(path, path, argument, (char *)NULL);
    dprintf(STDOUT_FILENO, "%s", why ? why : strerror(errno));
    _exit(SKIPPED);
}

static void collect(int in, char *text)
{
    size_t n = 0;
    ssize_t got;
    while (n < TEXT - 1 && (got = read(in, text + n, TEXT - 1 - n)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    close(in);
}

static struct outcome run(const struct row *row, const char *argument,
                          const char *preload)
{
    static struct outcome outcome;
    int out[2], err[2];
    ck_assert_int_eq(pipe(out), 0);
    ck_assert_int_eq(pipe(err), 0);
    runs++;
    pid_t child = fork();
    if (child == 0)
        run_child(row, argument, preload, out, err);
    close(out[1]);
    close(err[1]);
    collect(out[0], outcome.out); /* what it says is little */
    collect(err[0], outcome.err);
    ck_assert_int_eq(waitpid(child, &outcome.status, 0), child);
    leave_group();
    return outcome;
}

static int messages(const char *text)
{
    int count = 0;
    for (; (text = strstr(text, "libadsm:")); text++)
        count++;
    return count;
}

static bool is(const struct outcome *outcome, const char *answer)
{
    return strncmp(outcome->out, answer, strlen(answer)) == 0;
}

static void check_row(const struct row *row)
{
    struct outcome bare = run(row, "explicit", NULL);
    if (bare.status == SKIPPED << 8) {
        printf("%s %ld: skipped: %s\n", row->name, row->amount, bare.out);
        return;
    }
    for (int touch = 0; touch < 2; touch++) {
        struct outcome got =
            run(row, touch ? "touch" : "explicit", getenv("PRELOAD"));
        printf("%s %ld %s: %.60s%s", row->name, row->amount,
               touch ? "touch" : "copies", got.out, got.err);
        ck_assert_msg(got.status == 0, "%s %ld: status %x (bare %x): %s%s",
                      row->name, row->amount, (unsigned)got.status,
                      (unsigned)bare.status, got.out, got.err);
        bool right = is(&got, "right");
        ck_assert_msg(right || (touch && row->may_refuse) ||
                          !is(&bare, "right"),
                      "%s %ld: %s%s", row->name, row->amount, got.out, got.err);
        ck_assert_msg(messages(got.err) <= 1, "%s %ld: %s", row->name,
                      row->amount, got.err);
        ck_assert_msg(right || got.err[0] || is(&got, "refused: malloc"),
                      "%s %ld: %s, and no word", row->name, row->amount,
                      got.out);
    }
}

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_row(&rows[i]);
}

#define ROWS(rows) check_rows(rows, sizeof(rows) / sizeof *(rows))

START_TEST(few_descriptors)
{
    for (long amount = 4; amount < 16; amount++)
        check_row(&(struct row){"descriptors", descriptors, amount, true});
}
END_TEST

START_TEST(small_files_and_odd_stacks)
{
    static const struct row rows[] = {{"nothing", none, 0, false},
                                      {"file size", file_size, 0, true},
                                      {"file size", file_size, 1 << 20, true},
                                      {"stack", stack, 64 << 10, false},
                                      {"stack", stack, 256 << 10, false},
                                      {"stack", stack, -1, false}};
    ROWS(rows);
}
END_TEST

START_TEST(little_memory)
{
    static const struct row rows[] = {{"locked", locked, 0, false},
                                      {"locked", locked, 64 << 10, false},
                                      {"small pages", small_pages, 0, false},
                                      {"data", data, 9 << 20, true},
                                      {"data", data, 34 << 20, true},
                                      {"data", data, 128 << 20, false},
                                      {"group", group_memory, 64 << 20, false},
                                      {"group", group_memory, 32 << 20, false}};
    ROWS(rows);
}
END_TEST

START_TEST(few_addresses)
{
    for (long mib = 500; mib < 3000; mib += mib / 4)
        check_row(&(struct row){"addresses", addresses, mib << 20, true});
}
END_TEST

START_TEST(few_threads)
{
    for (long amount = 1; amount < 20; amount += amount < 4 ? 1 : 3)
        check_row(&(struct row){"threads", threads, amount, true});
}
END_TEST

START_TEST(file_systems_that_are_not_there)
{
    static const struct row rows[] = {
        {"no /proc", no_proc, 0, true},
        {"no /sys", no_sys, 0, false},
        {"no /dev", no_dev, 0, false},
        {"read-only /dev/shm", read_only_shm, 0, false},
        {"full /dev/shm", full_shm, 0, false},
        {"full /tmp", full_tmp, 0, false}};
    ROWS(rows);
}
END_TEST

int main(void)
{
    const TTest *const cases[] = {
        few_descriptors, small_files_and_odd_stacks,
        little_memory,   few_addresses,
        few_threads,     file_systems_that_are_not_there};
    if (!getenv("PRELOAD") || !getenv("VICTIM_DIR") || !getenv("DEVICE_DIR"))
        suite_skip("run through meson test");
    return suite_run("interpose-scarce", cases, sizeof cases / sizeof *cases,
                     120);
}
