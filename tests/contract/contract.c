/* Runs every row on plain and on shared memory, and compares. */
#include "contract.h"

#include "interpose/victims/victim.h"

#include <dlfcn.h>
#include <sys/uio.h>
#include <time.h>

enum {
    OBJECT = 256 << 10, /* bytes of each of two neighbours                   */
    PAGE = 4096,
    AROUND = 64, /* bytes compared on both sides                             */
    MOST = 20 << 10,
    TRIES = 24,
};

enum state { ON_DEVICE, READ, WRITTEN, STATES };
static const char *const states[] = {"on device", "read", "written"};

enum place { INSIDE, BLOCKS, OBJECTS, END, ODD, PLACES };
static const char *const places[] = {"inside a block", "across blocks",
                                     "across objects", "across the end",
                                     "misaligned"};

struct outcome {
    long result;
    int error;
    size_t bytes; /* of `seen` */
    uint8_t seen[MOST + 2 * AROUND], on_device[MOST + 2 * AROUND];
};

static uint8_t *shared, *plain; /* 2 * OBJECT each, and nothing behind */
static CUfunction kernel;
static unsigned failures, runs;

/* ---- memory -------------------------------------------------------------- */

static bool is_there(const uint8_t *at)
{
    uint8_t byte;
    struct iovec here = {&byte, 1}, there = {(void *)at, 1};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1;
}

/* Is it an object's, by the device's answer? */
static bool is_device(const uint8_t *at)
{
    uint8_t byte;
    return cuMemcpyDtoH(&byte, (CUdeviceptr)at, 1) == CUDA_SUCCESS;
}

static uint8_t *pair_of(CUdeviceptr a, CUdeviceptr b)
{
    CUdeviceptr low = a < b ? a : b, high = a < b ? b : a;
    uint8_t *end = (uint8_t *)high + OBJECT;
    if (low + OBJECT != high || is_device(end) || is_there(end))
        return NULL;
    return (uint8_t *)low;
}

/* Two neighbours with nothing behind them. */
static uint8_t *make_shared(void)
{
    CUdeviceptr at[TRIES];
    uint8_t *pair = NULL;
    int count = 0;
    for (; count < TRIES; count++)
        CHECK(cuMemAlloc(&at[count], OBJECT));
    for (int i = 0; i < count && !pair; i++)
        for (int k = 0; k < i && !pair; k++)
            pair = pair_of(at[i], at[k]);
    for (int i = 0; pair && i < count; i++)
        if (at[i] - (CUdeviceptr)pair >= 2 * OBJECT)
            CHECK(cuMemFree(at[i]));
    return pair;
}

