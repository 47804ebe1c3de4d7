/* Rows: calls that libc has no function for, or a late one, by number. */
#include "contract.h"

#include "interpose/calls/numbers.h"

#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/openat2.h>
#include <linux/perf_event.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/fanotify.h>
#include <sys/ipc.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/swap.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <time.h>

enum { PAGE = 4096, SEMAPHORES = 5 };

static _Alignas(4096) uint8_t pages[4 * PAGE];

/* The error stays that of the call. */
#define THEN(...)                                                              \
    do {                                                                       \
        int then_error = errno;                                                \
        __VA_ARGS__;                                                           \
        errno = then_error;                                                    \
    } while (0)

/* A file of its own: 1, closed at once. */
static long opened(long file)
{
    if (file >= 0)
        THEN(close((int)file));
    return file < 0 ? file : 1;
}

/* ---- System V ---------------------------------------------------------------- */

static long on_semaphores(int command, uint8_t *p, bool by_number)
{
    unsigned short values[SEMAPHORES] = {3, 1, 4, 1, 5};
    int set = semget(IPC_PRIVATE, SEMAPHORES, 0600 | IPC_CREAT);
    semctl(set, 0, SETALL, values);
    errno = 0;
    long result = by_number ? syscall(SYS_semctl, set, 0, command, p)
                            : semctl(set, 0, command, p);
    THEN(semctl(set, 0, GETALL, values));
    for (int i = 0; result >= 0 && i < SEMAPHORES; i++)
        result = result * 31 + values[i];
    THEN(semctl(set, 0, IPC_RMID));
    return result;
}

static long on_segment(int command, uint8_t *p, bool by_number)
{
    int segment = shmget(IPC_PRIVATE, 5 * PAGE, 0600 | IPC_CREAT);
    errno = 0;
    long result = by_number ? syscall(SYS_shmctl, segment, command, p)
                            : shmctl(segment, command, (struct shmid_ds *)p);
    THEN(shmctl(segment, IPC_RMID, NULL));
    return command == IPC_STAT || result < 0 ? result : 1;
}

static long on_queue(int command, uint8_t *p, bool by_number)
{
    struct msqid_ds about;
    int queue = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
    errno = 0;
    long result = by_number ? syscall(SYS_msgctl, queue, command, p)
                            : msgctl(queue, command, (struct msqid_ds *)p);
    THEN(msgctl(queue, IPC_STAT, &about); msgctl(queue, IPC_RMID, NULL));
    return result == 0 ? (long)about.msg_qbytes : result < 0 ? result : 1;
}

RUN(sem_stat, on_semaphores(IPC_STAT, p, false))
RUN(sem_get, on_semaphores(GETALL, p, false))
RUN(sem_set, on_semaphores(SETALL, p, false))
RUN(sem_info, on_semaphores(IPC_INFO, p, false) > 0)
RUN(sem_number, on_semaphores(GETALL, p, true))
RUN(sem_bad, on_semaphores(999, p, false))
RUN(shm_stat, on_segment(IPC_STAT, p, false))
RUN(shm_info, on_segment(SHM_INFO, p, false))
RUN(shm_number, on_segment(IPC_STAT, p, true))
RUN(msg_stat, on_queue(IPC_STAT, p, false))
RUN(msg_set, on_queue(IPC_SET, p, false))
RUN(msg_number, on_queue(IPC_SET, p, true))

/* ---- POSIX queues ------------------------------------------------------------- */

static long on_posix_queue(uint8_t *p, int form)
{
    static const char name[] = "adsm-contract"; /* the kernel's: no slash */
    mqd_t queue = (mqd_t)syscall(SYS_mq_open, name,
                                 O_RDWR | O_CREAT | O_NONBLOCK, 0600, NULL);
    struct mq_attr plain = {0};
    struct mq_attr *at = (struct mq_attr *)p;
    errno = 0;
    long result = form == 0   ? mq_getattr(queue, at)
                  : form == 1 ? mq_setattr(queue, at, &plain)
                  : form == 2 ? mq_setattr(queue, &plain, at)
                  : form == 3 ? mq_notify(queue, (struct sigevent *)p)
                              : syscall(SYS_mq_getsetattr, queue, NULL, p);
    THEN(mq_close(queue); syscall(SYS_mq_unlink, name));
    return result < 0 ? result : result + plain.mq_flags;
}

