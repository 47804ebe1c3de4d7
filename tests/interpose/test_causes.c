/*
 * Bytes are counted, and traced, for who made them move: a program that does one
 * thing after the other, each of which moves bytes for a cause of its own.
 *
 * Meson runs it preloaded.
 */
#include "interpose/oversubscribe.h"

#include "base/cause.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

enum { UP, DOWN, DEVICE, WAYS };
enum { BLOCK = 64 << 10, SMALL = 8 * BLOCK, ANY = -1 };

static const char *const words[] = {
#define CAUSE(name, help) #name,
#include "base/causes.def"
#undef CAUSE
};

static const struct {
    enum adsm_stat sum, first;
} ways[WAYS] = {
    [UP] = {ADSM_STAT_bytes_up, ADSM_STAT_up_fault},
    [DOWN] = {ADSM_STAT_bytes_down, ADSM_STAT_down_fault},
    [DEVICE] = {ADSM_STAT_bytes_device, ADSM_STAT_device_fault},
};

struct moved {
    int way;
    enum adsm_why why;
    long bytes; /* ANY: some */
};

static uint64_t seen[WAYS][ADSM_WHYS];

static uint64_t since(int way, int why)
{
    uint64_t now = counter_get((enum adsm_stat)(ways[way].first + why));
    return now - seen[way][why];
}

static void must_add_up(void)
{
    for (int way = 0; way < WAYS; way++) {
        uint64_t sum = 0;
        for (int why = 0; why < ADSM_WHYS; why++)
            sum += counter_get((enum adsm_stat)(ways[way].first + why));
        ck_assert_uint_eq(sum, counter_get(ways[way].sum));
    }
}

/* Since the last time just these bytes have moved. */
static void must_have_moved_(const char *what, const struct moved *moved,
                             size_t count)
{
    long wanted[WAYS][ADSM_WHYS] = {0};
    for (size_t i = 0; i < count; i++)
        wanted[moved[i].way][moved[i].why] = moved[i].bytes;
    for (int way = 0; way < WAYS; way++)
        for (int why = 0; why < ADSM_WHYS; why++) {
            long got = (long)since(way, why), want = wanted[way][why];
            ck_assert_msg(want == ANY ? got > 0 : got == want,
                          "%s: %ld bytes, not %ld, in direction %d for %s",
                          what, got, want, way, words[why]);
            seen[way][why] += (uint64_t)got;
        }
    must_add_up();
}

#define must_have_moved(what, ...)                                             \
    do {                                                                       \
        const struct moved list[] = {__VA_ARGS__};                             \
        must_have_moved_(what, list, sizeof list / sizeof *list);              \
    } while (0)

static void must_be_still(const char *what)
{
    must_have_moved_(what, NULL, 0);
}

/* y += 3 * x, for so many bytes, and the return from it. */
static void add_bytes(CUdeviceptr x, CUdeviceptr y, unsigned bytes)
{
    void *arguments[] = {&x, &y};
    must(cuLaunchKernel(kernel("add"), bytes / 4 / THREADS, 1, 1, THREADS, 1, 1,
                        0, NULL, arguments, NULL));
    must(cuCtxSynchronize());
}

static CUdeviceptr make(size_t bytes)
{
    CUdeviceptr at;
    must(cuMemAlloc(&at, bytes));
    return at;
}

static void set_up(const char *protocol)
{
    setenv("ADSM_PROTOCOL", protocol, 1);
    setenv("ADSM_BLOCK_SIZE", "64K", 1);
    setenv("ADSM_ROLLING_SIZE", "8", 1);
    setenv("ADSM_ROLLING_LEARN", "0", 1);
    setenv("ADSM_FAULT_ENGINE", "sigsegv", 1);
}

static __attribute__((noinline)) void read_at(CUdeviceptr at)
{
    (void)*(volatile uint8_t *)at;
}

static __attribute__((noinline)) void write_at(CUdeviceptr at)
{
    *(volatile uint8_t *)at = 1;
}

/* ---- steps ------------------------------------------------------------------- */

/* `a` is the device's, and `b` as well. */
static void call_and_fault(CUdeviceptr a, CUdeviceptr b, void *plain)
{
    must(cuMemcpyHtoD(a, plain, BYTES));
    must_have_moved("copy to the device", {UP, ADSM_WHY_own, BYTES});
    must(cuMemsetD8(b, 1, BYTES));
    add_bytes(a, b, BYTES);
    must_be_still("call of what the device has");
    read_at(b);
    must_have_moved("read", {DOWN, ADSM_WHY_fault, BLOCK});
    write_at(b);
    must_be_still("write of what the host has");
    add_bytes(b, a, BYTES);
    must_have_moved("call of what was written", {UP, ADSM_WHY_call, BLOCK});
}

