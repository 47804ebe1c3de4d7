/*
 * A callback that serves stores: it notes their bytes and lets the thread go on,
 * while the page stays closed. That the bytes are right is test_store.c's matter.
 */
#include "os/faulty.h"
#include "os/store.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <pthread.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

#include "base/option.h"

static uint8_t noted[FAULTY_PAGES * PAGE];
static _Atomic unsigned served;

static bool serve(uintptr_t addr, enum adsm_access access, uintptr_t ip)
{
    struct adsm_stored store;
    if (!faulty_owns(addr) || !adsm_fault_store(&store))
        return faulty_open(addr, access, ip);
    memcpy(noted + (store.address - faulty), store.value, store.bytes);
    atomic_fetch_add(&served, 1);
    adsm_fault_step(&store);
    return true;
}

static void start(const char *engine)
{
    setenv("ADSM_FAULT_ENGINE", engine, 1);
    adsm_options_load();
    faulty_reserve();
    ck_assert_int_eq(adsm_fault_init(serve), ADSM_OK);
}

static void must_be_noted(size_t at, const void *bytes, size_t count)
{
    ck_assert_int_eq(memcmp(noted + at, bytes, count), 0);
    memset(noted + at, 0, count);
}

static void must_be_closed(void)
{
    ck_assert_uint_eq(faulty_reads + faulty_writes, 0);
    for (size_t i = 0; i < sizeof noted; i++)
        ck_assert_uint_eq(noted[i], 0);
    ck_assert_int_eq(
        adsm_vm_protect(faulty, FAULTY_PAGES * PAGE, ADSM_PROT_READ), ADSM_OK);
    for (size_t i = 0; i < FAULTY_PAGES * PAGE; i++)
        ck_assert_uint_eq(((uint8_t *)faulty)[i], 0);
}

__attribute__((target("avx"))) static void store_32(volatile char *p,
                                                    const uint8_t *bytes)
{
    __m256i value = _mm256_loadu_si256((const __m256i *)bytes);
    __asm__ volatile("vmovdqu %1, %0" : "=m"(*(__m256i *)p) : "x"(value));
}

static void store_all_sizes(volatile char *p, const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    __m128i more = _mm_loadu_si128((const __m128i *)bytes);
    __asm__ volatile("movb %b1, 16(%0)\n\t"
                     "movw %w1, 32(%0)\n\t"
                     "movl %k1, 48(%0)\n\t"
                     "movq %q1, 64(%0)\n\t"
                     "movdqu %2, 80(%0)"
                     :
                     : "r"(p), "q"(value), "x"(more)
                     : "memory");
    if (__builtin_cpu_supports("avx"))
        store_32(p + 96, bytes);
}

static void serve_all_sizes(const char *engine)
{
    uint8_t bytes[32];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + 1);
    bool avx = __builtin_cpu_supports("avx");
    start(engine);
    /* The last one lies across the edge of a page. */
    size_t at = 4 * PAGE - 96 - 5;
    store_all_sizes((volatile char *)faulty + at, bytes);
    ck_assert_uint_eq(served, 5u + avx);
    for (size_t i = 0; i < 5u + avx; i++)
        must_be_noted(at + 16 * (i + 1), bytes, (size_t)1 << i);
    must_be_closed();
}

START_TEST(stores_are_served_on_pages_that_stay_closed)
{
    serve_all_sizes("sigsegv");
}
END_TEST

START_TEST(stores_are_served_by_the_asynchronous_engine_too)
{
    struct adsm_fault_engine_info info;
    for (size_t i = 0; adsm_fault_engine_info(i, &info); i++)
        if (strcmp(info.name, "async") == 0 && info.refused != NULL)
            SUITE_SKIP_CASE(info.refused);
    serve_all_sizes("async");
    for (size_t i = 0; adsm_fault_engine_info(i, &info); i++)
        ck_assert_int_eq(info.is_chosen, strcmp(info.name, "async") == 0);
}
END_TEST

/* Each is tried again when its page is open. */
START_TEST(other_accesses_open_the_page)
{
    start("sigsegv");
    volatile char *p = faulty_page(0);
    __asm__ volatile("incb %0" : "+m"(*p));
    p = faulty_page(1);
    __asm__ volatile("lock addl $3, %0" : "+m"(*(volatile int *)p));
    p = faulty_page(2);
    size_t count = 64;
    __asm__ volatile("rep stosb" : "+D"(p), "+c"(count) : "a"(5) : "memory");
    ck_assert_uint_eq(faulty_writes, 3);
    ck_assert_int_eq(*faulty_page(3), 0);
    ck_assert_uint_eq(faulty_reads, 1);
    ck_assert_int_eq(*faulty_page(0), 1);
    ck_assert_int_eq(*faulty_page(1), 3);
    ck_assert_int_eq(faulty_page(2)[63], 5);
    ck_assert_uint_eq(served, 0);
    *faulty_page(3) = 1; /* one that can be read */
    ck_assert_uint_eq(served, 1);
    ck_assert_uint_eq(faulty_writes, 3);
}
END_TEST