RUN(mq_get, on_posix_queue(p, 0))
RUN(mq_set, on_posix_queue(p, 1))
RUN(mq_old, on_posix_queue(p, 2))
RUN(mq_notify, on_posix_queue(p, 3))
RUN(mq_number, on_posix_queue(p, 4))

/* ---- prctl and capabilities --------------------------------------------------- */

static long named(uint8_t *p)
{
    char name[16], before[16];
    prctl(PR_GET_NAME, before);
    errno = 0;
    long result = prctl(PR_SET_NAME, p);
    THEN(prctl(PR_GET_NAME, name); prctl(PR_SET_NAME, before));
    for (int i = 0; result >= 0 && name[i]; i++)
        result = result * 31 % 1000003 + name[i];
    return result;
}

static long named_mapping(uint8_t *p)
{
    enum { SET_VMA = 0x53564d41 };
    return prctl(SET_VMA, 0UL, pages, (unsigned long)PAGE, p);
}

static struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
static struct __user_cap_data_struct rights[2];
int capget(cap_user_header_t, cap_user_data_t);
int capset(cap_user_header_t, cap_user_data_t);

static long set_rights(uint8_t *p)
{
    capget(&head, rights);
    memcpy(p, rights, sizeof rights);
    return capset(&head, (cap_user_data_t)p);
}

RUN(set_name, named(p))
RUN(get_name, prctl(PR_GET_NAME, p))
RUN(name_number, syscall(SYS_prctl, PR_GET_NAME, p))
RUN(death, prctl(PR_GET_PDEATHSIG, p))
RUN(reaper, prctl(PR_GET_CHILD_SUBREAPER, p))
RUN(tid_address, prctl(PR_GET_TID_ADDRESS, p))
RUN(vma, named_mapping(p))
RUN(auxv, prctl(0x41555856, p, 64UL, 0UL, 0UL))
RUN(prctl_number, prctl(PR_SET_TIMERSLACK, 50001UL))
RUN(cap_head, capget((cap_user_header_t)p, rights))
RUN(cap_data, capget(&head, (cap_user_data_t)p))
RUN(cap_number, syscall(SYS_capget, &head, p))
RUN(cap_set, set_rights(p))

/* ---- waiting ------------------------------------------------------------------- */

struct waiter {
    uint64_t value;
    uintptr_t at;
    uint32_t flags, reserved;
};

static const long ALL = UINT32_MAX; /* whom it concerns: any bit */
static uint32_t word = 5;
static const struct timespec soon = {0, 1};

static long wait_at(uint8_t *p, uint64_t value)
{
    struct waiter one = {value, (uintptr_t)p, 2 | FUTEX_PRIVATE_FLAG, 0};
    return syscall(SYS_futex_waitv, &one, 1, 0, &soon, CLOCK_MONOTONIC);
}

RUN(waitv, syscall(SYS_futex_waitv, p, 2, 0, &soon, CLOCK_MONOTONIC))
RUN(waitv_word, wait_at(p, 7))
RUN(waitv_other, wait_at(p, 8))
RUN(futex_wait, syscall(SYS_futex_wait, p, 7L, ALL, 2 | FUTEX_PRIVATE_FLAG,
                        &soon, CLOCK_MONOTONIC))
RUN(futex_limit, syscall(SYS_futex_wait, &word, 5L, ALL, 2 | FUTEX_PRIVATE_FLAG,
                         p, CLOCK_MONOTONIC))
RUN(futex_wake, syscall(SYS_futex_wake, p, ALL, 1, 2 | FUTEX_PRIVATE_FLAG))
RUN(requeue, syscall(SYS_futex_requeue, p, 0, 1, 1))
RUN(epoll, syscall(SYS_epoll_pwait2, now.poll, (struct epoll_event[4]){0}, 4, p,
                   NULL, 8L))

/* ---- memory --------------------------------------------------------------------- */

static long advised(uint8_t *p, bool by_number)
{
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    const struct iovec *list = (const struct iovec *)p;
    long result =
        by_number ? syscall(SYS_process_madvise, self, p, 2L, MADV_WILLNEED, 0)
                  : process_madvise(self, list, 2, MADV_WILLNEED, 0);
    THEN(close(self));
    return result;
}

static long asked(uint8_t *p)
{
    void *list[] = {pages, pages + PAGE};
    pages[0] = pages[PAGE] = 1;
    return syscall(SYS_move_pages, 0, 2L, list, NULL, p, 0);
}

