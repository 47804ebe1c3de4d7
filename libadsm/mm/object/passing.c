/* Records of threads, and the wait for them; see passing.h. */
#include "mm/object/passing.h"

#include "base/system.h"
#include "os/barrier.h"

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

enum { RECORDS = 64, PAGE = 4096, POLL_NS = 20 * 1000 };

_Thread_local struct adsm_passing *adsm_passing_mine;
_Atomic uint64_t adsm_passing_barred, adsm_passing_coming;

static struct {
    struct adsm_passing first[RECORDS];
    _Atomic uint32_t used; /* of `first` */
    struct adsm_passing *_Atomic list;
    pthread_once_t once;
    pthread_key_t at_end;
    _Atomic bool has_key;
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
    adsm_barrier_prepare();
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

void adsm_passing_bar(void)
{
    atomic_fetch_add(&adsm_passing_coming, 1);
    atomic_fetch_add(&adsm_passing_barred, 1);
    adsm_barrier_everywhere();
    struct adsm_passing *record = atomic_load(&passing.list);
    for (; record; record = record->next)
        while (record != adsm_passing_mine &&
               atomic_load_explicit(&record->inside, memory_order_acquire))
            nanosleep(&(struct timespec){0, POLL_NS}, NULL);
}

void adsm_passing_allow(void)
{
    atomic_fetch_sub(&adsm_passing_barred, 1);
    atomic_fetch_sub(&adsm_passing_coming, 1);
}
