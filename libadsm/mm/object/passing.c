/* Records of threads, and the wait for them; see passing.h. */
#include "mm/object/passing.h"

#include "base/system.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { RECORDS = 64, PAGE = 4096, POLL_NS = 20 * 1000 };

_Thread_local struct adsm_passing *adsm_passing_mine;
_Atomic uint64_t adsm_passing_barred;

static struct {
    struct adsm_passing first[RECORDS];
    _Atomic uint32_t used; /* of `first` */
    struct adsm_passing *_Atomic list;
    pthread_once_t once;
    pthread_key_t at_end;
    _Atomic bool has_key, registered;
} passing = {.once = PTHREAD_ONCE_INIT};

/* ---- a thread joins, and ends --------------------------------------------- */

static void give_back(void *record)
{
    struct adsm_passing *mine = record;
    adsm_passing_mine = NULL;
    atomic_store_explicit(&mine->inside, 0, memory_order_release);
    atomic_store_explicit(&mine->taken, false, memory_order_release);
}

static void prepare(void)
{
    atomic_store(&passing.has_key,
                 pthread_key_create(&passing.at_end, give_back) == 0);
    atomic_store(&passing.registered,
                 syscall(SYS_membarrier,
                         MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0);
}

/* One that an ended thread has left. */
static struct adsm_passing *find_left(void)
{
    struct adsm_passing *record = atomic_load(&passing.list);
    for (; record; record = record->next) {
        bool taken = false;
        if (atomic_compare_exchange_strong(&record->taken, &taken, true))
            return record;
    }
    return NULL;
}

static struct adsm_passing *make(void)
{
    struct adsm_passing *record;
    uint32_t i = atomic_fetch_add(&passing.used, 1);
    if (i < RECORDS) {
        record = &passing.first[i];
    } else {
        record = adsm_system_mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (record == MAP_FAILED)
            return NULL;
    }
    atomic_store(&record->taken, true);
    record->next = atomic_load(&passing.list);
    while (!atomic_compare_exchange_weak(&passing.list, &record->next, record))
        ;
    return record;
}

struct adsm_passing *adsm_passing_join(void)
{
    pthread_once(&passing.once, prepare);
    struct adsm_passing *record = find_left();
    if (!record)
        record = make();
    if (record && atomic_load(&passing.has_key))
        pthread_setspecific(passing.at_end, record);
    adsm_passing_mine = record;
    return record;
}

/* ---- the wait -------------------------------------------------------------- */

/* Every thread of the process has passed a full fence when it returns: where the
 * system has no call for that, taking away a right to a page that is in use
 * makes it interrupt every processor that runs one. */
static void fence_everywhere(void)
{
    if (atomic_load(&passing.registered) &&
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
        return;
    volatile char *page = adsm_system_mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    *page = 1;
    adsm_system_mprotect((void *)page, PAGE, PROT_NONE);
    adsm_system_munmap((void *)page, PAGE);
}

void adsm_passing_bar(void)
{
    atomic_fetch_add(&adsm_passing_barred, 1);
    fence_everywhere();
    struct adsm_passing *record = atomic_load(&passing.list);
    for (; record; record = record->next)
        while (record != adsm_passing_mine &&
               atomic_load_explicit(&record->inside, memory_order_acquire))
            nanosleep(&(struct timespec){0, POLL_NS}, NULL);
}

void adsm_passing_allow(void)
{
    atomic_fetch_sub(&adsm_passing_barred, 1);
}