static void loan_and_bulk(CUdeviceptr a, CUdeviceptr b, void *plain)
{
    int fd = memfd_create("causes", 0);
    ck_assert_int_eq(write(fd, (void *)(b + 4 * BLOCK), BLOCK), BLOCK);
    close(fd);
    must_have_moved("write(2)", {DOWN, ADSM_WHY_loan, BLOCK});
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], plain, 100), 100);
    ck_assert_int_eq(read(ends[0], (void *)(b + 20 * BLOCK + 5), 100), 100);
    must_have_moved("read(2) through a buffer", {DOWN, ADSM_WHY_loan, BLOCK});
    memcpy(plain, (void *)(b + 8 * BLOCK), 2 * BLOCK);
    must_have_moved("memcpy", {DOWN, ADSM_WHY_bulk, 2 * BLOCK});
    memset((void *)a, 0, BYTES);
    must_have_moved("memset of the device's", {DEVICE, ADSM_WHY_bulk, BYTES});
}

static void write_back_and_copy(CUdeviceptr a, CUdeviceptr b, void *plain)
{
    for (size_t i = 0; i < BYTES; i += BLOCK)
        write_at(a + i);
    must_have_moved("writes of more than the rolling size",
                    {DOWN, ADSM_WHY_fault, BYTES},
                    {UP, ADSM_WHY_write_back, ANY});
    must(cuMemcpyDtoH(plain, a, BYTES));
    must_have_moved("copy of what was written", {UP, ADSM_WHY_own, ANY},
                    {DOWN, ADSM_WHY_own, BYTES});
    must(cuMemcpyDtoD(b, a, BYTES));
    must_have_moved("copy on the device", {DEVICE, ADSM_WHY_own, BYTES});
}

/* `c` is written while it is away; `b` makes room for it. */
static void evict(CUdeviceptr a)
{
    CUdeviceptr c = make(BYTES);
    for (size_t i = 0; i < BYTES; i += 4096)
        write_at(c + i);
    must_be_still("writes of what is away");
    add_bytes(c, a, BYTES);
    must_have_moved("call of what is away", {UP, ADSM_WHY_call, BYTES},
                    {DOWN, ADSM_WHY_evict, BYTES});
}

static void await(int way, int why, uint64_t bytes)
{
    for (int i = 0; i < 30000 && since(way, why) < bytes; i++)
        nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
}

static void ahead(CUdeviceptr s)
{
    must(cuMemsetD8(s, 1, SMALL));
    add_bytes(s, s, SMALL);
    read_at(s);
    read_at(s + 4 * BLOCK);
    must_have_moved("reads", {DOWN, ADSM_WHY_fault, 2 * BLOCK});
    add_bytes(s, s, SMALL);
    await(DOWN, ADSM_WHY_ahead, 2 * BLOCK);
    must_have_moved("what was read, after a return",
                    {DOWN, ADSM_WHY_ahead, 2 * BLOCK});
    read_at(s);
    must_be_still("read of what came ahead");
}

static void increment(void *at)
{
    ++*(volatile uint8_t *)at;
}

static void turn(CUdeviceptr s)
{
    must(cuMemsetD8(s, 1, SMALL));
    must(cuLaunchHostFunc(NULL, increment, (void *)s));
    must(cuCtxSynchronize());
    must_have_moved("a host function", {DOWN, ADSM_WHY_fault, ANY},
                    {UP, ADSM_WHY_turn, ANY});
}

static void move_for_each_cause(void)
{
    void *plain = calloc(1, BYTES);
    set_up("rolling");
    oversubscribe_with(MEMORY_MIB + 4); /* for two arrays, and a small one */
    CUdeviceptr a = make(BYTES), b = make(BYTES), s = make(SMALL);
    call_and_fault(a, b, plain);
    loan_and_bulk(a, b, plain);
    write_back_and_copy(a, b, plain);
    evict(a);
    ahead(s);
    turn(make(SMALL));
}

START_TEST(each_cause_is_counted_where_it_belongs)
{
    move_for_each_cause();
}
END_TEST

START_TEST(batch_fetches_behind_a_kernel)
{
    set_up("batch");
    device_start();
    CUdeviceptr s = make(SMALL);
    must(cuMemsetD8(s, 1, SMALL));
    add_bytes(s, s, SMALL);
    must_have_moved("return", {DOWN, ADSM_WHY_acquire, SMALL});
    add_bytes(s, s, SMALL);
    must_have_moved("call and return", {UP, ADSM_WHY_call, SMALL},
                    {DOWN, ADSM_WHY_acquire, SMALL});
}
END_TEST

/* ---- the trace --------------------------------------------------------------- */

