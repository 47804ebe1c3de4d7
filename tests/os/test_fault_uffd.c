/*
 * The engine over userfaultfd by itself: what the callback is told, by whom it
 * is called, how many may wait at once, and what becomes of an access that it
 * refuses. Skipped where this machine cannot run the engine.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/capture.h"
#include "base/option.h"
#include "common/suite.h"
#include "os/fault.h"
#include "os/fault_range.h"
#include "os/store.h"

enum { PAGES = 64, PAGE = 4096, CROWD = 40 };

static uintptr_t range;
static _Atomic int reads, writes;
static _Atomic pid_t asked_by, answered_by;

static uint8_t *page(int i)
{
    return (uint8_t *)range + i * PAGE;
}

static bool open_page(uintptr_t addr, enum adsm_access access, uintptr_t ip)
{
    struct adsm_stored store;
    if (addr - range >= PAGES * PAGE || adsm_fault_store(&store))
        return false;
    atomic_fetch_add(access == ADSM_WRITE ? &writes : &reads, 1);
    asked_by = adsm_fault_thread();
    answered_by = gettid();
    return adsm_fault_range_protect(addr & ~(uintptr_t)(PAGE - 1), PAGE,
                                    access == ADSM_WRITE
                                        ? ADSM_PROT_READ_WRITE
                                        : ADSM_PROT_READ) == ADSM_OK;
}

static void start(adsm_fault_fn fn)
{
    struct adsm_fault_engine_info engine;
    setenv("ADSM_FAULT_ENGINE", "uffd", 1);
    adsm_options_load();
    ck_assert_int_eq(adsm_fault_init(fn), ADSM_OK);
    ck_assert(adsm_fault_engine_info(2, &engine) && engine.is_chosen);
    ck_assert(adsm_fault_is_remote() && adsm_fault_range_is_lasting());
    int fd = memfd_create("range", MFD_CLOEXEC);
    ck_assert_int_eq(ftruncate(fd, PAGES * PAGE), 0);
    uint8_t *shadow =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert(shadow != MAP_FAILED &&
              madvise(shadow, PAGES * PAGE, MADV_DONTFORK) == 0);
    close(fd);
    for (int i = 0; i < PAGES; i++)
        shadow[i * PAGE] = (uint8_t)i;
    range = adsm_vm_reserve(PAGES * PAGE, 0, 0);
    ck_assert_int_eq(adsm_fault_range_attach(range, PAGES * PAGE, shadow),
                     ADSM_OK);
}

static void protect(int first, int count, enum adsm_prot prot)
{
    ck_assert_int_eq(adsm_fault_range_protect((uintptr_t)page(first),
                                              (size_t)count * PAGE, prot),
                     ADSM_OK);
}

static void must_count(int r, int w)
{
    ck_assert_int_eq(reads, r);
    ck_assert_int_eq(writes, w);
}

static uint8_t load(const uint8_t *at)
{
    return *(const volatile uint8_t *)at;
}

static void store(uint8_t *at, uint8_t value)
{
    *(volatile uint8_t *)at = value;
}

START_TEST(accesses_are_told_with_their_kind_and_thread)
{
    start(open_page);
    ck_assert_int_eq(load(page(5)), 5);
    must_count(1, 0);
    ck_assert_int_eq(asked_by, gettid());
    ck_assert_int_ne(answered_by, gettid());
    store(page(5), 50);
    must_count(1, 1);
    store(page(6), 60);
    must_count(1, 2);
    ck_assert_int_eq(load(page(5)) + load(page(6)), 110);
    must_count(1, 2);
}
END_TEST

START_TEST(ranges_are_opened_and_closed_as_a_whole)
{
    start(open_page);
    protect(0, PAGES, ADSM_PROT_READ);
    for (int i = 0; i < PAGES; i++)
        ck_assert_int_eq(load(page(i)), i);
    must_count(0, 0);
    store(page(7), 70);
    must_count(0, 1);
    /* Some are open for writing, some for reading. */
    protect(0, PAGES, ADSM_PROT_READ_WRITE);
    for (int i = 0; i < PAGES; i++)
        store(page(i), (uint8_t)(i + 1));
    must_count(0, 1);
    protect(0, PAGES, ADSM_PROT_READ);
    store(page(8), 80);
    must_count(0, 2);
    protect(8, 2, ADSM_PROT_NONE);
    ck_assert_int_eq(load(page(8)), 80);
    ck_assert_int_eq(load(page(9)), 10);
    must_count(2, 2);
    /* All of it, although two pages have been open since. */
    protect(0, PAGES, ADSM_PROT_NONE);
    protect(0, PAGES, ADSM_PROT_READ);
    ck_assert_int_eq(load(page(8)), 80);
    must_count(2, 2);
}
END_TEST

