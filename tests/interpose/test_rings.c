/*
 * Rings of io_uring by system calls: those that were there before the runtime,
 * those that end with something under way, and those that are not looked at.
 */
#include "said.h"

#include "victims/raw_uring.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

enum { BYTES = 1 << 20, FILE_BYTES = 5000, OWN_MEMORY = 1 << 14 };

static struct io_uring ring;

static int made_file(void)
{
    static char text[FILE_BYTES];
    int file = fileno(tmpfile());
    memset(text, 'x', sizeof text);
    ck_assert_int_eq(write(file, text, sizeof text), FILE_BYTES);
    return file;
}

static long result_of(void)
{
    struct io_uring_cqe *cqe;
    ck_assert_int_eq(raw_wait(&ring, &cqe), 0);
    long result = cqe->res;
    io_uring_cqe_seen(&ring, cqe);
    return result;
}

static void reads(int file, uint8_t *to, unsigned bytes)
{
    io_uring_prep_read(raw_entry(&ring), file, to, bytes, 0);
    ck_assert_int_eq(raw_enter(&ring, 0), 1);
}

START_TEST(a_ring_that_was_there_first_is_known)
{
    ck_assert_int_eq(raw_init(8, &ring, 0), 0);
    begin();
    uint8_t *memory = device_bytes(BYTES, 7);
    reads(made_file(), memory + 5, FILE_BYTES);
    ck_assert_int_eq(result_of(), FILE_BYTES);
    ck_assert_int_eq(memory[4], 7);
    ck_assert_int_eq(memory[5], 'x');
    ck_assert_int_eq(memory[FILE_BYTES + 5], 7);
    raw_exit(&ring);
    ck_assert_int_eq(times_said("\n"), 0);
}
END_TEST

/* A list, a message, and buffers to register that are not there. */
START_TEST(what_is_nowhere_is_the_kernels_to_find)
{
    void *nowhere = (void *)16;
    begin();
    (void)device_bytes(BYTES, 7);
    ck_assert_int_eq(raw_init(8, &ring, 0), 0);
    io_uring_prep_readv(raw_entry(&ring), made_file(), nowhere, 2, 0);
    ck_assert_int_eq(raw_enter(&ring, 0), 1);
    ck_assert_int_eq(result_of(), -EFAULT);
    io_uring_prep_sendmsg(raw_entry(&ring), made_file(), nowhere, 0);
    ck_assert_int_eq(raw_enter(&ring, 0), 1);
    ck_assert_int_lt(result_of(), 0);
    ck_assert_int_eq(syscall(SYS_io_uring_register, ring.ring_fd,
                             IORING_REGISTER_BUFFERS, nowhere, 2),
                     -1);
    ck_assert_int_eq(errno, EFAULT);
    raw_exit(&ring);
    ck_assert_int_eq(times_said("\n"), 0);
}
END_TEST

/* What is under way ends with it, and nothing is told to the next one. */
START_TEST(a_ring_that_ends_hears_nothing_more)
{
    int ends[2];
    char byte;
    begin();
    uint8_t *memory = device_bytes(BYTES, 7);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(raw_init(8, &ring, 0), 0);
    int before = ring.ring_fd;
    reads(ends[0], memory, 100);
    raw_exit(&ring);
    ck_assert_int_eq(raw_init(8, &ring, 0), 0);
    ck_assert_int_eq(ring.ring_fd, before);
    reads(made_file(), memory + 4096, 50);
    ck_assert_int_eq(result_of(), 50);
    ck_assert_int_eq(write(ends[1], "y", 1), 1);
    poll(NULL, 0, 50); /* for who would take it */
    ck_assert_int_eq(io_uring_cq_ready(&ring), 0);
    ck_assert_int_eq(memory[0], 7);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    ck_assert_int_eq(memory[4096], 'x');
    raw_exit(&ring);
    ck_assert_int_eq(times_said("\n"), 0);
}
END_TEST

/* Close what this program has not opened: every ring but its own. */
static void close_foreign_rings(void)
{
    char path[64], target[64];
    for (int file = 3; file < 200; file++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        ssize_t bytes = readlink(path, target, sizeof target - 1);
        target[bytes > 0 ? bytes : 0] = '\0';
        if (strstr(target, "io_uring") && file != ring.ring_fd)
            close(file);
    }
}

START_TEST(without_its_ring_the_runtime_refuses)
{
    int ends[2];
    begin();
    uint8_t *memory = device_bytes(BYTES, 7);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(raw_init(8, &ring, 0), 0);
    reads(ends[0], memory, 100);
    close_foreign_rings();
    reads(made_file(), memory + 4096, 50);
    ck_assert_int_eq(result_of(), -EINVAL);
    ck_assert_int_eq(memory[4096], 7);
    ck_assert_int_eq(times_said("closed a descriptor"), 1);
    /* Who waited for the first one does not go round for ever. */
    ck_assert_int_eq(write(ends[1], "y", 1), 1);
    poll(NULL, 0, 50);
    clock_t before = clock();
    poll(NULL, 0, 200);
    ck_assert_int_lt(clock() - before, CLOCKS_PER_SEC / 100);
}
END_TEST