/* What reads one block of an array, sends it, and tells where the array is. */
static void traced(const char *path, uintptr_t *at)
{
    setenv("ADSM_TRACE", path, 1);
    set_up("rolling");
    device_start();
    CUdeviceptr s = make(SMALL);
    *at = s;
    must(cuMemsetD8(s, 1, SMALL));
    read_at(s + BLOCK);
    write_at(s + BLOCK);
    add_bytes(s, s, SMALL);
    exit(0);
}

/* The line of the one event `name` for this cause. */
static char *find_event(char *file, const char *name, const char *why)
{
    char *found = NULL, *rest = file, *line;
    while ((line = strtok_r(rest, "\n", &rest)))
        if (strstr(line, name) && strstr(line, why)) {
            ck_assert_ptr_null(found);
            found = line;
        }
    ck_assert_msg(found != NULL, "no %s with %s", name, why);
    return found;
}

static uintptr_t address_in(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    ck_assert_msg(at != NULL, "no %s in %s", key, line);
    return strtoul(at + strlen(key), NULL, 16);
}

static char *read_file(const char *path)
{
    static char text_of[1 << 20];
    FILE *in = fopen(path, "r");
    ck_assert_ptr_nonnull(in);
    text_of[fread(text_of, 1, sizeof text_of - 1, in)] = '\0';
    fclose(in);
    return text_of;
}

START_TEST(trace_names_cause_object_and_instruction)
{
    enum { LONGEST = 512 };
    char path[] = "/tmp/adsm-causes-XXXXXX";
    uintptr_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;
    close(mkstemp(path));
    pid_t child = fork();
    if (child == 0)
        traced(path, at);
    waitpid(child, &status, 0);
    ck_assert_int_eq(status, 0);
    char *down = strdup(read_file(path)), *up = strdup(read_file(path));
    unlink(path);
    down = find_event(down, "\"download\"", "\"cause\":\"fault\"");
    ck_assert_uint_eq(address_in(down, "\"object\":\""), *at);
    ck_assert_ptr_nonnull(strstr(down, "\"object_bytes\":524288"));
    ck_assert_uint_lt(
        address_in(down, "\"instruction\":\"") - (uintptr_t)read_at, LONGEST);
    up = find_event(up, "\"upload\"", "\"cause\":\"call\"");
    ck_assert_uint_eq(address_in(up, "\"object\":\""), *at);
    ck_assert_ptr_null(strstr(up, "instruction"));
}
END_TEST

/* Bytes of the events with that way and cause. */
static uint64_t bytes_traced(const char *file, const char *way, const char *why)
{
    static const char key[] = "\"args\":{\"bytes\":";
    char want_way[32], want_why[32];
    uint64_t sum = 0;
    snprintf(want_way, sizeof want_way, "\"way\":\"%s\"", way);
    snprintf(want_why, sizeof want_why, "\"cause\":\"%s\"", why);
    for (const char *at = file; (at = strstr(at, key)) != NULL; at++) {
        const char *end = strchr(at, '\n');
        const char *its_way = strstr(at, want_way);
        const char *its_why = strstr(at, want_why);
        if (its_way && its_way < end && its_why && its_why < end)
            sum += strtoull(at + sizeof key - 1, NULL, 10);
    }
    return sum;
}

/* What the head says that was counted. */
static uint64_t bytes_counted(const char *file, const char *way,
                              const char *why)
{
    char key[64];
    snprintf(key, sizeof key, "\"%s_%s\":", way, why);
    const char *at = strstr(file, key);
    return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

START_TEST(trace_has_the_bytes_of_each_cause)
{
    static const char *const names[WAYS] = {"up", "down", "device"};
    char path[] = "/tmp/adsm-causes-XXXXXX";
    int status, moved = 0;
    close(mkstemp(path));
    pid_t child = fork();
    if (child == 0) {
        setenv("ADSM_TRACE", path, 1);
        move_for_each_cause();
        exit(0);
    }
    waitpid(child, &status, 0);
    ck_assert_int_eq(status, 0);
    const char *file = read_file(path);
    unlink(path);
    ck_assert_ptr_nonnull(strstr(file, "\"events_overwritten\":0,"));
    for (int way = 0; way < WAYS; way++)
        for (int why = 0; why < ADSM_WHYS; why++) {
            uint64_t bytes = bytes_traced(file, names[way], words[why]);
            ck_assert_msg(bytes == bytes_counted(file, names[way], words[why]),
                          "%s for %s: %ju", names[way], words[why],
                          (uintmax_t)bytes);
            moved += bytes != 0;
        }
    ck_assert_int_gt(moved, 9);
}
END_TEST

SUITE_MAIN("interpose-causes", 60, each_cause_is_counted_where_it_belongs,
           batch_fetches_behind_a_kernel,
           trace_names_cause_object_and_instruction,
           trace_has_the_bytes_of_each_cause)
