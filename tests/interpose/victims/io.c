/*
 * read, write and their relatives: results, errors, and what is in memory
 * afterwards, byte for byte. See memory.h for the command line.
 */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

enum { HALF = 2 << 20, FILE_BYTES = 3000000 };

static uint8_t *memory; /* 2 * HALF bytes */
static int file;        /* FILE_BYTES of a pattern */
/* Not constants, which compilers check. */
static void *volatile nowhere;
static volatile size_t everything = SIZE_MAX;
static volatile int minus_one = -1;

static const char *name;
static enum memory_state state;

static const char *error_name(int error)
{
    return error ? strerrorname_np(error) : "-";
}

/* Print the result of a case and a sum of all memory. */
static void show(long result)
{
    int error = result < 0 ? errno : 0;
    printf("%s/%d %ld %s %016llx\n", name, state, result, error_name(error),
           (unsigned long long)victim_hash(memory, 2 * HALF));
    fflush(stdout);
}

#define CASE(...)                                                              \
    do {                                                                       \
        name = #__VA_ARGS__;                                                   \
        memory_fill(memory, 2 * HALF, 0x5a, state);                            \
        errno = 0;                                                             \
        show((long)(__VA_ARGS__));                                             \
    } while (0)

static long read_at(off_t offset, void *to, size_t bytes)
{
    lseek(file, offset, SEEK_SET);
    long result = read(file, to, bytes);
    int error = errno;
    printf("position %ld\n", (long)lseek(file, 0, SEEK_CUR));
    errno = error;
    return result;
}

static void reads(void)
{
    uint8_t *m = memory;
    CASE(read_at(0, m, 100));
    CASE(read_at(5, m + 3, 4096));
    CASE(read_at(0, m + 4096, 4096));
    CASE(read_at(0, m, HALF));
    CASE(read_at(1, m + 1, HALF - 2));
    CASE(read_at(0, m + HALF - 1000, 2000));
    CASE(read_at(0, m + HALF - 70000, 400000));
    CASE(read_at(FILE_BYTES - 100, m + 50, 4000));
    CASE(read_at(FILE_BYTES - 100000, m, HALF));
    CASE(read_at(0, m, 2 * HALF));
    CASE(read_at(FILE_BYTES, m, 100));
    CASE(read_at(FILE_BYTES + 5, m + 7, 100000));
    CASE(read_at(0, m, 0));
    CASE(read(-1, m, 100));
    CASE(read(-1, m, 0));
    CASE(read(9999, m + 1, HALF));
    CASE(read_at(0, nowhere, 0));
    CASE(read_at(0, nowhere, 10));
    CASE(read_at(0, m, everything));
    CASE(read_at(FILE_BYTES - 10, m, everything / 2));
    CASE(pread(file, m + 9, 5000, 100));
    CASE(pread(file, m + 9, 300000, FILE_BYTES - 7));
    CASE(pread(file, m, 100, FILE_BYTES));
    CASE(pread(file, m, 100, -1));
    CASE(pread64(file, m + HALF - 1, 2, 8));
}

static void directory_and_access(void)
{
    int folder = open("/", O_RDONLY | O_DIRECTORY);
    int out = open("/dev/null", O_WRONLY);
    int full = open("/dev/full", O_WRONLY);
    int zero = open("/dev/zero", O_RDONLY);
    CASE(read(folder, memory, 4096));
    CASE(read(out, memory, 4096));
    CASE(write(folder, memory, 4096));
    CASE(write(out, memory + 1, 100000));
    CASE(write(full, memory + 1, 100000));
    CASE(read(zero, memory + 5, 300000));
    CASE(write(zero, memory, 0));
    close(folder);
    close(out);
    close(full);
    close(zero);
}

