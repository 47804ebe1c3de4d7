/* Rows: receiving what is not there yet, into small and large memory. */
#include "contract.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/uio.h>

enum { SMALL = 200, LARGE = 20000, STEP_US = 500 };

/* What another thread does meanwhile. */
struct meanwhile {
    int to;
    size_t first, second; /* bytes; at the end it closes when `ends`          */
    bool ends;
    volatile uint8_t *touched; /* memory that the call waits with; or NULL    */
};

static void send_some(int to, size_t bytes, int seed)
{
    static uint8_t data[LARGE];
    for (size_t i = 0; i < bytes; i++)
        data[i] = (uint8_t)(i * 13 + (size_t)seed);
    if (write(to, data, bytes) < 0)
        return;
}

static void *send_later(void *argument)
{
    const struct meanwhile *what = argument;
    usleep(STEP_US);
    if (what->touched)
        (void)*what->touched;
    if (what->first)
        send_some(what->to, what->first, 1);
    if (what->second) {
        usleep(STEP_US);
        send_some(what->to, what->second, 7);
    }
    if (what->ends)
        shutdown(what->to, SHUT_WR);
    return NULL;
}

static void drain(int from)
{
    uint8_t old[1024];
    int mode = fcntl(from, F_GETFL);
    fcntl(from, F_SETFL, mode | O_NONBLOCK);
    while (read(from, old, sizeof old) > 0)
        ;
    fcntl(from, F_SETFL, mode);
}

static void on_alarm(int number)
{
    (void)number;
}

/* A signal whose handler has the call go on. */
static void signal_soon(void)
{
    struct itimerval in = {{0, 0}, {0, STEP_US / 2}};
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &in, NULL);
}

typedef long receive_fn(int from, uint8_t *p, size_t bytes);

static long while_sending(receive_fn *receive, int from, uint8_t *p,
                          size_t bytes, struct meanwhile what)
{
    pthread_t thread;
    drain(from);
    pthread_create(&thread, NULL, send_later, &what);
    errno = 0;
    long result = receive(from, p, bytes);
    int error = errno;
    pthread_join(thread, NULL);
    errno = error;
    return result;
}

static long by_recv(int from, uint8_t *p, size_t bytes)
{
    return recv(from, p, bytes, 0);
}

static long by_recv_all(int from, uint8_t *p, size_t bytes)
{
    return recv(from, p, bytes, MSG_WAITALL);
}

static long by_recv_peek(int from, uint8_t *p, size_t bytes)
{
    long seen = recv(from, p, bytes, MSG_PEEK);
    return seen * 1000 + recv(from, p, bytes, 0);
}

static long by_recv_signalled(int from, uint8_t *p, size_t bytes)
{
    signal_soon();
    return recv(from, p, bytes, 0);
}

static long by_read(int from, uint8_t *p, size_t bytes)
{
    return read(from, p, bytes);
}

static long by_read_signalled(int from, uint8_t *p, size_t bytes)
{
    signal_soon();
    return read(from, p, bytes);
}

static long by_readv(int from, uint8_t *p, size_t bytes)
{
    struct iovec list[2] = {{p, bytes / 2}, {p + bytes / 2, bytes - bytes / 2}};
    return readv(from, list, 2);
}

static long by_recvmsg(int from, uint8_t *p, size_t bytes)
{
    struct iovec list[2] = {{p, bytes / 2}, {p + bytes / 2, bytes - bytes / 2}};
    struct msghdr header = {.msg_iov = list, .msg_iovlen = 2};
    long result = recvmsg(from, &header, 0);
    return result < 0 ? result : result + header.msg_flags * 100000;
}

static long nonblocking(receive_fn *receive, int from, uint8_t *p)
{
    drain(from);
    fcntl(from, F_SETFL, O_NONBLOCK);
    return receive(from, p, LARGE);
}

