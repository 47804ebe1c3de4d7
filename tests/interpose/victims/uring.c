/*
 * io_uring through liburing, or by system calls (raw_uring.h): operations of all
 * kinds on ranges, beside kernels and accesses, with ends that the program finds
 * in the ring by itself. See memory.h for the command line.
 */
#include "memory_case.h"
#ifdef RAW
#include "raw_uring.h"
#endif

#include <liburing.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FILE_BYTES = 3000000, PAGE = 4096 };

static int file, ends[2], pair[2];
static struct io_uring ring;
static CUfunction step;

static struct io_uring_sqe *entry(void)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
    if (!sqe)
        exit(3);
    return sqe;
}

/* The next end, which no function of the library tells. */
static long look(uint64_t *which)
{
    struct io_uring_cqe *cqe;
    unsigned head;
    for (;;) {
        io_uring_for_each_cqe(&ring, head, cqe)
        {
            long result = cqe->res;
            *which = cqe->user_data;
            io_uring_cqe_seen(&ring, cqe);
            return result;
        }
        poll(NULL, 0, 1);
    }
}

/* Submit what is there, one operation known as 5; its result. */
static long go(struct io_uring_sqe *sqe)
{
    uint64_t which;
    sqe->user_data = 5;
    int count = io_uring_submit(&ring);
    long result = look(&which);
    return count * 100000000L + result + (which == 5 ? 0 : 7);
}

/* The same by the functions that wait. */
static long go_and_wait(struct io_uring_sqe *sqe)
{
    struct io_uring_cqe *cqe;
    sqe->user_data = 5;
    int count = io_uring_submit_and_wait(&ring, 1);
    if (io_uring_wait_cqe(&ring, &cqe) != 0)
        return -1;
    long result = cqe->res;
    io_uring_cqe_seen(&ring, cqe);
    return count * 100000000L + result;
}

static long reads(size_t at, unsigned bytes, uint64_t offset)
{
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_read(sqe, file, memory + at, bytes, offset);
    long first = go(sqe);
    sqe = entry();
    io_uring_prep_read(sqe, file, memory + at, bytes / 2, offset + 3);
    return first + go_and_wait(sqe);
}

static long reads_vector(bool fails)
{
    static uint8_t own[5000];
    struct iovec iov[] = {{memory + 10, 7000},
                          {own, sizeof own},
                          {memory + HALF - 100, 200},
                          {memory + 9000, 0},
                          {memory + HALF + PAGE, 2 * PAGE}};
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_readv(sqe, fails ? -1 : file, iov, 5, 9);
    long result = go(sqe) + own[4999];
    sqe = entry();
    io_uring_prep_readv(sqe, file, iov, 5, FILE_BYTES - 12050);
    return result + go(sqe);
}

static uint8_t back[2 * HALF];

static long writes(size_t at, unsigned bytes, bool vector)
{
    FILE *out = tmpfile();
    struct iovec iov[] = {{memory + at, bytes}, {memory + 3 * PAGE, 5000}};
    struct io_uring_sqe *sqe = entry();
    if (vector)
        io_uring_prep_writev(sqe, fileno(out), iov, 2, 50);
    else
        io_uring_prep_write(sqe, fileno(out), memory + at, bytes, 50);
    long done = go(sqe);
    ssize_t got = pread(fileno(out), back, sizeof back, 0);
    fclose(out);
    return done + (long)(victim_hash(back, (size_t)got) % 1000000);
}

/* A kernel and the CPU change what lies beside a range that is waited for. */
static long beside(size_t at, unsigned bytes, size_t comes)
{
    uint64_t which;
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_read(sqe, ends[0], memory + at, bytes, 0);
    long sum = io_uring_submit(&ring);
    memory[at - 1]++;
    memory_step(step, memory + at / PAGE * PAGE - PAGE, PAGE / 4);
    sum += memory[at + bytes] + memory[at - 1];
    memory[at - 2]++;
    memory_step(step, memory + PAGE * ((at + bytes) / PAGE + 1), PAGE);
    memory[at + bytes + 1]++;
    victim_write(back, comes, 9);
    sum += write(ends[1], back, comes);
    return sum * 1000000 + look(&which);
}

static long then_kernel(void)
{
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_read(sqe, file, memory + PAGE + 12, 50000, 4);
    long result = go(sqe);
    memory_step(step, memory, 20000);
    return result;
}

static long sockets(void)
{
    uint64_t which;
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_recv(sqe, pair[0], memory + HALF - 1000, 3000, 0);
    sqe->user_data = 1;
    sqe = entry();
    io_uring_prep_send(sqe, pair[1], memory + 5000, 2000, 0);
    sqe->user_data = 2;
    long sum = io_uring_submit(&ring);
    sum = sum * 10000 + look(&which);
    return sum * 10000 + look(&which);
}

