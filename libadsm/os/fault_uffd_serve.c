/*
 * The threads that answer for those who wait in a userfault.
 *
 * An answer may wait: for a kernel, or for a block that another access has to
 * give free, which is answered by another of these threads. So as many as there
 * are accesses may be needed at once, and there is always one that listens, or
 * is on its way. A thread that answers does not start others: that takes libc's
 * locks, which the thread it answers for may hold.
 *
 * A thread that waits in a userfault takes signals, and asks again when their
 * handlers have run. What is being answered is asked for only once.
 *
 * Lock: the pool's, rank POOL. Threads have every signal blocked throughout.
 */
#include "os/fault_uffd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"
#include "os/fault_engine.h"

enum {
    STACK_BYTES = 256 << 10,
    LISTENERS = 2,   /* kept: one answers, one listens meanwhile */
    MOST = 4096,     /* threads */
    FORGIVE_MS = 100 /* how long an access stays denied */
};

/* An access that is being answered. */
struct asked {
    pid_t thread; /* 0: none */
    uintptr_t page;
    enum adsm_access access;
};

static struct {
    struct adsm_lock lock;
    pid_t process;              /* whose threads they are */
    _Atomic uint32_t threads;   /* started so far */
    _Atomic uint32_t listeners; /* in read() */
    _Atomic uint32_t idle;      /* asleep, to be called */
    _Atomic uint32_t calls;     /* to those, not taken yet */
    _Atomic uint32_t wanted;    /* 1: somebody has to listen */
} pool = {.lock = ADSM_LOCK_INIT(ADSM_RANK_POOL)};

static struct asked asked[MOST]; /* the pool's lock; by thread of ours */

static ADSM_FAULT_TLS uintptr_t serve_page;

static void sleep_on(_Atomic uint32_t *word, uint32_t value,
                     const struct timespec *limit)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, limit, NULL, 0);
}

static void wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

uintptr_t adsm_uffd_faulting(void)
{
    return serve_page;
}

/* What the kernel says of a thread that waits: "-1 ..." where its own
 * instruction faulted, the number of a system call otherwise. */
static bool serve_is_in_call(pid_t thread)
{
    char path[64] = "/proc/self/task/", said[2] = "-";
    char digits[16], *to = path + strlen(path);
    size_t n = 0;
    for (pid_t left = thread; left > 0; left /= 10)
        digits[n++] = (char)('0' + left % 10);
    while (n > 0)
        *to++ = digits[--n];
    strcpy(to, "/syscall");
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    long got = syscall(SYS_read, fd, said, sizeof said);
    syscall(SYS_close, fd);
    return got > 0 && said[0] >= '0' && said[0] <= '9';
}

bool adsm_fault_is_in_call(void)
{
    pid_t thread = adsm_fault_thread();
    return thread != 0 && serve_is_in_call(thread);
}

/* ---- one access ----------------------------------------------------------- */

/* Note it; false where another of us has it in hand, which wakes the thread. */
static bool begin_answer(uint32_t self, const struct asked *what)
{
    bool is_new = true;
    uint32_t count = atomic_load(&pool.threads);
    adsm_lock_acquire(&pool.lock);
    for (uint32_t i = 0; i < count && is_new; i++)
        is_new = asked[i].thread != what->thread ||
                 asked[i].page != what->page || asked[i].access != what->access;
    if (is_new)
        asked[self] = *what;
    adsm_lock_release(&pool.lock);
    return is_new;
}

static void end_answer(uint32_t self)
{
    adsm_lock_acquire(&pool.lock);
    asked[self].thread = 0;
    adsm_lock_release(&pool.lock);
}

void adsm_fault_begin_anew(void)
{
    pid_t thread = adsm_fault_self();
    uint32_t count = atomic_load(&pool.threads);
    adsm_lock_acquire(&pool.lock);
    for (uint32_t i = 0; i < count; i++)
        if (asked[i].thread == thread)
            asked[i].thread = 0;
    adsm_lock_release(&pool.lock);
}