static long timed_out(receive_fn *receive, int from, uint8_t *p)
{
    struct timeval wait = {0, 1000};
    drain(from);
    setsockopt(from, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    return receive(from, p, LARGE);
}

/* A packet without bytes. */
static long empty_packet(receive_fn *receive, uint8_t *p)
{
    drain(now.packets[0]);
    send(now.packets[1], "", 0, 0);
    send_some(now.packets[1], 100, 5);
    long first = receive(now.packets[0], p, LARGE);
    return first * 1000 + receive(now.packets[0], p, LARGE);
}

#define TO_STREAM now.stream[1]
#define STREAM(how, ...)                                                       \
    while_sending(how, now.stream[0], p, LARGE,                                \
                  (struct meanwhile){TO_STREAM, __VA_ARGS__})
#define PACKET(how, ...)                                                       \
    while_sending(how, now.packets[0], p, LARGE,                               \
                  (struct meanwhile){now.packets[1], __VA_ARGS__})
#define PIPE(how, ...)                                                         \
    while_sending(how, now.pipe[0], p, LARGE,                                  \
                  (struct meanwhile){now.pipe[1], __VA_ARGS__})

RUN(small, while_sending(by_recv, now.stream[0], p, SMALL,
                         (struct meanwhile){TO_STREAM, 150, 0, false, NULL}))
RUN(recv, STREAM(by_recv, 9000, 0, false, NULL))
RUN(recv_all, STREAM(by_recv_all, 9000, 11000, false, NULL))
RUN(recv_all_ends, STREAM(by_recv_all, 9000, 0, true, NULL))
RUN(recv_peek, STREAM(by_recv_peek, 9000, 0, false, NULL))
RUN(recv_restart, STREAM(by_recv_signalled, 9000, 0, false, NULL))
RUN(recv_ends, STREAM(by_recv, 0, 0, true, NULL))
RUN(recv_again, nonblocking(by_recv, now.stream[0], p))
RUN(recv_time, timed_out(by_recv, now.stream[0], p))
RUN(recv_packet, PACKET(by_recv, 5000, 600, false, NULL))
RUN(recv_empty, empty_packet(by_recv, p))
RUN(read, STREAM(by_read, 9000, 0, false, NULL))
RUN(read_again, nonblocking(by_read, now.stream[0], p))
RUN(read_time, timed_out(by_read, now.stream[0], p))
RUN(read_empty, empty_packet(by_read, p))
RUN(readv, STREAM(by_readv, 15000, 0, false, NULL))
RUN(readv_packet, PACKET(by_readv, 15000, 0, false, NULL))
RUN(recvmsg, STREAM(by_recvmsg, 15000, 0, false, NULL))
RUN(recvmsg_empty, empty_packet(by_recvmsg, p))
RUN(pipe, PIPE(by_read, 9000, 0, false, NULL))
RUN(pipe_restart, PIPE(by_read_signalled, 9000, 0, false, NULL))
RUN(pipe_again, nonblocking(by_read, now.pipe[0], p))
/* Nothing is held meanwhile: the sender needs the memory first. */
RUN(recv_used, STREAM(by_recv, 9000, 0, false, p + 6000))
RUN(read_used, STREAM(by_read, 9000, 0, false, p + 6000))
RUN(pipe_used, PIPE(by_read, 9000, 0, false, p + 6000))
RUN(pipe_list, PIPE(by_readv, 15000, 0, false, NULL))

const struct contract_row rows_waiting[] = {
    {"recv waits, small", SMALL, NULL, run_small, 0},
    {"recv waits", LARGE, NULL, run_recv, 0},
    {"recv waits for all", LARGE, NULL, run_recv_all, CONTRACT_WHOLE},
    {"recv waits for all, end", LARGE, NULL, run_recv_all_ends, CONTRACT_WHOLE},
    {"recv waits and looks", LARGE, NULL, run_recv_peek, 0},
    {"recv waits, restarted", LARGE, NULL, run_recv_restart, 0},
    {"recv waits for the end", LARGE, NULL, run_recv_ends, 0},
    {"recv does not wait", LARGE, NULL, run_recv_again, 0},
    {"recv waits some time", LARGE, NULL, run_recv_time, 0},
    {"recv waits for a packet", LARGE, NULL, run_recv_packet, 0},
    {"recv empty packet", LARGE, NULL, run_recv_empty, 0},
    {"read waits", LARGE, NULL, run_read, 0},
    {"read does not wait", LARGE, NULL, run_read_again, 0},
    {"read waits some time", LARGE, NULL, run_read_time, 0},
    {"read empty packet", LARGE, NULL, run_read_empty, 0},
    {"readv waits", LARGE, NULL, run_readv, 0},
    {"readv waits for a packet", LARGE, NULL, run_readv_packet, 0},
    {"recvmsg waits", LARGE, NULL, run_recvmsg, 0},
    {"recvmsg empty packet", LARGE, NULL, run_recvmsg_empty, 0},
    {"read waits for a pipe", LARGE, NULL, run_pipe, 0},
    {"read waits for a pipe, restarted", LARGE, NULL, run_pipe_restart, 0},
    {"read does not wait for a pipe", LARGE, NULL, run_pipe_again, 0},
    {"recv waits, memory in use", LARGE, NULL, run_recv_used, 0},
    {"read waits, memory in use", LARGE, NULL, run_read_used, 0},
    {"read waits for a pipe, in use", LARGE, NULL, run_pipe_used, 0},
    {"readv waits for a pipe", LARGE, NULL, run_pipe_list, 0},
};
const size_t rows_waiting_count = sizeof rows_waiting / sizeof *rows_waiting;
