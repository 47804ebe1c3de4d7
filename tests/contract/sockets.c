/* Rows: sockets. */
#include "contract.h"

#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static socklen_t length;
static uint8_t buffer[20000];
static struct sockaddr_un address;
/* An address without a file. Others of these programs run at the same time. */
static char abstract[] = "\1\0\0contract 1234567";

static int connect_listening(void)
{
    socklen_t bytes = sizeof address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    getsockname(now.listening, (struct sockaddr *)&address, &bytes);
    connect(fd, (struct sockaddr *)&address, bytes);
    return fd;
}

/* What arrived at the other end of a call that sends. */
static long arrived(long sent, int fd)
{
    int error = errno;
    ssize_t got = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    long sum = 0;
    for (ssize_t i = 0; i < got; i++)
        sum = sum * 31 + buffer[i];
    errno = error;
    return sent < 0 ? sent : sent + (sum & 0xffffff) * 10000;
}

static long interrupted(uint8_t *p, size_t bytes)
{
    while (recv(now.stream[0], buffer, sizeof buffer, MSG_DONTWAIT) > 0)
        ;
    alarms(true);
    long result = recv(now.stream[0], p, bytes, 0);
    alarms(false);
    return result;
}

static long timed_out(uint8_t *p)
{
    struct timeval wait = {0, 2000};
    while (recv(now.stream[0], buffer, sizeof buffer, MSG_DONTWAIT) > 0)
        ;
    setsockopt(now.stream[0], SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    return recv(now.stream[0], p, 100, 0);
}

static long accept_one(struct sockaddr *at, socklen_t *bytes, int form)
{
    int from = connect_listening();
    int fd = form ? accept4(now.listening, at, bytes, SOCK_CLOEXEC)
                  : accept(now.listening, at, bytes);
    int error = errno;
    close(from);
    if (fd >= 0)
        close(fd);
    errno = error;
    return fd < 0 ? fd : 0;
}

static long bind_to(uint8_t *p, socklen_t bytes)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    long result = bind(fd, (struct sockaddr *)p, bytes);
    int error = errno;
    close(fd);
    errno = error;
    return result;
}

static long pair_at(uint8_t *p)
{
    int ends[2] = {-1, -1};
    long result = socketpair(AF_UNIX, SOCK_STREAM, 0, (int *)p);
    int error = errno;
    if (result == 0) {
        memcpy(ends, p, sizeof ends);
        close(ends[0]);
        close(ends[1]);
    }
    errno = error;
    return result;
}

static void *volatile nowhere;
static volatile size_t everything = SIZE_MAX;

#define FROM                                                                   \
    (struct sockaddr *)&address, &(socklen_t)                                  \
    {                                                                          \
        sizeof address                                                         \
    }
#define BYTES(n)                                                               \
    (struct sockaddr *)p, &(socklen_t)                                         \
    {                                                                          \
        n                                                                      \
    }

RUN(recv, recv(now.stream[0], p, 200, 0))
RUN(recv_more, recv(now.stream[0], p, 4000, 0))
RUN(recv_large, recv(now.stream[0], p, 20000, 0))
RUN(recv_huge, recv(now.stream[0], p, everything, 0))
RUN(recv_all, recv(now.stream[0], p, 300, MSG_WAITALL))
RUN(recv_peek, recv(now.stream[0], p, 100, MSG_PEEK))
RUN(recv_none, recv(now.stream[0], p, 0, 0))
RUN(recv_packet, recv(now.packets[0], p, 200, 0))
RUN(recv_cut, recv(now.packets[0], p, 40, MSG_TRUNC))
RUN(recv_end, recv(now.ended, p, 200, 0))
RUN(recv_bad, recv(-1, p, 200, 0))
RUN(recv_file, recv(now.file, p, 200, 0))
RUN(recv_again, recv(now.stream[1], p, 200, MSG_DONTWAIT))
RUN(recv_intr, interrupted(p, 200))
RUN(recv_intr_large, interrupted(p, 20000))
RUN(recv_time, timed_out(p))
RUN(recv_nowhere, recv(now.stream[0], nowhere, 20, 0))
RUN(recvfrom, recvfrom(now.packets[0], p, 200, 0, FROM))
RUN(recvfrom_at, recvfrom(now.packets[0], buffer, 200, 0, BYTES(110)))
RUN(recvfrom_length, recvfrom(now.packets[0], buffer, 200, 0,
                              (struct sockaddr *)&address, (socklen_t *)p))
RUN(read, read(now.stream[0], p, 200))
RUN(read_large, read(now.pipe[0], p, 20000))
RUN(write, arrived(write(now.stream[0], p, 200), now.stream[1]))
RUN(send, arrived(send(now.stream[0], p, 200, 0), now.stream[1]))
RUN(send_large, arrived(send(now.stream[0], p, 20000, 0), now.stream[1]))
RUN(send_packet, arrived(send(now.packets[0], p, 5000, 0), now.packets[1]))
RUN(send_bad, send(-1, p, 200, 0))
RUN(send_ended, send(now.ended, p, 200, MSG_NOSIGNAL))
RUN(sendto, arrived(sendto(now.packets[0], p, 200, 0, NULL, 0), now.packets[1]))
RUN(sendto_at, sendto(now.packets[0], buffer, 20, 0, (struct sockaddr *)p, 110))
RUN(connect, connect(now.stream[0], (struct sockaddr *)p, 110))
RUN(bind, bind_to(p, sizeof abstract))
RUN(bind_long, bind_to(p, 1000))
RUN(accept, accept_one((struct sockaddr *)p, &(socklen_t){110}, 0))
RUN(accept_length, accept_one((struct sockaddr *)&address, (socklen_t *)p, 0))
RUN(accept4, accept_one((struct sockaddr *)p, &(socklen_t){110}, 1))
RUN(getsockname, getsockname(now.listening, BYTES(110)))
RUN(getsockname_short, getsockname(now.listening, BYTES(3)))
RUN(getsockname_length,
    getsockname(now.listening, (struct sockaddr *)&address, (socklen_t *)p))
