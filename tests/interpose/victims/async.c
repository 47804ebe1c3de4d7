/*
 * POSIX asynchronous I/O: reads, writes, lists, ends seen in all ways, kernels
 * and accesses beside what is in flight. See memory.h for the command line.
 */
#include "memory_case.h"

#include <aio.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { FILE_BYTES = 3000000, PAGE = 4096 };

static int file, ends[2];
static CUfunction step;

static struct aiocb block_of(int fd, size_t at, size_t bytes, off_t offset)
{
    struct aiocb block = {.aio_fildes = fd, .aio_offset = offset};
    block.aio_buf = memory + at;
    block.aio_nbytes = bytes;
    block.aio_sigevent.sigev_notify = SIGEV_NONE;
    return block;
}

/* The end of one operation, in the usual three steps. */
static long end_of(struct aiocb *block)
{
    const struct aiocb *const list[] = {NULL, block};
    int error;
    while ((error = aio_error(block)) == EINPROGRESS)
        aio_suspend(list, 2, NULL);
    long done = aio_return(block);
    errno = error;
    return error ? -error : done;
}

static long reads(size_t at, size_t bytes, off_t offset)
{
    struct aiocb block = block_of(file, at, bytes, offset);
    return aio_read(&block) ? -1 : end_of(&block);
}

static long writes(size_t at, size_t bytes)
{
    static uint8_t back[2 * HALF];
    FILE *out = tmpfile();
    struct aiocb block = block_of(fileno(out), at, bytes, 100);
    long done = aio_write(&block) ? -1 : end_of(&block);
    ssize_t got = pread(fileno(out), back, sizeof back, 0);
    fclose(out);
    return done + (long)(victim_hash(back, (size_t)got) % 1000000);
}

/* ---- beside what is in flight ---------------------------------------------- */

static void feed(size_t bytes)
{
    static uint8_t piece[60000];
    victim_write(piece, bytes, 9);
    if (write(ends[1], piece, bytes) != (ssize_t)bytes)
        exit(3);
}

/* A kernel and the CPU change what lies beside a range that is waited for, in
 * the same pages; then what is waited for comes. */
static long beside(size_t at, size_t bytes, size_t comes)
{
    struct aiocb block = block_of(ends[0], at, bytes, 0);
    int failed = aio_read(&block);
    long sum = aio_error(&block) == EINPROGRESS;
    memory[at - 1]++;
    memory_step(step, memory + at / PAGE * PAGE - PAGE, PAGE / 4);
    sum += memory[at + bytes] + memory[at - 1];
    memory[at - 2]++;
    memory_step(step, memory + PAGE * ((at + bytes) / PAGE + 1), PAGE);
    memory[at + bytes + 1]++;
    feed(comes);
    return failed ? -1 : sum * 1000000 + end_of(&block);
}

/* Nobody asks before the kernel is called; it sees the bytes. */
static long then_kernel(void)
{
    struct aiocb block = block_of(file, PAGE + 12, 50000, 4);
    const struct aiocb *const list[] = {&block};
    aio_read(&block);
    aio_suspend(list, 1, NULL);
    memory_step(step, memory, 20000);
    return end_of(&block);
}

static long cancelled(void)
{
    struct aiocb first = block_of(ends[0], 10, 3000, 0);
    struct aiocb second = block_of(ends[0], 10000, 3000, 0);
    aio_read(&first);
    aio_read(&second);
    int said = aio_cancel(ends[0], &second);
    feed(3000);
    long sum = end_of(&first);
    return said * 1000000 + sum + end_of(&second);
}

/* ---- being told --------------------------------------------------------------- */

static atomic_int told;
static uint8_t seen;

/* Without asking how it went. */
static void on_signal(int number, siginfo_t *info, void *ignored)
{
    (void)number, (void)ignored;
    seen = ((uint8_t *)info->si_value.sival_ptr)[5000];
    told += info->si_code == SI_ASYNCIO;
}

static void on_end(union sigval value)
{
    seen = ((uint8_t *)value.sival_ptr)[5000];
    told += 1;
}

static void wait_told(int often)
{
    while (told < often)
        poll(NULL, 0, 1);
}

static void set_event(struct sigevent *event, int how)
{
    event->sigev_notify = how;
    event->sigev_value.sival_ptr = memory + 100;
    if (how == SIGEV_SIGNAL) {
        struct sigaction action = {.sa_sigaction = on_signal,
                                   .sa_flags = SA_SIGINFO};
        sigaction(SIGUSR1, &action, NULL);
        event->sigev_signo = SIGUSR1;
    } else {
        event->sigev_notify_function = on_end;
        event->sigev_notify_attributes = NULL;
    }
}

