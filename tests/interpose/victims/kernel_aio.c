/*
 * Linux's own asynchronous I/O, by number or by libaio: operations of all kinds
 * on ranges, beside kernels and accesses, blocks and events in the memory under
 * test, too. See memory.h for the command line.
 */
#include "memory_case.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { FILE_BYTES = 3000000, PAGE = 4096, ROOM = 16 };

static int file, direct;
static aio_context_t context;
static CUfunction step;

/* As libaio declares them, but for the names of its types. */
#ifdef BY_LIBRARY
int io_setup(int, aio_context_t *);
int io_submit(aio_context_t, long, struct iocb **);
int io_getevents(aio_context_t, long, long, struct io_event *,
                 struct timespec *);
int io_cancel(aio_context_t, struct iocb *, struct io_event *);
int io_destroy(aio_context_t);
#else
#define BY_NUMBER(...)                                                         \
    ({                                                                         \
        long number_ = syscall(__VA_ARGS__);                                   \
        number_ < 0 ? -errno : (int)number_;                                   \
    })
#define io_setup(room, where)      BY_NUMBER(SYS_io_setup, room, where)
#define io_submit(to, count, list) BY_NUMBER(SYS_io_submit, to, count, list)
#define io_getevents(of, least, most, events, patience)                        \
    BY_NUMBER(SYS_io_getevents, of, least, most, events, patience)
#define io_cancel(of, block, event) BY_NUMBER(SYS_io_cancel, of, block, event)
#define io_destroy(of)              BY_NUMBER(SYS_io_destroy, of)
#endif

static struct iocb block_of(int code, int fd, const void *at, size_t count,
                            long long offset)
{
    return (struct iocb){.aio_lio_opcode = (uint16_t)code,
                         .aio_fildes = (uint32_t)fd,
                         .aio_buf = (uintptr_t)at,
                         .aio_nbytes = count,
                         .aio_offset = offset,
                         .aio_data = 5};
}

/* The end of one operation, which names its block. */
static long end_of(const struct iocb *block)
{
    struct io_event event = {0};
    int count;
    do
        count = io_getevents(context, 1, 1, &event, NULL);
    while (count == -EINTR);
    if (count != 1 || event.obj != (uintptr_t)block || event.data != 5)
        return -100000 + count;
    return (long)event.res;
}

static long go(struct iocb *block)
{
    int count = io_submit(context, 1, &block);
    return count == 1 ? end_of(block) : count;
}

static long reads(int from, size_t at, size_t bytes, long long offset)
{
    struct iocb block =
        block_of(IOCB_CMD_PREAD, from, memory + at, bytes, offset);
    return go(&block);
}

static long reads_vector(int from, long long offset)
{
    static uint8_t own[5000];
    struct iovec list[] = {{memory + 10, 7000},
                           {own, sizeof own},
                           {memory + HALF - 100, 200},
                           {memory + 9000, 0},
                           {memory + HALF + PAGE, 2 * PAGE}};
    struct iocb block = block_of(IOCB_CMD_PREADV, from, list, 5, offset);
    return go(&block) + own[4999];
}

static uint8_t back[2 * HALF];

static long writes(size_t at, size_t bytes, bool vector)
{
    FILE *out = tmpfile();
    struct iovec list[] = {{memory + at, bytes}, {memory + 3 * PAGE, 5000}};
    struct iocb block =
        vector ? block_of(IOCB_CMD_PWRITEV, fileno(out), list, 2, 50)
               : block_of(IOCB_CMD_PWRITE, fileno(out), memory + at, bytes, 50);
    long done = go(&block);
    ssize_t got = pread(fileno(out), back, sizeof back, 0);
    fclose(out);
    return done + (long)(victim_hash(back, (size_t)got) % 1000000);
}

/* The CPU and a kernel change what lies beside what is under way. */
static long beside(size_t at, size_t bytes)
{
    struct iocb block =
        block_of(IOCB_CMD_PREAD, direct, memory + at, bytes, PAGE);
    struct iocb *list[] = {&block};
    long sum = io_submit(context, 1, list);
    memory[at - 1]++;
    memory_step(step, memory + at - 2 * PAGE, PAGE / 4);
    memory[at + bytes]++;
    sum = sum * 1000 + memory[at - 1] + memory[at + bytes];
    sum = sum * 10000000 + end_of(&block);
    memory_step(step, memory + at - PAGE, 4 * PAGE);
    return sum;
}

/* Several at once, of which one is refused: those before it are begun. */
static long several(bool fails)
{
    struct iocb blocks[] = {
        block_of(IOCB_CMD_PREAD, file, memory + 5, 3000, 1),
        block_of(IOCB_CMD_PREAD, file, back, 3000, 7),
        block_of(IOCB_CMD_PREAD, fails ? -1 : file, memory + HALF, 3000, 9),
        block_of(IOCB_CMD_PREAD, file, memory + 90000, 3000, 11)};
    struct iocb *list[] = {&blocks[0], &blocks[1], &blocks[2], &blocks[3]};
    struct io_event events[ROOM] = {0};
    int count = io_submit(context, 4, list);
    long got = io_getevents(context, count, ROOM, events, NULL), sum = 0;
    for (long i = 0; i < got; i++)
        sum += (long)events[i].res *
               (1 + ((struct iocb *)(uintptr_t)events[i].obj - blocks));
    return (sum * 10 + count) * 10 + got;
}

