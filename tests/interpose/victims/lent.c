/*
 * Calls that last, and what comes and goes beside their memory meanwhile: bytes
 * that are written to a pipe which is full, read from one which is empty, written
 * by POSIX aio, and read from a terminal. The memory is an allocation with others
 * on its pages, or mapped with something mapped beside it.
 *
 *   plain    the memory is the host's
 *   device   it is the device's
 */
#include "victim.h"

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

enum { BYTES = 300000, LITTLE = 100, OTHERS = 40, PIECE = 2 << 20 };

static bool device;

static uint8_t *get(size_t bytes)
{
    CUdeviceptr at;
    if (!device)
        return malloc(bytes);
    CHECK(cuMemAlloc(&at, bytes));
    return (uint8_t *)at;
}

static void put_back(uint8_t *memory)
{
    if (device)
        CHECK(cuMemFree((CUdeviceptr)memory));
    else
        free(memory);
}

/* By the driver's word, once it was seen by the CPU's. */
static void show(const char *what, uint8_t *memory, size_t bytes)
{
    static uint8_t copy[3 * PIECE];
    uint64_t seen = victim_hash(memory, bytes);
    if (device)
        CHECK(cuMemcpyDtoH(copy, (CUdeviceptr)memory, bytes));
    else
        memcpy(copy, memory, bytes);
    printf("%s %016llx %016llx\n", what, (unsigned long long)seen,
           (unsigned long long)victim_hash(copy, bytes));
}

/* ---- a call in a thread ---------------------------------------------------- */

struct call {
    pthread_t thread;
    _Atomic int id;
    int file;
    uint8_t *memory;
    size_t bytes;
    bool writes;
    ssize_t done;
};

static void *make(void *argument)
{
    struct call *call = argument;
    atomic_store(&call->id, (int)syscall(SYS_gettid));
    call->done = call->writes ? write(call->file, call->memory, call->bytes)
                              : read(call->file, call->memory, call->bytes);
    return NULL;
}

/* It waits in the system when this returns. */
static void begin(struct call *call)
{
    pthread_create(&call->thread, NULL, make, call);
    for (int calm = 0; calm < 20; usleep(5000))
        calm = atomic_load(&call->id) && victim_sleeps(call->id) ? calm + 1 : 0;
}

static void end(struct call *call)
{
    pthread_join(call->thread, NULL);
    printf("%zd\n", call->done);
}

/* ---- what comes and goes ---------------------------------------------------- */

/* Memory beside goes; as much as it was comes, and is used, and more of the
 * host's for it than there was, which must not be what the call still uses. */
static void stir(uint8_t *beside)
{
    uint8_t *others[OTHERS];
    put_back(beside);
    for (int i = 0; i < OTHERS; i++) {
        others[i] = get(i % 2 ? LITTLE : BYTES);
        victim_write(others[i], i % 2 ? LITTLE : BYTES, i);
    }
    for (int i = 0; i < OTHERS; i++)
        show("other", others[i], i % 2 ? LITTLE : BYTES);
    for (int i = 0; i < OTHERS; i++)
        put_back(others[i]);
}

static uint8_t *with_neighbour(size_t bytes, unsigned seed, uint8_t **beside)
{
    uint8_t *memory = get(bytes);
    *beside = get(LITTLE);
    victim_write(memory, bytes, seed);
    victim_write(*beside, LITTLE, seed + 1);
    return memory;
}

static void drain(int file, size_t bytes, uint8_t *to)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = read(file, to + done, bytes - done);
        if (got <= 0)
            exit(4);
        done += (size_t)got;
    }
}

static void write_to_pipe(size_t bytes)
{
    static uint8_t got[BYTES];
    int ends[2];
    uint8_t *beside, *memory = with_neighbour(bytes, 3, &beside);
    if (pipe(ends) != 0)
        exit(2);
    struct call call = {
        .file = ends[1], .memory = memory, .bytes = bytes, .writes = true};
    begin(&call);
    stir(beside);
    drain(ends[0], bytes, got);
    end(&call);
    printf("piped %016llx\n", (unsigned long long)victim_hash(got, bytes));
    show("written from", memory, bytes);
    put_back(memory);
    close(ends[0]);
    close(ends[1]);
}