static bool open_all(uintptr_t addr, enum adsm_access access, uintptr_t ip)
{
    atomic_fetch_add(access == ADSM_WRITE ? &writes : &reads, 1);
    return addr - range < PAGES * PAGE &&
           adsm_fault_range_protect(range, PAGES * PAGE,
                                    access == ADSM_WRITE
                                        ? ADSM_PROT_READ_WRITE
                                        : ADSM_PROT_READ) == ADSM_OK;
}

START_TEST(page_that_is_missing_in_an_open_range_comes_back)
{
    start(open_all);
    ck_assert_int_eq(load(page(1)), 1);
    protect(5, 1, ADSM_PROT_NONE);
    ck_assert_int_eq(load(page(5)), 5);
    must_count(2, 0);
    store(page(6), 60);
    protect(5, 1, ADSM_PROT_NONE);
    store(page(5), 50);
    must_count(2, 2);
    ck_assert_int_eq(load(page(4)), 4);
    must_count(2, 2);
}
END_TEST

/* ---- many at once ---------------------------------------------------------- */

static sem_t arrived, go;

static bool open_when_all_are_there(uintptr_t addr, enum adsm_access access,
                                    uintptr_t ip)
{
    sem_post(&arrived);
    sem_wait(&go);
    return open_page(addr, access, ip);
}

static void *touch_own(void *which)
{
    return (void *)(uintptr_t)load(page((int)(uintptr_t)which));
}

START_TEST(as_many_accesses_as_there_are_wait_at_once)
{
    pthread_t threads[CROWD];
    sem_init(&arrived, 0, 0);
    sem_init(&go, 0, 0);
    start(open_when_all_are_there);
    for (uintptr_t i = 0; i < CROWD; i++)
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, touch_own, (void *)i), 0);
    for (int i = 0; i < CROWD; i++)
        sem_wait(&arrived);
    for (int i = 0; i < CROWD; i++)
        sem_post(&go);
    for (uintptr_t i = 0; i < CROWD; i++) {
        void *seen;
        pthread_join(threads[i], &seen);
        ck_assert_uint_eq((uintptr_t)seen, i);
    }
    must_count(CROWD, 0);
}
END_TEST

/* ---- signals ---------------------------------------------------------------- */

static _Atomic int signals;

static void on_signal(int number)
{
    signals += number == SIGUSR1;
}

static int our_threads(void)
{
    int count = 0;
    char path[64];
    for (pid_t t = getpid(); t < getpid() + 400; t++) {
        snprintf(path, sizeof path, "/proc/self/task/%d", t);
        count += access(path, F_OK) == 0;
    }
    return count;
}

START_TEST(thread_that_waits_takes_signals_and_is_answered_once)
{
    struct sigaction action = {.sa_handler = on_signal};
    pthread_t thread;
    void *seen;
    sem_init(&arrived, 0, 0);
    sem_init(&go, 0, 0);
    start(open_when_all_are_there);
    sigaction(SIGUSR1, &action, NULL);
    ck_assert_int_eq(
        pthread_create(&thread, NULL, touch_own, (void *)(uintptr_t)9), 0);
    sem_wait(&arrived);
    int before = our_threads();
    for (int i = 1; i <= 50; i++) {
        pthread_kill(thread, SIGUSR1);
        while (signals < i)
            nanosleep(&(struct timespec){0, 100000}, NULL);
    }
    /* It has asked again each time, and nobody came for it; one thread more may
     * have been wanted to listen. */
    ck_assert_int_le(our_threads(), before + 1);
    sem_post(&go);
    pthread_join(thread, &seen);
    ck_assert_uint_eq((uintptr_t)seen, 9);
    must_count(1, 0);
}
END_TEST

/* ---- what cannot be had ----------------------------------------------------- */

static bool refuses = true;
static sigjmp_buf back;
static void *volatile fault_at;
static volatile int faults;

static bool open_or_refuse(uintptr_t addr, enum adsm_access access,
                           uintptr_t ip)
{
    return !(refuses && addr - range < PAGE) && open_page(addr, access, ip);
}

static void on_segv(int number, siginfo_t *info, void *context)
{
    fault_at = info->si_addr;
    faults++;
    siglongjmp(back, number);
}