/* Blocks, their list, events and a time limit in the memory itself. */
static long inside(void)
{
    struct iocb *block = (struct iocb *)(memory + PAGE + 64);
    struct iocb **list = (struct iocb **)(memory + 3 * PAGE);
    struct io_event *events = (struct io_event *)(memory + 5 * PAGE);
    struct timespec *patience = (struct timespec *)(memory + 6 * PAGE);
    *block = block_of(IOCB_CMD_PREAD, file, memory + 9 * PAGE, 3 * PAGE, 1);
    *list = block;
    *patience = (struct timespec){10, 0};
    long sum = io_submit(context, 1, list);
    sum = sum * 10 + io_getevents(context, 1, 4, events, patience);
    sum = sum * 100000 + (long)events[0].res +
          (events[0].obj == (uintptr_t)block);
    /* Addresses are not the same in every run. */
    memset(block, 0, sizeof *block);
    *list = NULL;
    events[0].obj = 0;
    return sum;
}

static long by_file(void)
{
    uint64_t told = 0;
    int counter = eventfd(0, 0);
    struct iocb block = block_of(IOCB_CMD_PREAD, file, memory + 7, 5000, 0);
    struct iocb *list[] = {&block};
    block.aio_flags = IOCB_FLAG_RESFD;
    block.aio_resfd = (uint32_t)counter;
    long sum = io_submit(context, 1, list);
    sum += read(counter, &told, sizeof told);
    close(counter);
    return (sum + (long)told) * 10000 + end_of(&block);
}

/* A poll waits until it is cancelled, and has no memory of its own. */
static long cancelled(void)
{
    int ends[2];
    struct io_event event = {0};
    struct iocb *block = (struct iocb *)(memory + PAGE);
    if (pipe(ends) != 0)
        return -2;
    *block = block_of(IOCB_CMD_POLL, ends[0], (void *)POLLIN, 0, 0);
    block->aio_nbytes = 0;
    long sum = io_submit(context, 1, &block);
    sum = sum * 1000 + io_cancel(context, block, &event);
    sum = sum * 1000 + io_getevents(context, 1, 1, &event, NULL);
    sum += event.obj == (uintptr_t)block;
    memset(block, 0, sizeof *block);
    close(ends[0]);
    close(ends[1]);
    return sum;
}

static long refused(void)
{
    struct iocb block = block_of(99, file, memory, 100, 0);
    struct iovec *list = (struct iovec *)(memory + 50);
    long sum = go(&block);
    block = block_of(IOCB_CMD_PREADV, file, list, 5000, 0);
    sum = sum * 1000 + go(&block);
    block = block_of(IOCB_CMD_PWRITE, -1, memory, 100, 0);
    return sum * 1000 + go(&block);
}

static void cases(void)
{
    CASE(reads(file, 0, 100, 0));
    CASE(reads(file, 7, 100000, 11));
    CASE(reads(file, HALF - 70001, 140003, 5));
    CASE(reads(file, 3, FILE_BYTES + 500, 0));
    CASE(reads(file, 100, 5000, FILE_BYTES - 1234));
    CASE(reads(file, 100, 5000, FILE_BYTES));
    CASE(reads(-1, 100, 5000, 0));
    CASE(reads(direct, 8 * PAGE, 100 * PAGE, 2 * PAGE));
    CASE(reads(direct, HALF - PAGE, 2 * PAGE, PAGE));
    CASE(reads_vector(file, 9));
    CASE(reads_vector(file, FILE_BYTES - 12050));
    CASE(reads_vector(-1, 0));
    CASE(writes(13, 100000, false));
    CASE(writes(HALF - 60000, 100001, false));
    CASE(writes(13, 10000, true));
    CASE(beside(4 * PAGE, 50 * PAGE));
    CASE(beside(HALF - 8 * PAGE, 16 * PAGE));
    CASE(several(false));
    CASE(several(true));
    CASE(inside());
    CASE(by_file());
    CASE(cancelled());
    CASE(refused());
}

/* Past the page cache where the system can do that: only then does a read go
 * on after its submission. */
static int past_the_cache(int cached)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", cached);
    int opened = open(path, O_RDWR | O_DIRECT);
    return opened < 0 ? cached : opened;
}

int main(int argc, char **argv)
{
    CUmodule module;
    memory_start(argc, argv);
    if (memory_is_shared) {
        CHECK(cuModuleLoadData(&module, victim_ptx));
        CHECK(cuModuleGetFunction(&step, module, "step"));
    }
    memory = memory_pair(HALF);
    file = memory_file(FILE_BYTES);
    direct = past_the_cache(file);
    for (int s = 0; s < MEMORY_STATES; s++) {
        state = (enum memory_state)s;
        if (io_setup(ROOM, &context) != 0)
            return 77;
        cases();
        fill();
        struct iocb block =
            block_of(IOCB_CMD_PREAD, direct, memory, 100 * PAGE, 0);
        struct iocb *list[] = {&block};
        printf("%d\n", io_submit(context, 1, list));
        printf("%d\n", io_destroy(context)); /* while it may be under way */
        printf("%d\n", io_submit(context, 1, list));
        context = 0;
    }
    return 0;
}
