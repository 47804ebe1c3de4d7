/*
 * Faults while the process changes under them: mappings come and go, the
 * application's action changes, objects appear. libsigsegv's own dispatcher
 * crashed in this test's predecessor (FACTS 1), which is why it is not used.
 */
#include "os/faulty.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>

#define HAMMERS 4
#define ROUNDS  4000

/* The object table in the small: what the callback looks up, lock-free. */
static _Atomic uintptr_t objects[16];
static _Atomic bool stop;
static _Atomic unsigned long foreign;

static bool look_up_and_open(uintptr_t addr, enum adsm_access access,
                             uintptr_t ip)
{
    if (faulty_open(addr, access, ip))
        return true;
    for (int i = 0; i < 16; i++) {
        uintptr_t at = atomic_load(&objects[i]);
        if (at != 0 && addr - at < PAGE)
            return adsm_vm_protect(at, PAGE, ADSM_PROT_READ_WRITE) == ADSM_OK;
    }
    foreign++;
    return false;
}

static void *hammer(void *arg)
{
    uintptr_t me = (uintptr_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        volatile char *page = faulty_page((int)(me * 16 + (uintptr_t)i % 16));
        *page = (char)i;
        if (*page != (char)i)
            return (void *)1;
        if (adsm_vm_protect((uintptr_t)page, PAGE, ADSM_PROT_NONE) != ADSM_OK)
            return (void *)2;
    }
    return NULL;
}

/* Objects are made, touched and freed all the time. */
static void *make_and_free(void *arg)
{
    for (unsigned i = 0; !stop; i++) {
        uintptr_t at = adsm_vm_reserve(PAGE, 0, 0);
        if (at == 0)
            return (void *)3;
        atomic_store(&objects[i % 16], at);
        *(volatile char *)at = 1;
        atomic_store(&objects[i % 16], 0);
        adsm_vm_release(at, PAGE);
    }
    return NULL;
}

static void app_handler(int signal)
{
    _exit(9);
}

static void *change_action(void *arg)
{
    struct sigaction action = {.sa_handler = app_handler}, old;
    while (!stop) {
        action.sa_flags ^= SA_RESTART;
        if (adsm_fault_app_action(&action, &old) != 0)
            return (void *)4;
        sched_yield();
    }
    return NULL;
}

START_TEST(faults_survive_a_changing_process)
{
    pthread_t hammers[HAMMERS], maker, changer;
    void *failed = NULL;
    faulty_reserve();
    ck_assert_int_eq(adsm_fault_init(look_up_and_open), ADSM_OK);
    for (uintptr_t i = 0; i < HAMMERS; i++)
        pthread_create(&hammers[i], NULL, hammer, (void *)i);
    pthread_create(&maker, NULL, make_and_free, NULL);
    pthread_create(&changer, NULL, change_action, NULL);
    for (int i = 0; i < HAMMERS; i++) {
        pthread_join(hammers[i], &failed);
        ck_assert_ptr_null(failed);
    }
    stop = true;
    pthread_join(maker, &failed);
    ck_assert_ptr_null(failed);
    pthread_join(changer, &failed);
    ck_assert_ptr_null(failed);
    ck_assert_uint_eq(foreign, 0);
    ck_assert_uint_eq(faulty_writes, HAMMERS * ROUNDS);
}
END_TEST

/* Two threads on one page: the second finds it open and goes on. */
UNTRACED static void *hammer_together(void *arg)
{
    for (int i = 0; i < ROUNDS; i++)
        atomic_fetch_add((_Atomic unsigned *)faulty, 1);
    return NULL;
}

START_TEST(threads_on_one_page_lose_nothing)
{
    pthread_t threads[HAMMERS];
    faulty_start();
    *(volatile unsigned *)faulty = 0;
    for (int i = 0; i < HAMMERS; i++)
        pthread_create(&threads[i], NULL, hammer_together, NULL);
    for (int i = 0; i < 300; i++) {
        ck_assert_int_eq(adsm_vm_protect(faulty, PAGE, ADSM_PROT_NONE),
                         ADSM_OK);
        sched_yield();
    }
    for (int i = 0; i < HAMMERS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(*(volatile unsigned *)faulty, HAMMERS * ROUNDS);
}
END_TEST

SUITE_MAIN("fault_threads", 120, faults_survive_a_changing_process,
           threads_on_one_page_lose_nothing)
