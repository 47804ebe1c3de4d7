/* Files, sockets and pipes as they are before each call. */
#include "contract.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/xattr.h>

struct contract_files now;
static bool open_now;

static void check(bool right, const char *what)
{
    if (right)
        return;
    perror(what);
    exit(3);
}

static void put(int fd, size_t bytes, int seed)
{
    uint8_t data[5000];
    for (size_t i = 0; i < bytes; i++)
        data[i] = (uint8_t)(i * 11 + (size_t)seed);
    check(write(fd, data, bytes) == (ssize_t)bytes, "write");
}

void files_begin(void)
{
    char name[] = "/tmp/contractXXXXXX";
    check(mkdtemp(name) != NULL, "mkdtemp");
    strcpy(now.folder, name);
    snprintf(now.file_path, sizeof now.file_path, "%s/file", name);
    snprintf(now.link_path, sizeof now.link_path, "%s/link", name);
    int file = open(now.file_path, O_RDWR | O_CREAT, 0640);
    check(file >= 0, "open");
    put(file, 5000, 3);
    close(file);
    check(symlink("a/link/to/nowhere/at/all", now.link_path) == 0, "symlink");
}

static void close_all(void)
{
    int *all[] = {&now.stream[0],  &now.stream[1], &now.packets[0],
                  &now.packets[1], &now.pipe[0],   &now.pipe[1],
                  &now.full,       &now.ended,     &now.file,
                  &now.listening,  &now.poll};
    for (size_t i = 0; open_now && i < sizeof all / sizeof *all; i++)
        close(*all[i]);
    open_now = false;
}

void files_fresh(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int other[2];
    close_all();
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, now.stream) == 0, "stream");
    put(now.stream[1], 300, 1);
    check(socketpair(AF_UNIX, SOCK_DGRAM, 0, now.packets) == 0, "packets");
    put(now.packets[1], 100, 2);
    put(now.packets[1], 50, 9);
    check(pipe(now.pipe) == 0, "pipe");
    put(now.pipe[1], 300, 4);
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, other) == 0, "ended");
    close(other[1]);
    now.ended = other[0];
    now.listening = socket(AF_UNIX, SOCK_STREAM, 0);
    check(bind(now.listening, (struct sockaddr *)&address,
               sizeof(sa_family_t)) == 0,
          "bind");
    check(listen(now.listening, 4) == 0, "listen");
    now.full = open("/dev/full", O_RDWR);
    now.file = open(now.file_path, O_RDWR);
    now.poll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.u64 = 77};
    epoll_ctl(now.poll, EPOLL_CTL_ADD, now.stream[0], &event);
    check(now.file >= 0 && now.poll >= 0 && now.full >= 0, "open");
    open_now = true;
}

void files_end(void)
{
    close_all();
    unlink(now.file_path);
    unlink(now.link_path);
    rmdir(now.folder);
}

static void on_alarm(int number)
{
    (void)number;
}

void alarms(bool on)
{
    int us = on ? 1000 : 0, error = errno;
    struct itimerval every = {{0, us}, {0, us}};
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    errno = error;
}