static long registered(void)
{
    struct iovec iov[] = {{memory, 100000}, {back, 100000}};
    uint64_t which;
    long sum = io_uring_register_buffers(&ring, iov, 2);
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_read_fixed(sqe, file, memory + 77, 60000, 5, 0);
    sum = sum * 10 + go(sqe);
    memory_step(step, memory, 5000);
    FILE *out = tmpfile();
    sqe = entry();
    io_uring_prep_write_fixed(sqe, fileno(out), memory + 50, 70000, 0, 0);
    sum += go(sqe);
    sqe = entry();
    io_uring_prep_read_fixed(sqe, fileno(out), back, 70000, 0, 1);
    sum += go(sqe);
    sum += (long)(victim_hash(back, 70000) % 1000000);
    fclose(out);
    (void)which;
    return sum + io_uring_unregister_buffers(&ring);
}

/* What only reads memory may be linked; silent ends stay so. */
static long linked(void)
{
    uint64_t which;
    FILE *out = tmpfile();
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_write(sqe, fileno(out), memory + 100, 30000, 0);
    sqe->flags |= IOSQE_IO_LINK;
    sqe->user_data = 1;
    sqe = entry();
    io_uring_prep_read(sqe, fileno(out), back, 40000, 0);
    sqe->user_data = 2;
    long sum = io_uring_submit(&ring);
    for (int i = 0; i < 2; i++)
        sum = sum * 100000 + look(&which) + (long)which;
    fclose(out);
    sqe = entry();
    io_uring_prep_read(sqe, file, memory + 60000, 1000, 0);
    sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
    io_uring_submit(&ring);
    while (((volatile uint8_t *)memory)[60999] == 0x21)
        poll(NULL, 0, 1);
    return sum + (long)(victim_hash(back, 30000) % 1000000) +
           io_uring_cq_ready(&ring);
}

static long cancelled(void)
{
    uint64_t which;
    long sum = 0;
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_read(sqe, ends[0], memory + 10, 3000, 0);
    sqe->user_data = 88;
    io_uring_submit(&ring);
    sqe = entry();
    io_uring_prep_cancel64(sqe, 88, 0);
    sqe->user_data = 99;
    io_uring_submit(&ring);
    for (int i = 0; i < 2; i++) {
        long result = look(&which);
        sum += which == 88 ? result * 1000 : which == 99 ? result : 1;
    }
    return sum;
}

/* More at a time than the ring has room for ends. */
static long many(void)
{
    uint64_t which;
    long sum = 0;
    for (unsigned i = 0; i < 100; i++) {
        struct io_uring_sqe *sqe = entry();
        io_uring_prep_read(sqe, file, memory + 1000 * i, 1000, 2 * i);
        sqe->user_data = i;
        if (i % 4 == 3)
            io_uring_submit(&ring);
    }
    for (int i = 0; i < 100; i++) {
        while (io_uring_cq_ready(&ring) == 0)
            io_uring_get_events(&ring);
        sum += look(&which) + (long)which;
    }
    return sum;
}

/* Where shared memory is refused, nothing happens to it, and the chain ends. */
static const char *refused(unsigned flags, bool path)
{
    uint64_t which;
    struct io_uring_sqe *sqe = entry();
    if (path)
        io_uring_prep_openat(sqe, -1, (char *)memory, 0, 0);
    else
        io_uring_prep_read(sqe, file, memory, 1000, 0);
    sqe->flags |= (uint8_t)flags;
    sqe->user_data = 1;
    sqe = entry();
    io_uring_prep_nop(sqe);
    sqe->user_data = 2;
    io_uring_submit(&ring);
    long results[3];
    for (int i = 0; i < 2; i++) {
        long result = look(&which);
        results[which] = result;
    }
    return !memory_is_shared ||
                   (results[1] == -EINVAL && memory[0] == 0x21 &&
                    results[2] == (flags & IOSQE_IO_LINK ? -ECANCELED : 0))
               ? "as said"
               : "OTHERWISE";
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
    CASE(reads_vector(false));
    CASE(reads_vector(true));
    CASE(writes(13, 100000, false));
    CASE(writes(HALF - 60000, 100001, false));
    CASE(writes(13, 10000, true));
    CASE(beside(2 * PAGE + 100, 500, 500));
    CASE(beside(2 * PAGE + 100, 30000, 20000));
    CASE(beside(HALF - 10000, 20000, 20000));
    CASE(then_kernel());
    CASE(sockets());
    CASE(registered());
    CASE(linked());
    CASE(cancelled());
    CASE(many());
    fill();
    printf("linked: %s\n", refused(IOSQE_IO_LINK, false));
    printf("path: %s\n", refused(0, true));
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
    if (write(file, content, sizeof content) != FILE_BYTES || pipe(ends) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return 3;
    for (int s = 0; s < MEMORY_STATES; s++) {
        state = (enum memory_state)s;
        if (io_uring_queue_init(8, &ring, 0) != 0)
            return 77;
        cases();
        io_uring_prep_read(entry(), ends[0], memory, 500, 0); /* for ever */
        io_uring_submit(&ring);
        io_uring_queue_exit(&ring);
    }
    return 0;
}
