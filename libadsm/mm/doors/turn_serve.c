/*
 * The thread that serves turns, and the desk where a host function's thread
 * leaves its errands and waits.
 *
 * Futexes only: an errand is left from the fault path. Owner of the desk is the
 * turn that is served; the errand belongs to its thread, or to who answers its
 * accesses, between `posted` and `served` to the runtime's.
 */
#include "mm/doors/turn_parts.h"

#include "base/log.h"
#include "base/quiet.h"
#include "base/thread.h"
#include "mm/doors/adopt.h"
#include "mm/object/index.h"
#include "mm/state/coherence.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STACK_BYTES = 256 << 10 };

static struct {
    _Atomic uint32_t owned;  /* 1: a turn is being served                 */
    _Atomic uint32_t posted; /* errands left                              */
    _Atomic uint32_t served; /* errands done                              */
    struct adsm_turn *turn;
    uintptr_t address; /* 0: the turn ends                               */
    enum adsm_access access;
    const struct adsm_cause *cause;
    int status;
} desk;

/* Initial-exec: the fault handler must not allocate on first use. */
static __thread struct adsm_turn *mine
    __attribute__((tls_model("initial-exec")));

/* Turns whose functions run, where others answer their threads' accesses. */
static struct {
    struct adsm_lock lock;
    struct adsm_turn *first; /* lock */
} turns = {.lock = ADSM_LOCK_INIT(ADSM_RANK_POOL)};

static void sleep_on(_Atomic uint32_t *word, uint32_t value)
{
    bool sleeps = adsm_quiet_sleep_begin();
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
    adsm_quiet_sleep_end(sleeps);
}

static void wake(_Atomic uint32_t *word, int threads)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
}

/* ---- the runtime's thread ------------------------------------------------ */

static int open_piece(void)
{
    int rc =
        adsm_turn_open_piece(desk.turn, desk.address, desk.access, desk.cause);
    if (rc != ADSM_E_NOT_SHARED || !adsm_placeholder_is(desk.address) ||
        !adsm_adopt_aside(desk.address))
        return rc;
    return adsm_turn_open_piece(desk.turn, desk.address, desk.access,
                                desk.cause);
}

static void *serve(void *unused)
{
    (void)unused;
    for (uint32_t done = 0;; done++) {
        /* Acquire: the errand was written before it was posted. */
        while (atomic_load_explicit(&desk.posted, memory_order_acquire) == done)
            sleep_on(&desk.posted, done);
        desk.status =
            desk.address ? open_piece() : adsm_turn_close_pieces(desk.turn);
        atomic_store_explicit(&desk.served, done + 1, memory_order_release);
        wake(&desk.served, 1);
    }
    return NULL;
}

int adsm_turn_start(void)
{
    static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_API);
    static _Atomic bool started;
    int rc = ADSM_OK;
    if (atomic_load_explicit(&started, memory_order_acquire))
        return ADSM_OK;
    adsm_lock_acquire(&lock);
    if (!atomic_load_explicit(&started, memory_order_relaxed)) {
        rc = adsm_thread_start(serve, STACK_BYTES, false);
        atomic_store_explicit(&started, rc == ADSM_OK, memory_order_release);
    }
    adsm_lock_release(&lock);
    return rc;
}

/* ---- the host function's thread ------------------------------------------ */

static int leave_errand(struct adsm_turn *turn, uintptr_t address,
                        enum adsm_access access, const struct adsm_cause *cause)
{
    desk.turn = turn;
    desk.address = address;
    desk.access = access;
    desk.cause = cause;
    uint32_t number = atomic_fetch_add(&desk.posted, 1) + 1;
    wake(&desk.posted, 1);
    uint32_t done;
    while ((done = atomic_load_explicit(&desk.served, memory_order_acquire)) !=
           number)
        sleep_on(&desk.served, done);
    return desk.status;
}