static void pipes(void)
{
    int ends[2];
    char big[70000];
    if (pipe(ends) != 0)
        exit(3);
    memset(big, 7, sizeof big);
    CASE(write(ends[1], memory + 4000, 5000));
    CASE(read(ends[0], memory + 100, 300));
    CASE(read(ends[0], memory + 4096, 100000));
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    CASE(read(ends[0], memory, 100000));
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    CASE(write(ends[1], memory, HALF));
    CASE(write(ends[1], memory, HALF));
    while (read(ends[0], big, sizeof big) > 0)
        ;
    CASE(write(ends[1], memory + HALF - 3, 6));
    close(ends[1]);
    CASE(read(ends[0], memory, 100));
    CASE(read(ends[0], memory, 100));
    signal(SIGPIPE, SIG_IGN);
    CASE(write(ends[0], memory, 10));
    close(ends[0]);
    if (pipe(ends) != 0)
        exit(3);
    close(ends[0]);
    CASE(write(ends[1], memory, 10));
    close(ends[1]);
}

static void on_alarm(int number)
{
    (void)number;
}

static void interrupted(void)
{
    int ends[2];
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval soon = {{0, 0}, {0, 20000}};
    if (pipe(ends) != 0)
        exit(3);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    CASE((setitimer(ITIMER_REAL, &soon, NULL), read(ends[0], memory, 5000)));
    close(ends[0]);
    close(ends[1]);
}

static void datagrams(int type)
{
    int ends[2];
    static char message[9000];
    if (socketpair(AF_UNIX, type, 0, ends) != 0)
        exit(3);
    victim_write((uint8_t *)message, sizeof message, 3);
    struct iovec parts[] = {{memory + 10, 100},
                            {message, 50},
                            {memory + HALF - 500, 1000},
                            {message + 50, 0},
                            {memory + 100000, 7000}};
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    write(ends[1], message, 9000);
    write(ends[1], message, 20);
    CASE(readv(ends[0], parts, 5));
    CASE(read(ends[0], memory + HALF - 10, 5000));
    CASE(readv(ends[0], parts, 5));
    CASE(write(ends[1], memory + HALF - 4000, 8000));
    CASE(read(ends[0], memory + 3, 100));
    CASE(read(ends[0], memory + 3, 100));
    CASE(writev(ends[1], parts, 5));
    CASE(read(ends[0], memory, 100000));
    CASE(write(ends[1], memory, 0));
    close(ends[0]);
    close(ends[1]);
}

static long readv_at(off_t offset, const struct iovec *parts, int count)
{
    lseek(file, offset, SEEK_SET);
    return readv(file, parts, count);
}

static void vectors(void)
{
    static uint8_t plain[3][5000];
    uint8_t *m = memory;
    struct iovec mixed[] = {
        {plain[0], 100},        {m + 1, 5000},  {NULL, 0},
        {m + HALF - 10, 70000}, {plain[1], 33}, {m + 900000, 4096},
        {m + 1500000, 262144}};
    struct iovec twice[] = {{m, 100000}, {m, 100000}, {m + 50000, 100000}};
    struct iovec bad[] = {{m, 10}, {NULL, 10}, {m + 20, 10}};
    struct iovec huge[] = {{m, SSIZE_MAX}, {m, 2}};
    static struct iovec many[1500];
    for (int i = 0; i < 1500; i++)
        many[i] = (struct iovec){m + i * 2048, 1024};
    CASE(readv_at(0, mixed, 7));
    printf("plain %016llx\n",
           (unsigned long long)victim_hash(plain[0], sizeof plain));
    CASE(readv_at(FILE_BYTES - 9000, mixed, 7));
    CASE(readv_at(0, mixed, 0));
    CASE(readv_at(0, mixed, minus_one));
    CASE(readv_at(0, many, 1024));
    CASE(readv_at(0, many, 1025));
    CASE(readv_at(0, bad, 3));
    CASE(readv_at(0, huge, 2));
    CASE(readv_at(0, twice, 1));
    CASE(readv_at(FILE_BYTES - 250000, twice, 3));
    CASE(preadv(file, mixed, 7, 12345));
    CASE(preadv64(file, mixed + 1, 3, FILE_BYTES - 100));
    CASE(preadv2(file, mixed, 7, 77, 0));
    CASE(preadv2(file, mixed, 7, 77, 0x40000000));
    CASE(preadv(file, mixed, 7, -5));
    /* The list itself in the memory under test. */
    struct iovec *inside = (struct iovec *)(m + 3000000);
    for (int i = 0; i < 2; i++)
        CASE((inside[0] = (struct iovec){m, 9000},
              inside[1] = (struct iovec){plain[2], 100},
              readv_at(3, inside, 2)) +
             (inside[0].iov_base = NULL, inside[1].iov_base = NULL, 0L));
}