START_TEST(nothing_is_told_outside_a_callback)
{
    struct adsm_stored store;
    start("sigsegv");
    ck_assert(!adsm_fault_store(&store));
    *faulty_page(0) = 1;
    ck_assert_uint_eq(served, 1);
    ck_assert(!adsm_fault_store(&store));
}
END_TEST

#if __has_include(<sys/rseq.h>)
/* Store to `closed` within a restartable sequence. The kernel moves the thread to
 * where that goes on when it faults: to a store to `open`. */
static void store_in_sequence(volatile char *closed, volatile char *open)
{
    struct rseq_cs sequence = {.flags = 0};
    char *self;
    __asm__("mov %%fs:0, %0" : "=r"(self));
    struct rseq *me = (struct rseq *)(self + __rseq_offset);
    __asm__ volatile(
        "lea 1f(%%rip), %%rax\n\t"
        "mov %%rax, %[from]\n\t"
        "movq $2f - 1f, %[bytes]\n\t"
        "lea 3f(%%rip), %%rax\n\t"
        "mov %%rax, %[abort]\n\t"
        "mov %[sequence], %[current]\n"
        "1:\n\t"
        "movb $1, (%[closed])\n"
        "2:\n\t"
        "jmp 4f\n\t"
        ".long %c[mark]\n"
        "3:\n\t"
        "movb $2, (%[open])\n"
        "4:"
        : [from] "=m"(sequence.start_ip),
          [bytes] "=m"(sequence.post_commit_offset),
          [abort] "=m"(sequence.abort_ip), [current] "=m"(me->rseq_cs)
        : [sequence] "r"(&sequence), [closed] "r"(closed), [open] "r"(open),
          [mark] "i"(RSEQ_SIG)
        : "rax", "memory");
    *(volatile __typeof__(me->rseq_cs) *)&me->rseq_cs = 0;
}

START_TEST(store_that_the_thread_has_left_is_not_served)
{
    if (__rseq_size == 0)
        SUITE_SKIP_CASE("no restartable sequences here");
    start("sigsegv");
    volatile char open = 0;
    /* It may be interrupted before it faults, and goes on there as well. */
    for (int i = 0; i < 1000 && faulty_writes == 0; i++)
        store_in_sequence(faulty_page(0), &open);
    ck_assert_uint_eq(faulty_writes, 1);
    ck_assert_uint_eq(served, 0);
    ck_assert_int_eq(open, 2);
    ck_assert_int_eq(*faulty_page(0), 0);
}
END_TEST
#else
START_TEST(store_that_the_thread_has_left_is_not_served)
{
    SUITE_SKIP_CASE("no <sys/rseq.h> here");
}
END_TEST
#endif

enum { THREADS = 8, STORES = 5000 };

static void *store_often(void *arg)
{
    volatile uint32_t *at = arg;
    for (uint32_t i = 1; i <= STORES; i++)
        *at = i;
    return NULL;
}

START_TEST(threads_are_served_together)
{
    pthread_t threads[THREADS];
    start("sigsegv");
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, store_often,
                       (void *)(faulty_page(0) + 4 * i));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(served, THREADS * STORES);
    for (size_t i = 0; i < THREADS; i++)
        must_be_noted(4 * i, &(uint32_t){STORES}, 4);
    must_be_closed();
}
END_TEST

SUITE_MAIN("fault_store", 60, stores_are_served_on_pages_that_stay_closed,
           stores_are_served_by_the_asynchronous_engine_too,
           other_accesses_open_the_page, nothing_is_told_outside_a_callback,
           store_that_the_thread_has_left_is_not_served,
           threads_are_served_together)

#else

/* Of other processors none is known. */
static bool told;

static bool ask(uintptr_t addr, enum adsm_access access, uintptr_t ip)
{
    struct adsm_stored store;
    told |= adsm_fault_store(&store);
    return faulty_open(addr, access, ip);
}

START_TEST(no_store_is_told)
{
    faulty_reserve();
    ck_assert_int_eq(adsm_fault_init(ask), ADSM_OK);
    *faulty_page(0) = 1;
    ck_assert_uint_eq(faulty_writes, 1);
    ck_assert(!told);
}
END_TEST

SUITE_MAIN("fault_store", 60, no_store_is_told)

#endif