static uint8_t *make_plain(void)
{
    uint8_t *at = mmap(NULL, 2 * OBJECT + PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(at + 2 * OBJECT, PAGE, PROT_NONE);
    return at;
}

/* The device may write one of the objects, and leaves it as it is. */
static void visit_device(uint8_t *object)
{
    uint32_t none = 0;
    void *args[] = {&object, &none, &none};
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    CHECK(cuCtxSynchronize());
}

static uint8_t *place_of(uint8_t *memory, enum place place, size_t bytes)
{
    static const size_t from[] = {[INSIDE] = 2 * PAGE + 256,
                                  [BLOCKS] = 9 * PAGE,
                                  [OBJECTS] = OBJECT,
                                  [END] = 2 * OBJECT,
                                  [ODD] = 16 * PAGE + 1};
    bool half = place == BLOCKS || place == OBJECTS || place == END;
    return memory + from[place] - (half ? bytes / 2 : 0);
}

/* The compared bytes around a place: those that are there. */
static uint8_t *around(uint8_t *memory, uint8_t *p, size_t bytes, size_t *some)
{
    uint8_t *end = memory + 2 * OBJECT;
    uint8_t *to = p + bytes + AROUND < end ? p + bytes + AROUND : end;
    *some = (size_t)(to - (p - AROUND));
    return p - AROUND;
}

static void prepare(uint8_t *memory, uint8_t *p, const uint8_t *init,
                    size_t bytes, enum state state)
{
    size_t some;
    volatile uint8_t *from = around(memory, p, bytes, &some);
    for (size_t i = 0; i < some; i++) {
        size_t at = i - AROUND;
        from[i] = at < bytes ? init[at] : (uint8_t)(0xa0 + i % 7);
    }
    if (memory != shared || state == WRITTEN)
        return;
    visit_device(shared);
    visit_device(shared + OBJECT);
    for (size_t i = 0; state == READ && i < some; i++)
        (void)from[i];
}

static void look(uint8_t *memory, uint8_t *p, size_t bytes, bool device_first,
                 struct outcome *outcome)
{
    volatile uint8_t *from = around(memory, p, bytes, &outcome->bytes);
    for (int step = 0; step < 2; step++) {
        if ((step == 0) != device_first)
            for (size_t i = 0; i < outcome->bytes; i++)
                outcome->seen[i] = from[i];
        else if (memory == shared) {
            /* What a kernel that comes now would see. */
            uint8_t *at = (uint8_t *)from;
            size_t first = at < shared + OBJECT ? (size_t)(shared + OBJECT - at)
                                                : outcome->bytes;
            if (first > outcome->bytes)
                first = outcome->bytes;
            visit_device(shared);
            visit_device(shared + OBJECT);
            CHECK(cuMemcpyDtoH(outcome->on_device, (CUdeviceptr)at, first));
            if (first < outcome->bytes)
                CHECK(cuMemcpyDtoH(outcome->on_device + first,
                                   (CUdeviceptr)at + first,
                                   outcome->bytes - first));
        }
    }
}

/* ---- rows ---------------------------------------------------------------- */

static void run_row(const struct contract_row *row, uint8_t *memory,
                    enum state state, enum place place, struct outcome *outcome)
{
    uint8_t init[MOST];
    uint8_t *p = place_of(memory, place, row->bytes);
    files_fresh();
    for (size_t i = 0; i < row->bytes; i++)
        init[i] = (uint8_t)(i * 5 + 1);
    if (row->fill)
        row->fill(init);
    prepare(memory, p, init, row->bytes, state);
    errno = 0;
    outcome->result = row->run(p);
    outcome->error = errno;
    look(memory, p, row->bytes, (state + place) % 2, outcome);
}

static bool same_bytes(const struct contract_row *row, const uint8_t *a,
                       const uint8_t *b, size_t bytes)
{
    if (!(row->flags & CONTRACT_LOOSE))
        return memcmp(a, b, bytes) == 0;
    size_t behind = AROUND + row->bytes;
    return memcmp(a, b, AROUND) == 0 &&
           (bytes <= behind ||
            memcmp(a + behind, b + behind, bytes - behind) == 0);
}

static void report(const struct contract_row *row, enum state state,
                   enum place place, const struct outcome *want,
                   const struct outcome *have, const char *what)
{
    if (failures++ >= 40)
        return;
    printf("%s, %s, %s: %s; want %ld %s, have %ld %s\n", row->name,
           states[state], places[place], what, want->result,
           want->error ? strerrorname_np(want->error) : "-", have->result,
           have->error ? strerrorname_np(have->error) : "-");
    for (size_t i = 0, shown = 0; i < want->bytes && shown < 4; i++)
        if (want->seen[i] != have->seen[i] ||
            want->seen[i] != have->on_device[i])
            shown++, printf("  byte %zd: %02x, CPU %02x, device %02x\n",
                            (ssize_t)i - AROUND, want->seen[i], have->seen[i],
                            have->on_device[i]);
    fflush(stdout);
}

static void compare(const struct contract_row *row, enum state state,
                    enum place place)
{
    static struct outcome want, have;
    if (place == END && row->flags & CONTRACT_WHOLE)
        return;
    run_row(row, plain, state, place, &want);
    run_row(row, shared, state, place, &have);
    runs++;
    if (want.result != have.result || want.error != have.error)
        report(row, state, place, &want, &have, "result");
    else if (!same_bytes(row, want.seen, have.seen, want.bytes))
        report(row, state, place, &want, &have, "bytes");
    else if (memcmp(have.seen, have.on_device, have.bytes) != 0)
        report(row, state, place, &want, &have, "device");
}

static void run_rows(const struct contract_row *rows, size_t count,
                     const char *only)
{
    for (size_t i = 0; i < count; i++) {
        if (only && strcmp(only, rows[i].name) != 0)
            continue;
        for (int state = 0; state < STATES; state++)
            for (int place = 0; place < PLACES; place++)
                compare(&rows[i], (enum state)state, (enum place)place);
    }
}

int main(int argc, char **argv)
{
    CUmodule module;
    const char *only = argc > 1 ? argv[1] : NULL;
    if (!dlsym(RTLD_DEFAULT, "adsm_is_up")) {
        printf("not preloaded: run through meson test\n");
        return 99;
    }
    victim_start();
    CHECK(cuModuleLoadData(&module, victim_ptx));
    CHECK(cuModuleGetFunction(&kernel, module, "step"));
    plain = make_plain();
    shared = make_shared();
    if (!shared) {
        printf("no two neighbours among %d allocations\n", TRIES);
        return 99;
    }
    files_begin();
    run_rows(rows_sockets, rows_sockets_count, only);
    run_rows(rows_messages, rows_messages_count, only);
    run_rows(rows_names, rows_names_count, only);
    run_rows(rows_waits, rows_waits_count, only);
    run_rows(rows_small, rows_small_count, only);
    run_rows(rows_controls, rows_controls_count, only);
    run_rows(rows_waiting, rows_waiting_count, only);
    run_rows(rows_numbers, rows_numbers_count, only);
    run_rows(rows_inside, rows_inside_count, only);
    files_end();
    printf("%u comparisons, %u differ\n", runs, failures);
    return failures || !runs;
}