/* Ranges that go on where others end; with one more, those before in between. */
static void fill_beside(struct iovec beside[6])
{
    uint8_t *m = memory;
    beside[0] = (struct iovec){m + 5, 30000};
    beside[1] = (struct iovec){m + 30005, 0};
    beside[2] = (struct iovec){m + 30005, 41000};
    beside[3] = (struct iovec){m + 71005, 9};
    beside[4] = (struct iovec){m + 71014, 300000};
    beside[5] = (struct iovec){m + 30005, 7000};
}

static void vectors_beside(void)
{
    struct iovec beside[6];
    fill_beside(beside);
    CASE(readv_at(3, beside, 5));
    CASE(readv_at(3, beside, 6));
    CASE(readv_at(FILE_BYTES - 50000, beside, 5));
    CASE(readv_at(FILE_BYTES - 30000, beside, 5));
    CASE(preadv(file, beside, 5, 70));
    CASE(preadv(file, beside, 6, 70));
    CASE(preadv(file, beside + 2, 3, FILE_BYTES - 41005));
    beside[4] = (struct iovec){memory + 71014, HALF - 71014};
    beside[5] = (struct iovec){memory + HALF, 20000};
    CASE(readv_at(11, beside, 6));
}

static long check_written(int out, long result)
{
    static uint8_t back[4 * HALF];
    int error = errno;
    ssize_t got = pread(out, back, sizeof back, 0);
    printf("file %zd %016llx\n", got,
           (unsigned long long)victim_hash(back, got > 0 ? (size_t)got : 0));
    ftruncate(out, 0);
    lseek(out, 0, SEEK_SET);
    errno = error;
    return result;
}

static void writes(void)
{
    uint8_t *m = memory;
    FILE *stream = tmpfile();
    int out = fileno(stream);
    static uint8_t plain[777];
    struct iovec parts[] = {{m + 5, 60000},
                            {plain, 777},
                            {m + HALF - 1, 2},
                            {m + 3000000, 1000000}};
    CASE(check_written(out, write(out, m, 100)));
    CASE(check_written(out, write(out, m + 1, HALF)));
    CASE(check_written(out, write(out, m, 2 * HALF)));
    CASE(check_written(out, write(out, m + HALF - 10, 20)));
    CASE(check_written(out, pwrite(out, m + 3, 100001, 50)));
    CASE(check_written(out, pwrite64(out, m + 3, 10, -1)));
    CASE(check_written(out, writev(out, parts, 4)));
    CASE(check_written(out, pwritev(out, parts, 4, 9)));
    CASE(check_written(out, pwritev2(out, parts, 4, 9, 0)));
    struct iovec beside[6];
    fill_beside(beside);
    CASE((victim_write(m, 400000, 4),
          check_written(out, writev(out, beside, 6))));
    CASE(check_written(out, write(out, nowhere, 0)));
    CASE(check_written(out, write(out, nowhere, 1)));
    fclose(stream);
}

int main(int argc, char **argv)
{
    memory_start(argc, argv);
    memory = memory_pair(HALF);
    file = memory_file(FILE_BYTES);
    for (int s = 0; s < MEMORY_STATES; s++) {
        state = (enum memory_state)s;
        reads();
        directory_and_access();
        pipes();
        interrupted();
        datagrams(SOCK_DGRAM);
        datagrams(SOCK_SEQPACKET);
        datagrams(SOCK_STREAM);
        vectors();
        vectors_beside();
        writes();
    }
    return 0;
}