START_TEST(buffers_are_registered_by_structure)
{
    begin();
    uint8_t *memory = device_bytes(BYTES, 7);
    struct iovec list[] = {{memory, 8192}};
    struct io_uring_rsrc_register about = {.nr = 1, .data = (uintptr_t)list};
    ck_assert_int_eq(raw_init(8, &ring, 0), 0);
    ck_assert_int_eq(raw_call(SYS_io_uring_register, ring.ring_fd,
                              IORING_REGISTER_BUFFERS2, (long)&about,
                              sizeof about, 0, 0),
                     0);
    ck_assert_int_eq(raw_call(SYS_io_uring_register, ring.ring_fd,
                              IORING_REGISTER_BUFFERS2, 8, sizeof about, 0, 0),
                     -EFAULT);
    io_uring_prep_read_fixed(raw_entry(&ring), made_file(), memory + 5, 4000, 0,
                             0);
    ck_assert_int_eq(raw_enter(&ring, 0), 1);
    ck_assert_int_eq(result_of(), 4000);
    ck_assert_int_eq(memory[4], 7);
    ck_assert_int_eq(memory[4004], 'x');
    raw_exit(&ring);
}
END_TEST

/* Linux 6.5: the queues are in memory that the program brings. */
START_TEST(queues_in_memory_of_the_program)
{
    struct io_uring_params about = {.flags = OWN_MEMORY};
    char *own = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t queues = (uintptr_t)own, sqes = queues + 4096;
    memcpy((char *)&about.cq_off + 32, &queues, sizeof queues);
    memcpy((char *)&about.sq_off + 32, &sqes, sizeof sqes);
    begin();
    uint8_t *memory = device_bytes(BYTES, 7);
    long file = raw_call(SYS_io_uring_setup, 4, (long)&about, 0, 0, 0, 0);
    if (file < 0)
        return;
    struct io_uring_sqe *sqe = (void *)(own + 4096);
    io_uring_prep_read(sqe, made_file(), memory + 5, FILE_BYTES, 0);
    *(unsigned *)(own + about.sq_off.array) = 0;
    *(unsigned *)(own + about.sq_off.tail) = 1;
    ck_assert_int_eq(
        raw_call(SYS_io_uring_enter, file, 1, 1, IORING_ENTER_GETEVENTS, 0, 8),
        1);
    struct io_uring_cqe *cqe = (void *)(own + about.cq_off.cqes);
    ck_assert_int_eq(cqe->res, FILE_BYTES);
    ck_assert_int_eq(memory[FILE_BYTES + 4], 'x');
    ck_assert_int_eq(memory[FILE_BYTES + 5], 7);
}
END_TEST

START_TEST(a_polled_ring_is_said_once)
{
    begin();
    (void)device_bytes(BYTES, 7);
    ck_assert_int_eq(raw_init(8, &ring, IORING_SETUP_SQPOLL), 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_ge(raw_call(SYS_io_uring_enter, ring.ring_fd, 0, 0,
                                  IORING_ENTER_SQ_WAKEUP, 0, 8),
                         0);
    ck_assert_int_eq(times_said("SQPOLL"), 1);
    ck_assert_int_eq(times_said("\n"), 1);
}
END_TEST

/* Is there a thread with every signal blocked, as the kernel's own have? */
static bool has_workers(void)
{
    char line[128];
    int blocked = 0;
    FILE *said = popen("grep -h SigBlk /proc/$PPID/task/*/status", "r");
    while (said && fgets(line, sizeof line, said))
        blocked += strtoull(line + 7, NULL, 16) >> (SIGSEGV - 1) & 1;
    if (said)
        pclose(said);
    return blocked >= 2;
}

/* One that looks at a queue, and one that waits to read. */
START_TEST(threads_of_the_kernels_are_not_waited_for)
{
    static struct io_uring polled;
    static char byte;
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(raw_init(8, &polled, IORING_SETUP_SQPOLL), 0);
    ck_assert_int_eq(raw_init(8, &ring, 0), 0);
    struct io_uring_sqe *sqe = raw_entry(&ring);
    io_uring_prep_read(sqe, ends[0], &byte, 1, 0);
    sqe->flags |= IOSQE_ASYNC;
    ck_assert_int_eq(raw_enter(&ring, 0), 1);
    while (!has_workers())
        poll(NULL, 0, 1);
    begin();
    uint8_t *memory = device_bytes(BYTES, 7);
    ck_assert_int_eq(memory[5], 7);
    ck_assert_int_eq(times_said("does not answer"), 0);
    ck_assert_msg(times_said("\n") == 0, "%s", said);
}
END_TEST

SUITE_MAIN("rings", 60, threads_of_the_kernels_are_not_waited_for,
           a_ring_that_was_there_first_is_known,
           what_is_nowhere_is_the_kernels_to_find,
           a_ring_that_ends_hears_nothing_more,
           buffers_are_registered_by_structure, queues_in_memory_of_the_program,
           a_polled_ring_is_said_once, without_its_ring_the_runtime_refuses)