static void read_from_pipe(size_t bytes, size_t most)
{
    uint8_t text[LITTLE];
    int ends[2];
    uint8_t *beside, *memory = with_neighbour(bytes, 5, &beside);
    if (pipe(ends) != 0)
        exit(2);
    struct call call = {.file = ends[0], .memory = memory + 7, .bytes = most};
    begin(&call);
    stir(beside);
    victim_write(text, LITTLE, 9);
    if (write(ends[1], text, LITTLE) != LITTLE)
        exit(4);
    end(&call);
    show("read into", memory, bytes);
    put_back(memory);
    close(ends[0]);
    close(ends[1]);
}

static void by_aio(void)
{
    static uint8_t got[BYTES];
    int ends[2];
    uint8_t *beside, *memory = with_neighbour(BYTES, 11, &beside);
    if (pipe(ends) != 0)
        exit(2);
    struct aiocb request = {
        .aio_fildes = ends[1], .aio_buf = memory, .aio_nbytes = BYTES};
    const struct aiocb *list[] = {&request};
    if (aio_write(&request) != 0)
        exit(2);
    usleep(100 * 1000);
    stir(beside);
    drain(ends[0], BYTES, got);
    while (aio_error(&request) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    printf("%zd\n", aio_return(&request));
    printf("aio %016llx\n", (unsigned long long)victim_hash(got, BYTES));
    put_back(memory);
    close(ends[0]);
    close(ends[1]);
}

/* ---- mapped memory, and a file that makes its readers wait ------------------ */

static CUmemGenericAllocationHandle pieces[2];

/* Three pieces as one, and one behind them. */
static CUdeviceptr map(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc access = {prop.location,
                              CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr at;
    CHECK(cuMemAddressReserve(&at, 4 * PIECE, 0, 0, 0));
    CHECK(cuMemCreate(&pieces[0], 3 * PIECE, &prop, 0));
    CHECK(cuMemCreate(&pieces[1], PIECE, &prop, 0));
    CHECK(cuMemMap(at, 3 * PIECE, 0, pieces[0], 0));
    CHECK(cuMemMap(at + 3 * PIECE, PIECE, 0, pieces[1], 0));
    CHECK(cuMemSetAccess(at, 4 * PIECE, &access, 1));
    return at;
}

static void unmap(CUdeviceptr at)
{
    CHECK(cuMemUnmap(at, 3 * PIECE));
    CHECK(cuMemAddressFree(at, 4 * PIECE));
    for (int i = 0; i < 2; i++)
        CHECK(cuMemRelease(pieces[i]));
}

static void read_from_terminal(void)
{
    uint8_t text[LITTLE];
    struct termios raw;
    CUdeviceptr at = device ? map() : 0;
    uint8_t *memory = device ? (uint8_t *)at : malloc(3 * PIECE);
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        exit(2);
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    tcgetattr(terminal, &raw);
    cfmakeraw(&raw);
    tcsetattr(terminal, TCSANOW, &raw);
    victim_write(memory, 3 * PIECE, 13);
    if (device)
        victim_write((uint8_t *)at + 3 * PIECE, LITTLE, 14);
    /* More than is read into memory of somebody else's. */
    struct call call = {
        .file = terminal, .memory = memory + 5, .bytes = 3 * PIECE - 5};
    begin(&call);
    if (device)
        CHECK(cuMemUnmap(at + 3 * PIECE, PIECE));
    stir(get(LITTLE));
    victim_write(text, LITTLE, 15);
    if (write(master, text, LITTLE) != LITTLE)
        exit(4);
    end(&call);
    show("terminal", memory, 3 * PIECE);
    if (device)
        unmap(at);
    else
        free(memory);
}

int main(int argc, char **argv)
{
    device = argc > 1 && strcmp(argv[1], "device") == 0;
    victim_start();
    write_to_pipe(BYTES);
    read_from_pipe(LITTLE, LITTLE - 10);
    read_from_pipe(BYTES, BYTES - 10);
    by_aio();
    read_from_terminal();
    return 0;
}