RUN(getpeername, getpeername(now.stream[0], BYTES(110)))
RUN(getsockopt,
    getsockopt(now.stream[0], SOL_SOCKET, SO_SNDBUF, p, (length = 4, &length)))
RUN(getsockopt_length,
    getsockopt(now.stream[0], SOL_SOCKET, SO_SNDBUF, buffer, (socklen_t *)p))
RUN(getsockopt_bad,
    getsockopt(now.stream[0], SOL_SOCKET, 9999, p, (length = 4, &length)))
RUN(setsockopt, setsockopt(now.stream[0], SOL_SOCKET, SO_RCVTIMEO, p, 16))
RUN(setsockopt_bad, setsockopt(now.file, SOL_SOCKET, SO_RCVTIMEO, p, 16))
RUN(socketpair, pair_at(p))

FILL(length, socklen_t, 110)
FILL(length_bad, int, -5)
FILL(time, struct timeval, 1, 5)
FILL(name, struct sockaddr_un, AF_UNIX, "/tmp/nobody/is/here")

static void fill_abstract(uint8_t *init)
{
    snprintf(abstract + sizeof abstract - 8, 8, "%07u",
             (unsigned)getpid() % 10000000);
    memcpy(init, abstract, sizeof abstract);
}

const struct contract_row rows_sockets[] = {
    {"recv", 200, NULL, run_recv, 0},
    {"recv more than is there", 4000, NULL, run_recv_more, 0},
    {"recv into large", 20000, NULL, run_recv_large, 0},
    {"recv of any length", 300, NULL, run_recv_huge, 0},
    {"recv all", 300, NULL, run_recv_all, 0},
    {"recv peek", 100, NULL, run_recv_peek, 0},
    {"recv nothing", 200, NULL, run_recv_none, 0},
    {"recv packet", 200, NULL, run_recv_packet, 0},
    {"recv cut packet", 40, NULL, run_recv_cut, 0},
    {"recv at end", 200, NULL, run_recv_end, 0},
    {"recv bad file", 200, NULL, run_recv_bad, 0},
    {"recv no socket", 200, NULL, run_recv_file, 0},
    {"recv again", 200, NULL, run_recv_again, 0},
    {"recv interrupted", 200, NULL, run_recv_intr, 0},
    {"recv interrupted, large", 20000, NULL, run_recv_intr_large, 0},
    {"recv timed out", 100, NULL, run_recv_time, 0},
    {"recv nowhere", 20, NULL, run_recv_nowhere, 0},
    {"recvfrom", 200, NULL, run_recvfrom, 0},
    {"recvfrom address", 110, NULL, run_recvfrom_at, 0},
    {"recvfrom length", 4, fill_length, run_recvfrom_length, 0},
    {"read", 200, NULL, run_read, 0},
    {"read large", 20000, NULL, run_read_large, 0},
    {"write", 200, NULL, run_write, 0},
    {"send", 200, NULL, run_send, 0},
    {"send large", 20000, NULL, run_send_large, 0},
    {"send packet", 5000, NULL, run_send_packet, 0},
    {"send bad file", 200, NULL, run_send_bad, 0},
    {"send to nobody", 200, NULL, run_send_ended, 0},
    {"sendto", 200, NULL, run_sendto, 0},
    {"sendto address", 110, fill_name, run_sendto_at, 0},
    {"connect", 110, fill_name, run_connect, 0},
    {"bind", sizeof abstract, fill_abstract, run_bind, 0},
    {"bind too long", 1000, NULL, run_bind_long, 0},
    {"accept", 110, NULL, run_accept, 0},
    {"accept length", 4, fill_length, run_accept_length, 0},
    {"accept4", 110, NULL, run_accept4, 0},
    {"getsockname", 110, NULL, run_getsockname, CONTRACT_LOOSE},
    {"getsockname cut", 3, NULL, run_getsockname_short, 0},
    {"getsockname length", 4, fill_length, run_getsockname_length, 0},
    {"getsockname bad length", 4, fill_length_bad, run_getsockname_length, 0},
    {"getpeername", 110, NULL, run_getpeername, 0},
    {"getsockopt", 4, NULL, run_getsockopt, 0},
    {"getsockopt length", 4, fill_length, run_getsockopt_length, 0},
    {"getsockopt unknown", 4, NULL, run_getsockopt_bad, 0},
    {"setsockopt", 16, fill_time, run_setsockopt, 0},
    {"setsockopt no socket", 16, fill_time, run_setsockopt_bad, 0},
    {"socketpair", 8, NULL, run_socketpair, 0},
};
const size_t rows_sockets_count = sizeof rows_sockets / sizeof *rows_sockets;