static long by_event(int how)
{
    struct aiocb block = block_of(file, 100, 9000, 77);
    told = 0;
    set_event(&block.aio_sigevent, how);
    if (aio_read(&block) != 0)
        return -1;
    wait_told(1);
    return seen * 100000 + end_of(&block);
}

/* ---- lists ---------------------------------------------------------------------- */

static uint8_t own[70000];

static long list_of(int mode, int how)
{
    struct aiocb blocks[5] = {
        block_of(file, 100, 6000, 0), block_of(file, HALF - 5000, 10000, 10),
        block_of(file, 300000, 70000, 20), block_of(-1, 500000, 100, 0),
        block_of(file, 600000, 100, FILE_BYTES - 50)};
    struct aiocb *const list[] = {&blocks[0], NULL,       &blocks[1],
                                  &blocks[2], &blocks[3], &blocks[4]};
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    long sum = 0;
    for (int i = 0; i < 5; i++)
        blocks[i].aio_lio_opcode = LIO_READ;
    blocks[2].aio_buf = own;
    told = 0;
    if (how != SIGEV_NONE)
        set_event(&event, how);
    int failed = lio_listio(mode, list, 6, &event);
    if (mode == LIO_WAIT)
        sum += memory[HALF] + memory[101];
    else if (how != SIGEV_NONE)
        wait_told(1);
    for (int i = 0; i < 5; i++)
        sum = sum * 7 + end_of(&blocks[i]);
    return sum * 1000 + seen - failed + own[69999];
}

/* ---- control blocks in the memory ------------------------------------------------ */

static long block_inside(int fsyncs)
{
    struct aiocb *block = (struct aiocb *)(memory + HALF + 10240);
    struct aiocb first = block_of(file, 50, 5000, 8);
    for (size_t i = 0; i < sizeof first; i++)
        ((uint8_t *)block)[i] = ((uint8_t *)&first)[i];
    int failed = fsyncs ? aio_fsync(O_SYNC, block) : aio_read(block);
    long done = failed ? -1 : end_of(block);
    for (size_t i = 0; i < sizeof first; i++)
        ((volatile uint8_t *)block)[i] = 0;
    return done;
}

/* The same control block twice, the first time without asking. */
static long reused(void)
{
    struct aiocb block = block_of(file, 0, 5000, 0);
    const struct aiocb *const list[] = {&block};
    aio_read(&block);
    aio_suspend(list, 1, NULL);
    block.aio_buf = memory + HALF;
    aio_read(&block);
    return end_of(&block);
}

static void cases(void)
{
    CASE(reads(0, 100, 0));
    CASE(reads(7, 100000, 11));
    CASE(reads(PAGE, PAGE, 0));
    CASE(reads(HALF - 70001, 140003, 5));
    CASE(reads(3, FILE_BYTES + 500, 0));
    CASE(reads(100, 5000, FILE_BYTES - 1234));
    CASE(reads(100, 5000, FILE_BYTES));
    CASE(reads(100, 0, 0));
    CASE(writes(13, 100000));
    CASE(writes(HALF - 60000, 100001));
    CASE(beside(2 * PAGE + 100, 500, 500));
    CASE(beside(2 * PAGE + 100, 30000, 20000));
    CASE(beside(HALF - 10000, 20000, 20000));
    CASE(then_kernel());
    CASE(cancelled());
    CASE(by_event(SIGEV_SIGNAL));
    CASE(by_event(SIGEV_THREAD));
    CASE(list_of(LIO_WAIT, SIGEV_NONE));
    CASE(list_of(LIO_NOWAIT, SIGEV_NONE));
    CASE(list_of(LIO_NOWAIT, SIGEV_SIGNAL));
    CASE(list_of(LIO_NOWAIT, SIGEV_THREAD));
    CASE(block_inside(0));
    CASE(block_inside(1));
    CASE(reused());
    errno = 0;
    struct aiocb bad = block_of(-1, 100, 100, 0);
    CASE(aio_read(&bad) ? -1 : end_of(&bad));
}

int main(int argc, char **argv)
{
    static uint8_t content[FILE_BYTES];
    FILE *made = tmpfile();
    CUmodule module;
    memory_start(argc, argv);
    if (memory_is_shared) {
        CHECK(cuModuleLoadData(&module, victim_ptx));
        CHECK(cuModuleGetFunction(&step, module, "step"));
    }
    memory = memory_pair(HALF);
    file = fileno(made);
    victim_write(content, sizeof content, 3);
    if (write(file, content, sizeof content) != FILE_BYTES || pipe(ends) != 0)
        return 3;
    for (int s = 0; s < MEMORY_STATES; s++) {
        state = (enum memory_state)s;
        cases();
    }
    return 0;
}