RUN(advise, advised(p, false))
RUN(advise_number, advised(p, true))
RUN(move_pages, asked(p))
RUN(policy, syscall(SYS_get_mempolicy, p, NULL, 0L, NULL, 0L))
RUN(nodes, syscall(SYS_get_mempolicy, NULL, p, 1024L, NULL, 0L))

/* ---- files ---------------------------------------------------------------------- */

struct handle {
    unsigned bytes;
    int kind;
    char data[128];
};

int name_to_handle_at(int, const char *, struct file_handle *, int *, int);
int open_by_handle_at(int, struct file_handle *, int);

static long handle_of(uint8_t *handle, uint8_t *mount)
{
    struct handle plain = {sizeof plain.data, 0, {0}};
    int id;
    return name_to_handle_at(AT_FDCWD, now.folder,
                             handle ? (struct file_handle *)handle
                                    : (struct file_handle *)(void *)&plain,
                             mount ? (int *)mount : &id, 0);
}

static long of_counter(uint8_t *p)
{
    return opened(syscall(SYS_perf_event_open, p, 0, -1, -1, 0L));
}

RUN(handle, handle_of(p, NULL))
RUN(handle_mount, handle_of(NULL, p))
RUN(by_handle, opened(open_by_handle_at(AT_FDCWD, (struct file_handle *)p, 0)))
RUN(memory_file, opened(memfd_create((char *)p, 0)))
RUN(openat2, opened(syscall(SYS_openat2, AT_FDCWD, now.file_path, p,
                            sizeof(struct open_how))))
RUN(cached, syscall(SYS_cachestat, now.file, p, (uint64_t[5]){0}, 0))
RUN(cached_pages, syscall(SYS_cachestat, now.file, (uint64_t[2]){0, 0}, p, 0))
RUN(ioctl, syscall(SYS_ioctl, now.stream[0], FIONREAD, p))
RUN(owner, syscall(SYS_fcntl, now.stream[0], F_GETOWN_EX, p))
RUN(vmsplice, syscall(SYS_vmsplice, now.pipe[0], &(struct iovec){p, 200}, 1, 0))
RUN(access, syscall(SYS_faccessat2, AT_FDCWD, p, R_OK, 0))
RUN(counter, of_counter(p))

/* ---- small structures ------------------------------------------------------------ */

int pidfd_send_signal(int, int, siginfo_t *, unsigned);

static long signalled(uint8_t *p, bool by_number)
{
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    long result = by_number
                      ? syscall(SYS_pidfd_send_signal, self, SIGURG, p, 0)
                      : pidfd_send_signal(self, SIGURG, (siginfo_t *)p, 0);
    THEN(close(self));
    return result;
}

RUN(signal, signalled(p, false))
RUN(signal_number, signalled(p, true))
RUN(sched_get, syscall(SYS_sched_getattr, 0, p, 48, 0))
RUN(sched_set, syscall(SYS_sched_setattr, 0, p, 0))
RUN(robust, syscall(SYS_get_robust_list, 0, p, &(size_t){0}))
RUN(sysinfo, syscall(SYS_sysinfo, p))
RUN(resuid, syscall(SYS_getresuid, p, &(uid_t){0}, &(uid_t){0}))
RUN(lsm, syscall(SYS_lsm_list_modules, (uint64_t[32]){0}, p, 0))
RUN(mounts, syscall(SYS_listmount, p, (uint64_t[4]){0}, 4L, 0))
RUN(ruleset, opened(syscall(SYS_landlock_create_ruleset, p, 8L, 0)))
static long marked(uint8_t *p)
{
    int watch = fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID, O_RDONLY);
    errno = 0;
    long result =
        fanotify_mark(watch, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, (char *)p);
    THEN(close(watch));
    return result;
}

RUN(getcpu, syscall(SYS_getcpu, p, NULL))
RUN(log, klogctl(3, (char *)p, 4000) > 0)
RUN(clock, ntp_adjtime((struct timex *)p) >= 0)
RUN(unmount, umount2((char *)p, 0))
RUN(swap, swapoff((char *)p))
RUN(mark, marked(p))
RUN(mounted, mount((char *)p, (char *)p, "no such system", 0, NULL))
RUN(quota, syscall(SYS_quotactl, 0x80000400L, p, 0, NULL))
#ifdef SYS_arch_prctl
RUN(arch, syscall(SYS_arch_prctl, 0x1003, p))
#endif

