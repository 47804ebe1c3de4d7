/*
 * Fault engine: every kind of access is told right, on any number of threads;
 * the guard against repeating faults; faults inside the driver.
 */
#include "os/faulty.h"

#include <errno.h>
#include <pthread.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/capture.h"

static __thread volatile uint64_t sink;

typedef uint64_t unaligned __attribute__((aligned(1)));

/* Each does one access to the address, or a few of one kind. */
static void read_1(char *p)
{
    sink = *(volatile uint8_t *)p;
}
static void read_2(char *p)
{
    sink = *(volatile uint16_t *)p;
}
static void read_4(char *p)
{
    sink = *(volatile uint32_t *)p;
}
static void read_8(char *p)
{
    sink = *(volatile unaligned *)p;
}
static void read_block(char *p)
{
    static char to[4096];
    memcpy(to, p, sizeof to);
    sink = (uint64_t)to[17];
}
UNTRACED static void read_atomic(char *p)
{
    sink = atomic_load((_Atomic uint64_t *)p);
}
static void write_1(char *p)
{
    *(volatile uint8_t *)p = 1;
}
static void write_2(char *p)
{
    *(volatile uint16_t *)p = 1;
}
static void write_4(char *p)
{
    *(volatile uint32_t *)p = 1;
}
static void write_8(char *p)
{
    *(volatile unaligned *)p = 1;
}
static void write_block(char *p)
{
    memset(p, 1, 4096);
}
UNTRACED static void write_add(char *p)
{
    atomic_fetch_add((_Atomic uint32_t *)p, 1);
}
UNTRACED static void write_exchange(char *p)
{
    sink = atomic_exchange((_Atomic uint64_t *)p, 1);
}
UNTRACED static void write_lost_compare(char *p)
{
    uint64_t expected = 77;
    atomic_compare_exchange_strong((_Atomic uint64_t *)p, &expected, 1);
}
#if defined(__x86_64__)
static void read_16(char *p)
{
    __m128i v = _mm_load_si128((const __m128i *)p);
    sink = (uint64_t)_mm_cvtsi128_si64(v);
}
static void write_16(char *p)
{
    _mm_store_si128((__m128i *)p, _mm_set1_epi8(1));
}
static void write_16_streaming(char *p)
{
    _mm_stream_si128((__m128i *)p, _mm_set1_epi8(1));
}
__attribute__((target("avx"))) static void read_32(char *p)
{
    __m256i v = _mm256_load_si256((const __m256i *)p);
    sink = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(v));
}
__attribute__((target("avx"))) static void write_32(char *p)
{
    _mm256_store_si256((__m256i *)p, _mm256_set1_epi8(1));
}
static void read_rep_movs(char *p)
{
    static char to[64];
    void *di = to;
    size_t n = sizeof to;
    __asm__ volatile("rep movsb" : "+D"(di), "+S"(p), "+c"(n)::"memory");
}
static void write_rep_movs(char *p)
{
    static const char from[64];
    const void *si = from;
    size_t n = sizeof from;
    __asm__ volatile("rep movsb" : "+D"(p), "+S"(si), "+c"(n)::"memory");
}
static void write_rep_stos(char *p)
{
    size_t n = 64;
    __asm__ volatile("rep stosb" : "+D"(p), "+c"(n) : "a"(1) : "memory");
}
static void write_in_place(char *p)
{
    __asm__ volatile("incb %0" : "+m"(*(volatile char *)p));
}
#endif

static const struct {
    const char *name;
    void (*run)(char *);
    enum adsm_access access;
    bool needs_avx;
} kinds[] = {
    {"read 1", read_1, ADSM_READ, false},
    {"read 2", read_2, ADSM_READ, false},
    {"read 4", read_4, ADSM_READ, false},
    {"read 8", read_8, ADSM_READ, false},
    {"read block", read_block, ADSM_READ, false},
    {"atomic read", read_atomic, ADSM_READ, false},
    {"write 1", write_1, ADSM_WRITE, false},
    {"write 2", write_2, ADSM_WRITE, false},
    {"write 4", write_4, ADSM_WRITE, false},
    {"write 8", write_8, ADSM_WRITE, false},
    {"write block", write_block, ADSM_WRITE, false},
    {"atomic add", write_add, ADSM_WRITE, false},
    {"atomic exchange", write_exchange, ADSM_WRITE, false},
    {"lost compare-exchange", write_lost_compare, ADSM_WRITE, false},
#if defined(__x86_64__)
    {"read 16", read_16, ADSM_READ, false},
    {"write 16", write_16, ADSM_WRITE, false},
    {"streaming write 16", write_16_streaming, ADSM_WRITE, false},
    {"read 32", read_32, ADSM_READ, true},
    {"write 32", write_32, ADSM_WRITE, true},
    {"rep movs from", read_rep_movs, ADSM_READ, false},
    {"rep movs to", write_rep_movs, ADSM_WRITE, false},
    {"rep stos", write_rep_stos, ADSM_WRITE, false},
    {"inc", write_in_place, ADSM_WRITE, false},
#endif
};
#define KINDS (sizeof kinds / sizeof *kinds)

