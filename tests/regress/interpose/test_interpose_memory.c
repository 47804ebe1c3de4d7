/*
 * What shared memory costs a program beside its own: in a core file, where all
 * of its memory is locked, and on a device that has no more. A small object
 * cost a gigabyte of the first two, since the host's side of objects is cut
 * from mappings of that size, and a full device said nothing.
 */
#include "preloaded.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 4 << 20, MOST_KIB = 200 << 10 };

static const char mark[] = "bytes that the CPU wrote to shared memory";

/* A shared object of which all pages are written, and a large one of which a
 * few are. */
static void use(void)
{
    device_start();
    uint8_t *small = device_bytes(BYTES, 1),
            *large = device_bytes(300 << 20, 2);
    for (size_t i = 0; i < BYTES; i += 4096)
        ((volatile uint8_t *)small)[i] = 3;
    ((volatile uint8_t *)large)[200 << 20] = 4;
    for (size_t i = 0; i < sizeof mark; i++)
        ((volatile char *)small)[5000 + i] = mark[i];
    ck_assert(runtime_is_up());
}

/* KiB in memory of the mappings of the library's files, by either name. */
static size_t resident_kib(void)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[512];
    size_t kib, sum = 0;
    bool ours = false;
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        if (strstr(line, "memfd:"))
            ours = strstr(line, "memfd:adsm") != NULL;
        else if (ours && sscanf(line, "Rss: %zu", &kib) == 1)
            sum += kib;
        else if (strncmp(line, "VmFlags:", 8) == 0)
            ours = false;
    }
    fclose(file);
    return sum;
}

/* KiB of mappings that the kernel would dump: written private memory, and
 * shared memory without a name in the file system. */
static size_t dumped_kib(void)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[512];
    size_t size = 0, anonymous = 0, sum = 0;
    bool shared = false, nameless = false;
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        char mode[5], name[256] = "";
        if (sscanf(line, "%*x-%*x %4s %*x %*s %*d %255[^\n]", mode, name) >=
                1 &&
            strlen(mode) == 4) {
            shared = mode[3] == 's';
            nameless = !name[0] || strstr(name, "(deleted)");
        }
        sscanf(line, "Size: %zu", &size);
        sscanf(line, "Anonymous: %zu", &anonymous);
        if (strncmp(line, "VmFlags:", 8) == 0 && !strstr(line, " dd") &&
            (anonymous > 0 || (shared && nameless)))
            sum += size;
    }
    fclose(file);
    return sum;
}

static bool cores_are_files(void)
{
    char first = '|';
    FILE *file = fopen("/proc/sys/kernel/core_pattern", "r");
    if (file && fread(&first, 1, 1, file) != 1)
        first = '|';
    if (file)
        fclose(file);
    return first != '|' && first != '/';
}

/* The one file of the working directory; its size in KiB. */
static size_t core_kib(bool *marked)
{
    struct stat info;
    char command[128];
    ck_assert_int_eq(system("mv core* the-core"), 0);
    ck_assert_int_eq(stat("the-core", &info), 0);
    snprintf(command, sizeof command, "grep -qa '%s' the-core", mark);
    *marked = system(command) == 0;
    return (size_t)info.st_size / 1024;
}

START_TEST(core_file_holds_what_was_used_and_little_else)
{
    char folder[] = "/tmp/adsm-core-XXXXXX";
    struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
    int status;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    pid_t child = fork();
    if (child == 0) {
        use();
        if (dumped_kib() > MOST_KIB) {
            printf("memory: %zu KiB would be dumped\n", dumped_kib());
            _exit(1);
        }
        if (!cores_are_files() || setrlimit(RLIMIT_CORE, &unlimited) != 0)
            _exit(0);
        abort();
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    bool dumped = WIFSIGNALED(status) && WCOREDUMP(status);
    bool marked = true;
    size_t kib = dumped ? core_kib(&marked) : 0;
    printf("memory: core file of %zu KiB\n", kib);
    ck_assert_int_eq(system("rm -f core* the-core"), 0);
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert(dumped || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    ck_assert_uint_lt(kib, MOST_KIB);
    ck_assert(marked);
}
END_TEST

/* (What the software device maps is locked whole, without the library, too.) */
START_TEST(locked_memory_holds_what_was_used_and_little_else)
{
    if (mlockall(MCL_FUTURE) != 0) {
        printf("memory: not allowed to lock: %s\n", strerror(errno));
        return;
    }
    use();
    size_t kib = resident_kib();
    printf("memory: %zu KiB of shared memory resident\n", kib);
    ck_assert_uint_ge(kib, BYTES / 1024);
    ck_assert_uint_lt(kib, MOST_KIB);
}
END_TEST

/* 40 MiB and 20 small ones of 64 MiB, then more than is left, twice. */
static void exhaust(void)
{
    CUdeviceptr at;
    device_start();
    must(cuMemAlloc(&at, 40 << 20));
    for (int i = 0; i < 20; i++)
        must(cuMemAlloc(&at, 3000));
    ck_assert_int_eq(cuMemAlloc(&at, 32 << 20), CUDA_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(cuMemAlloc(&at, 32 << 20), CUDA_ERROR_OUT_OF_MEMORY);
    must(cuMemAlloc(&at, 4 << 20));
}

START_TEST(first_refused_allocation_says_what_there_is)
{
    char said[4096] = "";
    int ends[2];
    setenv("SOFTCUDA_MEMORY", "64M", 1);
    ck_assert_int_eq(pipe(ends), 0);
    int before = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    exhaust();
    dup2(before, STDERR_FILENO);
    ck_assert_int_gt(read(ends[0], said, sizeof said - 1), 0);
    char *line = strstr(said, "libadsm: warning: device 0 has no room for");
    ck_assert_msg(line != NULL, "%s", said);
    double asked, objects, slabs, unused, total, left;
    size_t object_count, slab_count;
    ck_assert_msg(
        sscanf(line,
               "libadsm: warning: device 0 has no room for %lf MiB: libadsm "
               "holds %lf MiB in %zu objects, %lf in %zu slabs of small ones "
               "and %lf unused beside them; of the device's %lf MiB %lf are "
               "free",
               &asked, &objects, &object_count, &slabs, &slab_count, &unused,
               &total, &left) == 8,
        "%s", line);
    ck_assert_msg(asked == 32 && objects == 40 && object_count == 1, "%s",
                  line);
    /* How large a slab is, is its own affair; it shares a granule. */
    ck_assert_msg(slab_count == 1 && slabs > 0.05 && slabs + unused == 2, "%s",
                  line);
    ck_assert_msg(total == 64 && left == 22, "%s", line);
    ck_assert_ptr_null(strstr(strchr(line, '\n'), "has no room for"));
}
END_TEST

SUITE_MAIN("regress-interpose-memory", 240,
           core_file_holds_what_was_used_and_little_else,
           locked_memory_holds_what_was_used_and_little_else,
           first_refused_allocation_says_what_there_is)