static int run_errand(struct adsm_turn *turn, uintptr_t address,
                      enum adsm_access access, const struct adsm_cause *cause)
{
    int saved = errno;
    uint32_t free = 0;
    bool remote = adsm_fault_is_remote();
    /* A signal handler's access may come beside that of the function which it
     * has interrupted. */
    if (remote)
        adsm_lock_acquire(&turn->lock);
    while (!turn->served &&
           !atomic_compare_exchange_strong(&desk.owned, &free, 1)) {
        sleep_on(&desk.owned, 1);
        free = 0;
    }
    turn->served = true;
    int status = leave_errand(turn, address, access, cause);
    if (remote)
        adsm_lock_release(&turn->lock);
    errno = saved;
    return status;
}

bool adsm_turn_is_mine(void)
{
    return mine != NULL;
}

void adsm_turn_begin(struct adsm_turn *turn)
{
    mine = turn;
    if (!adsm_fault_is_remote())
        return;
    turn->thread = adsm_fault_self();
    adsm_lock_init(&turn->lock, ADSM_RANK_API);
    adsm_lock_acquire(&turns.lock);
    turn->next = turns.first;
    turns.first = turn;
    adsm_lock_release(&turns.lock);
    /* A late answer to what the thread has asked before may wait for work
     * behind this turn. */
    adsm_fault_begin_anew();
}

static void stop_running(struct adsm_turn *turn)
{
    adsm_lock_acquire(&turns.lock);
    struct adsm_turn **at = &turns.first;
    while (*at != turn)
        at = &(*at)->next;
    *at = turn->next;
    adsm_lock_release(&turns.lock);
    uint32_t users;
    while ((users = atomic_load(&turn->users)) > 0)
        sleep_on(&turn->users, users);
}

void adsm_turn_end(void)
{
    struct adsm_turn *turn = mine;
    mine = NULL;
    if (adsm_fault_is_remote())
        stop_running(turn);
    if (turn->served) {
        int rc = run_errand(turn, 0, ADSM_READ, NULL);
        if (rc != ADSM_OK)
            adsm_log_once(ADSM_LOG_ERROR,
                          "what a host function wrote to shared memory did not "
                          "reach the device: %s",
                          adsm_status_text(rc));
        atomic_store(&desk.owned, 0);
        wake(&desk.owned, 1);
    }
    adsm_turn_ended(turn);
}

struct adsm_turn *adsm_turn_hold(void)
{
    pid_t thread = adsm_fault_thread();
    if (thread == 0)
        return mine;
    adsm_lock_acquire(&turns.lock);
    struct adsm_turn *turn = turns.first;
    while (turn && turn->thread != thread)
        turn = turn->next;
    if (turn)
        atomic_fetch_add(&turn->users, 1);
    adsm_lock_release(&turns.lock);
    return turn;
}

void adsm_turn_let_go(struct adsm_turn *turn)
{
    if (adsm_fault_thread() == 0)
        return;
    /* The address alone is used once nobody is counted any more. */
    atomic_fetch_sub(&turn->users, 1);
    wake(&turn->users, 1);
}

int adsm_turn_touch(struct adsm_turn *turn, uintptr_t address,
                    enum adsm_access access, const struct adsm_cause *cause)
{
    return adsm_index_find((void *)address) || adsm_placeholder_is(address)
               ? run_errand(turn, address, access, cause)
               : ADSM_E_NOT_SHARED;
}

int adsm_turn_touch_range(const struct adsm_object *object, size_t offset,
                          size_t bytes, enum adsm_access access,
                          const struct adsm_cause *cause)
{
    size_t begin, end;
    int rc = ADSM_OK;
    for (size_t at = offset; at < offset + bytes && rc == ADSM_OK; at = end) {
        adsm_turn_piece_around(object, at, &begin, &end);
        rc = run_errand(mine, (uintptr_t)object->host + at, access, cause);
    }
    return rc;
}
