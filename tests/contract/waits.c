/* Rows: waiting for files. */
#include "contract.h"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/time.h>

enum { MANY = 800 };

static fd_set set;

static long with_set(long result)
{
    uint64_t word;
    memcpy(&word, &set, sizeof word);
    return result < 0 ? result : result + (long)(word & 0xffffff) * 100;
}

static fd_set *plain_set(void)
{
    FD_ZERO(&set);
    FD_SET(now.stream[0], &set);
    FD_SET(now.stream[1], &set);
    return &set;
}

static struct timeval *at_once(void)
{
    static struct timeval time;
    time = (struct timeval){0, 0};
    return &time;
}

static long poll_interrupted(uint8_t *p)
{
    alarms(true);
    long result = poll((struct pollfd *)p, 1, -1);
    alarms(false);
    return result;
}

static long epoll_add(uint8_t *p)
{
    struct epoll_event got[4] = {{0, {0}}};
    long result = epoll_ctl(now.poll, EPOLL_CTL_ADD, now.stream[1],
                            (struct epoll_event *)p);
    int error = errno;
    long some = epoll_wait(now.poll, got, 4, 0);
    for (int i = 0; i < 4 && result == 0; i++)
        some += (long)got[i].data.u32 + (long)got[i].events * 1000;
    errno = error;
    return result < 0 ? result : some;
}

static long signal_file(uint8_t *p)
{
    int fd = signalfd(-1, (sigset_t *)p, SFD_CLOEXEC);
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return fd < 0 ? fd : 0;
}

RUN(poll, poll((struct pollfd *)p, 3, 0))
RUN(poll_many, poll((struct pollfd *)p, MANY, 0))
RUN(poll_most, poll((struct pollfd *)p, (nfds_t)-1, 0))
RUN(poll_waits, poll((struct pollfd *)p, 1, 1))
RUN(poll_intr, poll_interrupted(p))
RUN(ppoll, ppoll((struct pollfd *)p, 3, &(struct timespec){0, 0}, NULL))
RUN(ppoll_time, ppoll(NULL, 0, (struct timespec *)p, NULL))
RUN(ppoll_mask, ppoll(NULL, 0, &(struct timespec){0, 0}, (sigset_t *)p))
RUN(select, select(64, (fd_set *)p, NULL, NULL, at_once()))
RUN(select_writes,
    with_set(select(64, plain_set(), (fd_set *)p, NULL, at_once())))
RUN(select_few, select(1, (fd_set *)p, NULL, NULL, at_once()))
RUN(select_less, select(-1, (fd_set *)p, NULL, NULL, at_once()))
RUN(select_time,
    with_set(select(64, plain_set(), NULL, NULL, (struct timeval *)p)))
RUN(pselect,
    pselect(64, (fd_set *)p, NULL, NULL, &(struct timespec){0, 0}, NULL))
RUN(pselect_time, pselect(0, NULL, NULL, NULL, (struct timespec *)p, NULL))
RUN(epoll_ctl, epoll_add(p))
RUN(epoll_ctl_bad,
    epoll_ctl(now.poll, EPOLL_CTL_ADD, -1, (struct epoll_event *)p))
RUN(epoll_wait, epoll_wait(now.poll, (struct epoll_event *)p, 4, 0))
RUN(epoll_wait_none, epoll_wait(now.poll, (struct epoll_event *)p, 0, 0))
RUN(epoll_pwait, epoll_pwait(now.poll, (struct epoll_event *)p, 4, 0, NULL))
RUN(signalfd, signal_file(p))

static void fill_polls(uint8_t *init)
{
    struct pollfd list[3] = {{now.stream[0], POLLIN | POLLOUT, 0x55},
                             {-1, POLLIN, 0x55},
                             {now.stream[1], POLLIN, 0x55}};
    memcpy(init, list, sizeof list);
}

static void fill_waiting(uint8_t *init)
{
    memcpy(init, &(struct pollfd){now.stream[1], POLLIN, 0x55},
           sizeof(struct pollfd));
}

static void fill_many(uint8_t *init)
{
    for (int i = 0; i < MANY; i++)
        memcpy(init + (size_t)i * sizeof(struct pollfd),
               &(struct pollfd){i % 3 ? now.pipe[0] : -1, POLLIN, 0},
               sizeof(struct pollfd));
}

static void fill_set(uint8_t *init)
{
    plain_set();
    memcpy(init, &set, 8);
}

FILL(none, struct timespec, 0, 100)
FILL(event, struct epoll_event, EPOLLOUT, {.u32 = 9})

static void fill_signals(uint8_t *init)
{
    uint64_t usual = 1 << (SIGUSR1 - 1);
    memcpy(init, &usual, sizeof usual);
}

enum { POLL = sizeof(struct pollfd), EVENT = sizeof(struct epoll_event) };

const struct contract_row rows_waits[] = {
    {"poll", 3 * POLL, fill_polls, run_poll, 0},
    {"poll many", MANY *POLL, fill_many, run_poll_many, 0},
    {"poll too many", 3 * POLL, fill_polls, run_poll_most, 0},
    {"poll waits", POLL, fill_waiting, run_poll_waits, 0},
    {"poll interrupted", POLL, fill_waiting, run_poll_intr, 0},
    {"ppoll", 3 * POLL, fill_polls, run_ppoll, 0},
    {"ppoll time", 16, fill_none, run_ppoll_time, CONTRACT_WHOLE},
    {"ppoll mask", 8, fill_signals, run_ppoll_mask, CONTRACT_WHOLE},
    {"select", 8, fill_set, run_select, 0},
    {"select writes", 8, fill_set, run_select_writes, 0},
    {"select few", 8, fill_set, run_select_few, 0},
    {"select less", 8, fill_set, run_select_less, 0},
    {"select time", 16, fill_none, run_select_time,
     CONTRACT_WHOLE | CONTRACT_LOOSE},
    {"pselect", 8, fill_set, run_pselect, 0},
    {"pselect time", 16, fill_none, run_pselect_time, CONTRACT_WHOLE},
    {"epoll_ctl", EVENT, fill_event, run_epoll_ctl, 0},
    {"epoll_ctl bad file", EVENT, fill_event, run_epoll_ctl_bad, 0},
    {"epoll_wait", 4 * EVENT, NULL, run_epoll_wait, 0},
    {"epoll_wait for none", EVENT, NULL, run_epoll_wait_none, 0},
    {"epoll_pwait", 4 * EVENT, NULL, run_epoll_pwait, 0},
    {"signalfd", 8, fill_signals, run_signalfd, CONTRACT_WHOLE},
};
const size_t rows_waits_count = sizeof rows_waits / sizeof *rows_waits;