START_TEST(refused_access_gets_its_signal_and_may_be_tried_again)
{
    struct sigaction action = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO};
    int ends[2];
    start(open_or_refuse);
    sigaction(SIGSEGV, &action, NULL);
    ck_assert_int_eq(pipe(ends), 0);
    if (sigsetjmp(back, 1) == 0)
        ck_abort_msg("%d was read", load(page(0) + 123));
    ck_assert_ptr_eq(fault_at, page(0) + 123);
    ck_assert_int_eq(syscall(SYS_write, ends[1], page(0), 1), -1);
    ck_assert_int_eq(errno, EFAULT);
    ck_assert_int_eq(load(page(1)), 1);
    /* What was in the way has passed; asked for once more after a while. */
    refuses = false;
    nanosleep(&(struct timespec){0, 400 * 1000 * 1000}, NULL);
    ck_assert_int_eq(syscall(SYS_write, ends[1], page(0), 1), 1);
    ck_assert_int_eq(load(page(0)), 0);
}
END_TEST

START_TEST(access_behind_a_change_of_rights_is_not_refused_any_more)
{
    struct sigaction action = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO};
    start(open_or_refuse);
    sigaction(SIGSEGV, &action, NULL);
    if (sigsetjmp(back, 1) == 0)
        ck_abort_msg("%d was read", load(page(0)));
    protect(0, 2, ADSM_PROT_READ);
    ck_assert_int_eq(load(page(0)), 0);
    ck_assert_int_eq(faults, 1);
}
END_TEST

static bool owns(uintptr_t addr)
{
    return addr - range < PAGES * PAGE;
}

START_TEST(access_from_inside_the_driver_is_said_and_refused)
{
    struct sigaction action = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO};
    start(open_page);
    adsm_fault_set_owner(owns);
    sigaction(SIGSEGV, &action, NULL);
    struct capture capture;
    capture_begin(&capture);
    if (sigsetjmp(back, 1) == 0) {
        adsm_fault_enter_driver();
        ck_abort_msg("%d was read", load(page(3)));
    }
    adsm_fault_leave_driver();
    ck_assert_ptr_nonnull(strstr(capture_end(&capture), "CUDA driver touched"));
    ck_assert_ptr_eq(fault_at, page(3));
    must_count(0, 0);
}
END_TEST

START_TEST(detached_range_and_forked_child_get_ordinary_faults)
{
    start(open_page);
    ck_assert_int_eq(load(page(2)), 2);
    for (int i = 0; i < 2; i++) {
        int status;
        pid_t child = fork();
        if (child == 0)
            _exit(load(page(2)));
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
        ck_assert_int_eq(load(page(2)), 2);
    }
    struct sigaction action = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    ck_assert_int_eq(adsm_fault_range_detach(range, PAGES * PAGE), ADSM_OK);
    if (sigsetjmp(back, 1) == 0)
        ck_abort_msg("%d was read", load(page(2)));
    ck_assert_ptr_eq(fault_at, page(2));
}
END_TEST

/* As daemons do; twice, with files of its own in between. */
START_TEST(descriptor_that_the_program_closes_is_had_again)
{
    start(open_page);
    for (int round = 0; round < 2; round++) {
        ck_assert_int_eq(load(page(round)), round);
        /* Not those of the suite, which talks through them. */
        ck_assert_int_eq(syscall(SYS_close_range, 1000, ~0u, 0), 0);
        int other = open("/dev/null", O_RDONLY);
        for (int i = 10; i < 20; i++)
            ck_assert_int_eq(load(page(i + 10 * round)), i + 10 * round);
        protect(0, PAGES, ADSM_PROT_READ);
        store(page(1), 1);
        protect(0, PAGES, ADSM_PROT_NONE);
        close(other);
    }
    ck_assert_int_eq(fcntl(1024, F_GETFD), FD_CLOEXEC);
}
END_TEST

int main(void)
{
    const TTest *const cases[] = {
        accesses_are_told_with_their_kind_and_thread,
        ranges_are_opened_and_closed_as_a_whole,
        page_that_is_missing_in_an_open_range_comes_back,
        as_many_accesses_as_there_are_wait_at_once,
        thread_that_waits_takes_signals_and_is_answered_once,
        refused_access_gets_its_signal_and_may_be_tried_again,
        access_behind_a_change_of_rights_is_not_refused_any_more,
        access_from_inside_the_driver_is_said_and_refused,
        detached_range_and_forked_child_get_ordinary_faults,
        descriptor_that_the_program_closes_is_had_again};
    struct adsm_fault_engine_info engine;
    if (adsm_fault_engine_info(2, &engine) && engine.refused)
        suite_skip(engine.refused);
    return suite_run("fault_uffd", cases, sizeof cases / sizeof *cases, 30);
}