static void answer(uint32_t self, const struct uffd_msg *msg)
{
    size_t page_bytes = adsm_vm_page_bytes();
    uintptr_t addr = (uintptr_t)msg->arg.pagefault.address;
    struct asked what = {
        .thread = (pid_t)msg->arg.pagefault.feat.ptid,
        .page = addr & ~(uintptr_t)(page_bytes - 1),
        .access = msg->arg.pagefault.flags &
                          (UFFD_PAGEFAULT_FLAG_WRITE | UFFD_PAGEFAULT_FLAG_WP)
                      ? ADSM_WRITE
                      : ADSM_READ,
    };
    if (!begin_answer(self, &what))
        return;
    serve_page = what.page;
    adsm_fault_answer_for(what.thread);
    if (!adsm_fault_answer(
            &(struct adsm_fault_site){.addr = addr, .access = what.access})) {
        adsm_uffd_deny(what.page);
        atomic_store(&pool.wanted, 1); /* to forgive, after a while */
        wake(&pool.wanted);
    }
    adsm_fault_answer_for(0);
    serve_page = 0;
    /* First: who asks behind this is answered once more. */
    end_answer(self);
    adsm_uffd_wake(adsm_uffd_fd(), what.page, page_bytes);
}

/* ---- threads -------------------------------------------------------------- */

/* The next message. False: there will be none, since the descriptor is gone. */
static bool hear(struct uffd_msg *msg)
{
    int fd = adsm_uffd_fd();
    ssize_t n = -1;
    atomic_fetch_add(&pool.listeners, 1);
    while (fd >= 0 &&
           (n = syscall(SYS_read, fd, msg, sizeof *msg)) != sizeof *msg)
        if (n >= 0 || (errno != EINTR && errno != EAGAIN))
            fd = adsm_uffd_again(fd);
    if (atomic_fetch_sub(&pool.listeners, 1) == 1) {
        atomic_store(&pool.wanted, 1);
        wake(&pool.wanted);
    }
    return n == sizeof *msg;
}

/* Enough others listen: sleep until called. */
static void rest(void)
{
    uint32_t one;
    atomic_fetch_add(&pool.idle, 1);
    while ((one = atomic_load(&pool.calls)) == 0 ||
           !atomic_compare_exchange_strong(&pool.calls, &one, one - 1))
        if (one == 0)
            sleep_on(&pool.calls, 0, NULL);
    atomic_fetch_sub(&pool.idle, 1);
}

static void begin_thread(const char *name)
{
    prctl(PR_SET_NAME, name, 0, 0, 0);
    /* As in a handler of a thread that has every signal blocked. */
    adsm_quiet_interrupted(~UINT64_C(0));
    adsm_quiet_enter_handler();
}

static void *serve(void *unused)
{
    static _Atomic uint32_t numbers;
    struct uffd_msg msg;
    uint32_t self = atomic_fetch_add(&numbers, 1);
    begin_thread("adsm-fault");
    while (hear(&msg)) {
        if (msg.event == UFFD_EVENT_PAGEFAULT)
            answer(self, &msg);
        if (atomic_load(&pool.listeners) >= LISTENERS)
            rest();
    }
    return unused;
}

static adsm_status_t start(void)
{
    if (atomic_load(&pool.threads) == MOST)
        return ADSM_E_LIMIT;
    /* Counted first: it looks through all places up to its own. */
    atomic_fetch_add(&pool.threads, 1);
    adsm_status_t status = adsm_thread_start(serve, STACK_BYTES, false);
    if (status != ADSM_OK)
        atomic_fetch_sub(&pool.threads, 1);
    return status;
}

static void call_another(void)
{
    if (atomic_load(&pool.listeners) > 0)
        return;
    if (atomic_load(&pool.idle) > atomic_load(&pool.calls)) {
        atomic_fetch_add(&pool.calls, 1);
        wake(&pool.calls);
    } else if (start() != ADSM_OK) {
        adsm_log_once(ADSM_LOG_WARN,
                      "no more threads can be had to answer accesses to shared "
                      "memory: some wait for others");
    }
}

/* Sees to it that somebody listens. */
static void *manage(void *unused)
{
    static const struct timespec patience = {0, FORGIVE_MS * 1000000L};
    bool denied = false;
    begin_thread("adsm-fault-mgr");
    for (;;) {
        if (!atomic_load(&pool.wanted))
            sleep_on(&pool.wanted, 0, denied ? &patience : NULL);
        if (atomic_exchange(&pool.wanted, 0)) {
            call_another();
            denied = true;
        } else {
            denied = adsm_uffd_forgive();
        }
    }
    return unused;
}

adsm_status_t adsm_uffd_serve(void)
{
    if (pool.process == getpid())
        return ADSM_OK;
    adsm_status_t status = adsm_thread_start(manage, STACK_BYTES, false);
    for (int i = 0; i <= LISTENERS && status == ADSM_OK; i++)
        status = start();
    if (status == ADSM_OK)
        pool.process = getpid();
    return status;
}
