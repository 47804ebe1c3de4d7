/*
 * Where a fault is answered: what the interrupted stack, the alternate one and
 * the memory below them have to give for it.
 *
 * Every case runs in a child, on stacks made here with a painted zone below.
 */
#include "base/sanitized.h"
#include "os/faulty.h"

#include <pthread.h>
#include <setjmp.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

#define GOOD       42
#define PAINT      0x5a
#define ZONE_BYTES ((size_t)256 << 10)

static void expect(bool condition)
{
    if (!condition)
        _exit(1);
}

/* A callback as hungry as a driver call. */
static bool open_hungry(uintptr_t addr, enum adsm_access access, uintptr_t ip)
{
    volatile char room[100 << 10];
    for (size_t i = 0; i < sizeof room; i += 512)
        room[i] = (char)(i >> 9);
    return faulty_open(addr, access, ip) && room[512] == 1;
}

static void start(adsm_fault_fn fn)
{
    faulty_reserve();
    expect(adsm_fault_init(fn) == ADSM_OK);
    *faulty_page(40) = 1; /* whatever the first fault needs once */
}

/* ---- a coroutine: its stack, and what lies below it ------------------------ */

static char *zone; /* the upper end is the coroutine's stack */
static ucontext_t outside, inside;
static char *entered_at;

static void touch_here(void)
{
    char here;
    entered_at = &here;
    *faulty_page(3) = 7;
}

