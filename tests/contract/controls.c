/* Rows: requests of ioctl and fcntl, and other calls that need more care. */
#include "contract.h"

#include <linux/fs.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <termios.h>

static long on_terminal(unsigned long request, uint8_t *p)
{
    int ends[2], error;
    if (openpty(&ends[0], &ends[1], NULL, NULL, NULL) != 0)
        return -2;
    long result = ioctl(ends[1], request, p);
    error = errno;
    close(ends[0]);
    close(ends[1]);
    errno = error;
    return result;
}

static long locked(int command, uint8_t *p)
{
    long result = fcntl(now.file, command, p);
    int error = errno;
    fcntl(now.file, F_OFD_SETLK, &(struct flock){.l_type = F_UNLCK});
    errno = error;
    return result;
}

/* Send the memory through a queue, or receive into it. */
static long message(uint8_t *p, bool in, bool by_number)
{
    struct {
        long kind;
        char text[200];
    } plain = {3, "the text of a message"};
    int queue = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
    long result;
    if (in) {
        msgsnd(queue, &plain, 100, 0);
        result = by_number ? syscall(SYS_msgrcv, queue, p, 200L, 0L, IPC_NOWAIT)
                           : msgrcv(queue, p, 200, 0, IPC_NOWAIT);
    } else
        result = by_number ? syscall(SYS_msgsnd, queue, p, 100L, IPC_NOWAIT)
                           : msgsnd(queue, p, 100, IPC_NOWAIT);
    int error = errno;
    if (!in && result == 0 && msgrcv(queue, &plain, 200, 0, IPC_NOWAIT) == 100)
        for (int i = 0; i < 100; i++)
            result = result * 7 % 1000003 + plain.text[i];
    msgctl(queue, IPC_RMID, NULL);
    errno = error;
    return result;
}

static long given(uint8_t *p)
{
    uint8_t got[400];
    long result = vmsplice(now.pipe[1], &(struct iovec){p, 100}, 1, 0), sum = 0;
    int error = errno;
    ssize_t some = read(now.pipe[0], got, sizeof got);
    for (ssize_t i = 0; i < some; i++)
        sum = sum * 31 % 1000003 + got[i];
    errno = error;
    return result < 0 ? result : result + sum * 1000;
}

static long resident(uint8_t *p)
{
    static _Alignas(4096) uint8_t pages[16 * 4096];
    pages[5 * 4096] = 1;
    return mincore(pages, sizeof pages - 5, p);
}

RUN(available, ioctl(now.stream[0], FIONREAD, p))
RUN(available_bad, ioctl(-1, FIONREAD, p))
RUN(nonblocking, ioctl(now.stream[0], FIONBIO, p))
RUN(flags, ioctl(now.file, FS_IOC_GETFLAGS, p))
RUN(no_terminal, ioctl(now.file, TCGETS, p))
RUN(terminal, on_terminal(TCGETS, p))
RUN(size, on_terminal(TIOCGWINSZ, p))
RUN(set_size, on_terminal(TIOCSWINSZ, p))
RUN(plain_number, ioctl(now.file, FIOCLEX, p))
RUN(lock, locked(F_OFD_SETLK, p))
RUN(get_lock, locked(F_OFD_GETLK, p))
RUN(owner, fcntl(now.stream[0], F_GETOWN_EX, p))
RUN(get_flags, fcntl(now.stream[0], F_GETFL, p))
RUN(message_in, message(p, true, false))
RUN(message_out, message(p, false, false))
RUN(number_in, message(p, true, true))
RUN(number_out, message(p, false, true))
RUN(vmsplice, given(p))
RUN(vmsplice_in, vmsplice(now.pipe[0], &(struct iovec){p, 200}, 1, 0))
RUN(mincore, resident(p))

FILL(size, struct winsize, 30, 90, 0, 0)
FILL(lock, struct flock, .l_type = F_RDLCK, .l_len = 10)
FILL(zero, int, 0)
FILL(message, long, 9)

const struct contract_row rows_controls[] = {
    {"ioctl FIONREAD", 4, NULL, run_available, 0},
    {"ioctl FIONREAD bad file", 4, NULL, run_available_bad, 0},
    {"ioctl FIONBIO", 4, fill_zero, run_nonblocking, 0},
    {"ioctl FS_IOC_GETFLAGS", 8, NULL, run_flags, 0},
    {"ioctl TCGETS of a file", 36, NULL, run_no_terminal, 0},
    {"ioctl TCGETS", 36, NULL, run_terminal, 0},
    {"ioctl TIOCGWINSZ", 8, NULL, run_size, 0},
    {"ioctl TIOCSWINSZ", 8, fill_size, run_set_size, 0},
    {"ioctl without memory", 8, NULL, run_plain_number, 0},
    {"fcntl set lock", sizeof(struct flock), fill_lock, run_lock, 0},
    {"fcntl get lock", sizeof(struct flock), fill_lock, run_get_lock, 0},
    {"fcntl owner", 8, NULL, run_owner, 0},
    {"fcntl without memory", 8, NULL, run_get_flags, 0},
    {"msgrcv", 208, NULL, run_message_in, 0},
    {"msgsnd", 108, fill_message, run_message_out, 0},
    {"msgrcv by number", 208, NULL, run_number_in, 0},
    {"msgsnd by number", 108, fill_message, run_number_out, 0},
    {"vmsplice", 100, NULL, run_vmsplice, 0},
    {"vmsplice from a pipe", 200, NULL, run_vmsplice_in, 0},
    {"mincore", 16, NULL, run_mincore, 0},
};
const size_t rows_controls_count = sizeof rows_controls / sizeof *rows_controls;