static bool can_run(size_t kind)
{
#if defined(__x86_64__)
    return !kinds[kind].needs_avx || __builtin_cpu_supports("avx");
#else
    return true;
#endif
}

START_TEST(every_access_kind_is_told_on_a_closed_page)
{
    faulty_start();
    for (size_t i = 0; i < KINDS; i++) {
        if (!can_run(i))
            continue;
        faulty_close();
        kinds[i].run((char *)faulty_page(3));
        bool is_write = kinds[i].access == ADSM_WRITE;
        ck_assert_msg(faulty_writes == is_write, "%s: %u writes", kinds[i].name,
                      faulty_writes);
        ck_assert_msg(faulty_reads == !is_write, "%s: %u reads", kinds[i].name,
                      faulty_reads);
    }
}
END_TEST

START_TEST(every_access_kind_is_told_on_a_readable_page)
{
    faulty_start();
    for (size_t i = 0; i < KINDS; i++) {
        if (!can_run(i))
            continue;
        faulty_close();
        sink = (uint64_t)*faulty_page(3);
        kinds[i].run((char *)faulty_page(3));
        bool is_write = kinds[i].access == ADSM_WRITE;
        ck_assert_msg(faulty_writes == is_write, "%s", kinds[i].name);
        ck_assert_msg(faulty_reads == 1, "%s", kinds[i].name);
    }
}
END_TEST

START_TEST(access_across_pages_asks_for_both)
{
    faulty_start();
    faulty_close();
    read_8((char *)faulty_page(4) - 3);
    ck_assert_uint_eq(faulty_reads, 2);
    write_8((char *)faulty_page(6) - 5);
    ck_assert_uint_eq(faulty_writes, 2);
    memcpy((void *)faulty_page(20), (void *)faulty_page(10), 4 * PAGE);
    ck_assert_uint_eq(faulty_reads, 6);
    ck_assert_uint_eq(faulty_writes, 6);
}
END_TEST

static void *fault_often(void *arg)
{
    uintptr_t me = (uintptr_t)arg;
    for (int i = 0; i < 2000; i++) {
        char *page = (char *)faulty_page((int)(me * 8 + (uintptr_t)i % 8));
        sink = (uint64_t) * (volatile char *)page;
        *(volatile char *)page = (char)i;
        if (*(volatile char *)page != (char)i ||
            adsm_vm_protect((uintptr_t)page, PAGE, ADSM_PROT_NONE) != ADSM_OK)
            return page;
    }
    return NULL;
}