/* Bytes below `touch_here` that were written while it ran in a coroutine. */
static size_t bytes_written_below(void)
{
    zone = mmap(NULL, ZONE_BYTES, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(zone, PAINT, ZONE_BYTES);
    getcontext(&inside);
    inside.uc_stack.ss_sp = zone;
    inside.uc_stack.ss_size = ZONE_BYTES;
    inside.uc_link = &outside;
    makecontext(&inside, touch_here, 0);
    swapcontext(&outside, &inside);
    expect(*faulty_page(3) == 7);
    size_t i = 0;
    while (zone[i] == PAINT)
        i++;
    return (size_t)(entered_at - zone) - i;
}

/* What a fault may take: the kernel's frame, which differs from processor to
 * processor, and the handler's few, of which a sanitizer makes more. */
static size_t frame_bytes(void)
{
    size_t frame = getauxval(AT_MINSIGSTKSZ);
    return (frame ? frame : 4096) + (SANITIZED ? 3072 : 1024);
}

static void small_stack(void)
{
    start(open_hungry);
    size_t bytes = bytes_written_below();
    printf("on the interrupted stack: %zu bytes\n", bytes);
    fflush(stdout);
    expect(bytes <= frame_bytes());
    _exit(GOOD);
}
START_TEST(fault_needs_no_more_of_a_stack_than_the_kernels_frame)
{
    ck_assert_int_eq(in_child(small_stack), GOOD);
}
END_TEST

/* ---- with an alternate stack ----------------------------------------------- */

#define ALTERNATE_BYTES ((size_t)16 << 10)

static char *alternate;
static volatile char *alien;
static volatile sig_atomic_t calls, calls_on_alternate;
static sigjmp_buf jump;

static bool is_on_alternate(const void *local)
{
    return (uintptr_t)local - (uintptr_t)alternate < ALTERNATE_BYTES;
}

static void count(void)
{
    char local;
    calls = calls + 1;
    calls_on_alternate = calls_on_alternate + is_on_alternate(&local);
}

static void app_open(int signal)
{
    count();
    mprotect((void *)alien, PAGE, PROT_READ | PROT_WRITE);
}

static void app_jump(int signal)
{
    count();
    siglongjmp(jump, 1);
}

/* A small alternate stack with a closed page below it. */
static void use_alternate(void)
{
    char *map = mmap(NULL, PAGE + ALTERNATE_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(map, PAGE, PROT_NONE);
    alternate = map + PAGE;
    stack_t stack = {.ss_sp = alternate, .ss_size = ALTERNATE_BYTES};
    expect(sigaltstack(&stack, NULL) == 0);
}

static void handle(int signal, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    alien = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect((signal == SIGSEGV ? adsm_fault_app_action(&action, NULL)
                              : sigaction(signal, &action, NULL)) == 0);
}

static void expect_alternate_kept(void)
{
    stack_t now;
    expect(sigaltstack(NULL, &now) == 0);
    expect(now.ss_flags == 0 && now.ss_sp == alternate);
    expect(now.ss_size == ALTERNATE_BYTES);
}

static void untouched(void)
{
    use_alternate();
    start(open_hungry);
    handle(SIGSEGV, app_open, SA_ONSTACK);
    size_t bytes = bytes_written_below();
    printf("with an alternate stack: %zu bytes\n", bytes);
    fflush(stdout);
    expect(bytes <= 128); /* touch_here's own frame */
    expect_alternate_kept();
    _exit(GOOD);
}
START_TEST(fault_leaves_the_interrupted_stack_alone_beside_an_alternate_one)
{
    ck_assert_int_eq(in_child(untouched), GOOD);
}
END_TEST

static void jump_often(void)
{
    use_alternate();
    start(open_hungry);
    handle(SIGSEGV, app_jump, SA_ONSTACK);
    for (volatile int i = 0; i < 100; i++) {
        if (sigsetjmp(jump, 1) == 0) {
            alien[0] = 1;
            _exit(2);
        }
        faulty_close();
        *faulty_page(i % 32) = 1;
        expect(faulty_writes == 1);
        expect_alternate_kept();
    }
    expect(calls == 100 && calls_on_alternate == 100);
    _exit(GOOD);
}
START_TEST(handler_may_jump_off_the_alternate_stack)
{
    ck_assert_int_eq(in_child(jump_often), GOOD);
}
END_TEST

static bool open_and_raise(uintptr_t addr, enum adsm_access access,
                           uintptr_t ip)
{
    raise(SIGSYS);
    return open_hungry(addr, access, ip);
}

static void app_sys(int signal)
{
    volatile char frame[2048];
    memset((char *)frame, 1, sizeof frame);
    count();
}

/* As where a sandbox emulates system calls in a handler of SIGSYS. */
static void signal_meanwhile(void)
{
    use_alternate();
    handle(SIGSYS, app_sys, SA_ONSTACK);
    start(open_and_raise);
    handle(SIGSEGV, app_open, SA_ONSTACK);
    calls = 0;
    for (int i = 0; i < 50; i++) {
        faulty_close();
        *faulty_page(i % 32) = 1;
    }
    expect(calls == 50);
    expect_alternate_kept();
    _exit(GOOD);
}
START_TEST(synchronous_signal_in_the_callback_returns_to_it)
{
    ck_assert_int_eq(in_child(signal_meanwhile), GOOD);
}
END_TEST

/* ---- many at once ----------------------------------------------------------- */

#define CROWD 100 /* more than are kept */

static pthread_barrier_t together;

static bool open_together(uintptr_t addr, enum adsm_access access, uintptr_t ip)
{
    char mine[1024];
    memset(mine, (int)(addr % PAGE), sizeof mine);
    __asm__ volatile("" ::"r"(mine) : "memory");
    pthread_barrier_wait(&together);
    for (size_t i = 0; i < sizeof mine; i++)
        expect(mine[i] == (char)(addr % PAGE));
    pthread_barrier_wait(&together);
    return faulty_open(addr, access, ip);
}

static void *touch_once(void *offset)
{
    *(volatile char *)(faulty + (uintptr_t)offset) = 1;
    return NULL;
}

static void crowd(void)
{
    pthread_t threads[CROWD];
    faulty_reserve();
    expect(adsm_fault_init(open_together) == ADSM_OK);
    pthread_barrier_init(&together, NULL, CROWD);
    for (int round = 0; round < 3; round++) {
        expect(adsm_vm_protect(faulty, PAGE, ADSM_PROT_NONE) == ADSM_OK);
        for (uintptr_t i = 0; i < CROWD; i++)
            expect(pthread_create(&threads[i], NULL, touch_once, (void *)i) ==
                   0);
        for (int i = 0; i < CROWD; i++)
            pthread_join(threads[i], NULL);
    }
    _exit(GOOD);
}
START_TEST(threads_that_fault_at_once_have_a_stack_each)
{
    ck_assert_int_eq(in_child(crowd), GOOD);
}
END_TEST

static size_t mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    size_t lines = 0;
    for (int c; (c = fgetc(maps)) != EOF;)
        lines += c == '\n';
    fclose(maps);
    return lines;
}

static void *exit_after_touch(void *page)
{
    touch_once(page);
    pthread_exit(NULL);
}

static void threads_come_and_go(void)
{
    size_t before = 0;
    start(open_hungry);
    for (int i = 0; i < 300; i++) {
        pthread_t thread;
        faulty_close();
        pthread_create(&thread, NULL, exit_after_touch, NULL);
        pthread_join(thread, NULL);
        if (i == 20)
            before = mappings();
    }
    faulty_close();
    expect(mappings() <= before + 2);
    _exit(GOOD);
}
START_TEST(threads_that_end_leave_no_stack_behind)
{
    ck_assert_int_eq(in_child(threads_come_and_go), GOOD);
}
END_TEST

SUITE_MAIN("fault_stack", 60,
           fault_needs_no_more_of_a_stack_than_the_kernels_frame,
           fault_leaves_the_interrupted_stack_alone_beside_an_alternate_one,
           handler_may_jump_off_the_alternate_stack,
           synchronous_signal_in_the_callback_returns_to_it,
           threads_that_fault_at_once_have_a_stack_each,
           threads_that_end_leave_no_stack_behind)