FILL(values, unsigned short[SEMAPHORES], 9, 2, 6, 5, 3)
FILL(queue, struct msqid_ds, .msg_perm = {.mode = 0640}, .msg_qbytes = 1234)
FILL(attr, struct mq_attr, .mq_flags = 0)
FILL(event, struct sigevent, .sigev_notify = SIGEV_NONE)
FILL(name, char[16], "a thread's name")
FILL(head, struct __user_cap_header_struct, _LINUX_CAPABILITY_VERSION_3, 0)
FILL(bad_head, struct __user_cap_header_struct, 77, 0)
FILL(waiters, struct waiter[2], {6, (uintptr_t)&word, 2 | 128, 0},
     {5, (uintptr_t)&word, 2 | 128, 0})
FILL(word, uint32_t, 7)
FILL(limit, struct timespec, 0, 1)
FILL(ranges, struct iovec[2], {pages, PAGE}, {pages + 2 * PAGE, 2 * PAGE})
FILL(handle, struct handle, .bytes = 128)
FILL(no_handle, struct handle, .bytes = 0)
FILL(how, struct open_how, .flags = O_RDONLY)
FILL(bad_how, struct open_how, .flags = ~UINT64_C(0))
FILL(range, uint64_t[2], 0, 0)
FILL(path, char[16], "/dev/null")
FILL(counter, struct perf_event_attr, .size = 7)
FILL(info, siginfo_t, .si_signo = SIGURG, .si_code = SI_QUEUE)
FILL(bad_info, siginfo_t, .si_signo = SIGUSR1, .si_code = SI_QUEUE)
FILL(sched, uint32_t[12], 48)
FILL(bad_sched, uint32_t[12], 4097)
FILL(few, uint32_t, 8)
FILL(clock, struct timex, .modes = 0)
FILL(request, uint64_t[3], 24, ~UINT64_C(0), 0)
FILL(rules, uint64_t, 1)