START_TEST(threads_fault_together)
{
    pthread_t threads[8];
    faulty_start();
    faulty_close();
    for (uintptr_t i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, fault_often, (void *)i);
    for (int i = 0; i < 8; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
    ck_assert_uint_eq(faulty_reads + faulty_writes, 8 * 2000 * 2);
    ck_assert_uint_eq(faulty_reads, 8 * 2000);
}
END_TEST

static bool open_and_spoil_errno(uintptr_t addr, enum adsm_access access,
                                 uintptr_t ip)
{
    errno = EBADF;
    return faulty_open(addr, access, ip);
}

START_TEST(errno_is_kept)
{
    faulty_reserve();
    ck_assert_int_eq(adsm_fault_init(open_and_spoil_errno), ADSM_OK);
    errno = EXDEV;
    *faulty_page(0) = 1;
    ck_assert_int_eq(errno, EXDEV);
}
END_TEST

static enum adsm_access asked[8];
static int asks, open_after;

/* Says "try again" without opening until it was asked `open_after` times. */
static bool open_late(uintptr_t addr, enum adsm_access access, uintptr_t ip)
{
    asked[asks++] = access;
    return asks <= open_after || faulty_open(addr, access, ip);
}

START_TEST(fault_without_progress_becomes_a_write)
{
    faulty_reserve();
    open_after = 1;
    ck_assert_int_eq(adsm_fault_init(open_late), ADSM_OK);
    sink = (uint64_t)*faulty_page(0);
    ck_assert_int_eq(asks, 2);
    ck_assert_int_eq(asked[0], ADSM_READ);
    ck_assert_int_eq(asked[1], ADSM_WRITE);
}
END_TEST

/* launch, read, launch, read: the second read is a read again. */
START_TEST(fault_after_a_closing_keeps_its_kind)
{
    faulty_start();
    for (int i = 0; i < 10; i++) {
        faulty_close();
        read_1((char *)faulty_page(0));
        ck_assert_uint_eq(faulty_writes, 0);
        ck_assert_uint_eq(faulty_reads, 1);
    }
}
END_TEST

static uintptr_t instruction;

static bool open_and_note(uintptr_t addr, enum adsm_access access, uintptr_t ip)
{
    instruction = ip;
    return faulty_open(addr, access, ip);
}

START_TEST(callback_is_told_the_instruction)
{
    enum { LONGEST = 512 }; /* sanitizers add to it */
    void (*volatile reads)(char *) = read_1,
                                (*volatile writes)(char *) = write_1;
    faulty_reserve();
    ck_assert_int_eq(adsm_fault_init(open_and_note), ADSM_OK);
    reads((char *)faulty_page(0));
    ck_assert_uint_lt(instruction - (uintptr_t)reads, LONGEST);
    uintptr_t before = instruction;
    writes((char *)faulty_page(0));
    ck_assert_uint_lt(instruction - (uintptr_t)writes, LONGEST);
    ck_assert_uint_ne(instruction, before);
}
END_TEST

static sigset_t mask_inside;

static bool open_and_look(uintptr_t addr, enum adsm_access access, uintptr_t ip)
{
    pthread_sigmask(SIG_SETMASK, NULL, &mask_inside);
    return faulty_open(addr, access, ip);
}

START_TEST(asynchronous_signals_wait_for_the_callback)
{
    sigset_t before, after;
    faulty_reserve();
    ck_assert_int_eq(adsm_fault_init(open_and_look), ADSM_OK);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    *faulty_page(0) = 1;
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    ck_assert_int_eq(sigismember(&mask_inside, SIGUSR1), 1);
    ck_assert_int_eq(sigismember(&mask_inside, SIGALRM), 1);
    ck_assert_int_eq(sigismember(&mask_inside, SIGRTMIN + 1), 1);
    ck_assert_int_eq(sigismember(&mask_inside, SIGBUS), 0);
    /* Those that glibc keeps to itself: 32 cancels threads. */
    uint64_t inside;
    memcpy(&inside, &mask_inside, sizeof inside);
    ck_assert_uint_eq(inside >> 31 & 3, 3);
    ck_assert_int_eq(sigismember(&after, SIGUSR1),
                     sigismember(&before, SIGUSR1));
}
END_TEST

START_TEST(init_refuses_nonsense)
{
    faulty_reserve();
    ck_assert_int_eq(adsm_fault_init(NULL), ADSM_E_INVALID);
    ck_assert(!adsm_fault_is_installed());
    adsm_fault_fini(); /* nothing to remove */
    ck_assert_int_eq(adsm_fault_init(faulty_open), ADSM_OK);
    ck_assert_int_eq(adsm_fault_init(faulty_open), ADSM_E_INVALID);
    ck_assert(adsm_fault_is_installed());
}
END_TEST

START_TEST(engine_can_be_removed_and_installed_again)
{
    faulty_start();
    for (int i = 0; i < 3; i++) {
        faulty_close();
        *faulty_page(1) = 1;
        ck_assert_uint_eq(faulty_writes, 1);
        adsm_fault_fini();
        ck_assert(!adsm_fault_is_installed());
        ck_assert_int_eq(adsm_fault_init(faulty_open), ADSM_OK);
    }
}
END_TEST

START_TEST(driver_mark_nests_and_is_per_thread)
{
    ck_assert(!adsm_fault_in_driver());
    adsm_fault_enter_driver();
    adsm_fault_enter_driver();
    adsm_fault_leave_driver();
    ck_assert(adsm_fault_in_driver());
    adsm_fault_leave_driver();
    ck_assert(!adsm_fault_in_driver());
}
END_TEST

static void touch_in_driver(void)
{
    faulty_start();
    adsm_fault_set_owner(faulty_owns);
    adsm_fault_enter_driver();
    *faulty_page(2) = 1;
}

START_TEST(shared_access_inside_the_driver_is_an_error_not_a_hang)
{
    static struct capture said;
    capture_begin(&said);
    int status = in_child(touch_in_driver);
    capture_end(&said);
    ck_assert_int_eq(status, DIED_OF(SIGSEGV));
    ck_assert_ptr_nonnull(strstr(said.text, "libadsm: error: the CUDA driver "
                                            "touched a shared object"));
    ck_assert_ptr_nonnull(strstr(said.text, "Address 0x"));
}
END_TEST

static void touch_outside_driver(void)
{
    faulty_start();
    adsm_fault_set_owner(faulty_owns);
    adsm_fault_enter_driver();
    adsm_fault_leave_driver();
    *faulty_page(2) = 1;
}

START_TEST(shared_access_after_the_driver_is_fine)
{
    ck_assert_int_eq(in_child(touch_outside_driver), 0);
}
END_TEST

SUITE_MAIN("fault", 60, every_access_kind_is_told_on_a_closed_page,
           every_access_kind_is_told_on_a_readable_page,
           access_across_pages_asks_for_both, threads_fault_together,
           errno_is_kept, fault_without_progress_becomes_a_write,
           fault_after_a_closing_keeps_its_kind,
           callback_is_told_the_instruction,
           asynchronous_signals_wait_for_the_callback, init_refuses_nonsense,
           engine_can_be_removed_and_installed_again,
           driver_mark_nests_and_is_per_thread,
           shared_access_inside_the_driver_is_an_error_not_a_hang,
           shared_access_after_the_driver_is_fine)