const struct contract_row rows_numbers[] = {
    {"semctl IPC_STAT", sizeof(struct semid_ds), NULL, run_sem_stat,
     CONTRACT_LOOSE},
    {"semctl GETALL", 10, NULL, run_sem_get, 0},
    {"semctl SETALL", 10, fill_values, run_sem_set, 0},
    {"semctl IPC_INFO", sizeof(struct seminfo), NULL, run_sem_info, 0},
    {"semctl by number", 10, NULL, run_sem_number, 0},
    {"semctl bad", 10, NULL, run_sem_bad, 0},
    {"shmctl IPC_STAT", sizeof(struct shmid_ds), NULL, run_shm_stat,
     CONTRACT_LOOSE},
    {"shmctl SHM_INFO", sizeof(struct shm_info), NULL, run_shm_info,
     CONTRACT_LOOSE},
    {"shmctl by number", sizeof(struct shmid_ds), NULL, run_shm_number,
     CONTRACT_LOOSE},
    {"msgctl IPC_STAT", sizeof(struct msqid_ds), NULL, run_msg_stat,
     CONTRACT_LOOSE},
    {"msgctl IPC_SET", sizeof(struct msqid_ds), fill_queue, run_msg_set, 0},
    {"msgctl by number", sizeof(struct msqid_ds), fill_queue, run_msg_number,
     0},
    {"mq_getattr", sizeof(struct mq_attr), NULL, run_mq_get, 0},
    {"mq_setattr", sizeof(struct mq_attr), fill_attr, run_mq_set, 0},
    {"mq_setattr old", sizeof(struct mq_attr), NULL, run_mq_old, 0},
    {"mq_notify", sizeof(struct sigevent), fill_event, run_mq_notify,
     CONTRACT_WHOLE},
    {"mq_getsetattr by number", sizeof(struct mq_attr), NULL, run_mq_number, 0},
    {"prctl PR_SET_NAME", 16, fill_name, run_set_name, 0},
    {"prctl PR_GET_NAME", 16, NULL, run_get_name, 0},
    {"prctl by number", 16, NULL, run_name_number, 0},
    {"prctl PR_GET_PDEATHSIG", 4, NULL, run_death, 0},
    {"prctl PR_GET_CHILD_SUBREAPER", 4, NULL, run_reaper, 0},
    {"prctl PR_GET_TID_ADDRESS", 8, NULL, run_tid_address, 0},
    {"prctl PR_SET_VMA", 16, fill_name, run_vma, 0},
    {"prctl PR_GET_AUXV", 64, NULL, run_auxv, 0},
    {"prctl without memory", 8, NULL, run_prctl_number, 0},
    {"capget header", 8, fill_head, run_cap_head, 0},
    {"capget bad header", 8, fill_bad_head, run_cap_head, 0},
    {"capget data", 24, NULL, run_cap_data, 0},
    {"capget by number", 24, NULL, run_cap_number, 0},
    {"capset", 24, NULL, run_cap_set, CONTRACT_WHOLE},
    {"futex_waitv list", 48, fill_waiters, run_waitv, 0},
    {"futex_waitv word", 4, fill_word, run_waitv_word, 0},
    {"futex_waitv other word", 4, fill_word, run_waitv_other, 0},
    {"futex_wait", 4, fill_word, run_futex_wait, 0},
    {"futex_wait limit", 16, fill_limit, run_futex_limit, CONTRACT_WHOLE},
    {"futex_wake", 4, fill_word, run_futex_wake, 0},
    {"futex_requeue", 48, fill_waiters, run_requeue, 0},
    {"epoll_pwait2 by number", 16, fill_limit, run_epoll, 0},
    {"process_madvise", 32, fill_ranges, run_advise, 0},
    {"process_madvise by number", 32, fill_ranges, run_advise_number, 0},
    {"move_pages", 8, NULL, run_move_pages, 0},
    {"get_mempolicy", 4, NULL, run_policy, 0},
    {"get_mempolicy nodes", 128, NULL, run_nodes, 0},
    {"name_to_handle_at", 136, fill_handle, run_handle, 0},
    {"name_to_handle_at no room", 136, fill_no_handle, run_handle, 0},
    {"name_to_handle_at mount", 4, NULL, run_handle_mount, 0},
    {"open_by_handle_at", 136, fill_handle, run_by_handle, 0},
    {"memfd_create", 16, fill_name, run_memory_file, 0},
    {"openat2", sizeof(struct open_how), fill_how, run_openat2, 0},
    {"openat2 bad", sizeof(struct open_how), fill_bad_how, run_openat2, 0},
    {"cachestat range", 16, fill_range, run_cached, 0},
    {"cachestat", 40, NULL, run_cached_pages, CONTRACT_LOOSE},
    {"ioctl by number", 4, NULL, run_ioctl, 0},
    {"fcntl by number", 8, NULL, run_owner, 0},
    {"vmsplice by number", 200, NULL, run_vmsplice, 0},
    {"faccessat2", 16, fill_path, run_access, 0},
    {"perf_event_open", sizeof(struct perf_event_attr), fill_counter,
     run_counter, 0},
    {"pidfd_send_signal", sizeof(siginfo_t), fill_info, run_signal, 0},
    {"pidfd_send_signal bad", sizeof(siginfo_t), fill_bad_info, run_signal, 0},
    {"pidfd_send_signal by number", sizeof(siginfo_t), fill_info,
     run_signal_number, 0},
    {"sched_getattr", 48, NULL, run_sched_get, 0},
    {"sched_setattr", 48, fill_sched, run_sched_set, 0},
    {"sched_setattr bad", 48, fill_bad_sched, run_sched_set, 0},
    {"get_robust_list", 8, NULL, run_robust, 0},
    {"sysinfo by number", 112, NULL, run_sysinfo, CONTRACT_LOOSE},
    {"getresuid by number", 4, NULL, run_resuid, 0},
    {"getcpu by number", 4, NULL, run_getcpu, CONTRACT_LOOSE},
    {"klogctl", 4000, NULL, run_log, CONTRACT_LOOSE},
    {"ntp_adjtime", sizeof(struct timex), fill_clock, run_clock,
     CONTRACT_LOOSE},
    {"umount2", 16, fill_path, run_unmount, 0},
    {"swapoff", 16, fill_path, run_swap, 0},
    {"fanotify_mark", 16, fill_path, run_mark, 0},
    {"mount", 16, fill_path, run_mounted, 0},
    {"quotactl", 16, fill_path, run_quota, 0},
    {"lsm_list_modules", 4, fill_few, run_lsm, 0},
    {"listmount", 24, fill_request, run_mounts, 0},
    {"landlock_create_ruleset", 8, fill_rules, run_ruleset, 0},
#ifdef SYS_arch_prctl
    {"arch_prctl", 8, NULL, run_arch, 0},
#endif
};
const size_t rows_numbers_count = sizeof rows_numbers / sizeof *rows_numbers;
