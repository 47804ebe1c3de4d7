/*
 * Foreign faults reach the application as without us (FACTS 2, defect 5).
 *
 * Every case runs the application's part in a child. What the application
 * installs after the engine goes through adsm_fault_app_action, which is what
 * its sigaction() will call when it is preloaded.
 */
#include "os/faulty.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#define GOOD 42

static volatile sig_atomic_t calls;
static volatile int seen_signal, seen_code;
static void *volatile seen_addr;
static volatile char *alien; /* a closed page that is not ours */
static sigjmp_buf jump;
static volatile int *volatile low_address = (volatile int *)16;

static void alien_map(void)
{
    alien = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void expect(bool condition)
{
    if (!condition)
        _exit(1);
}

/* The application's handler: opens the alien page, as a collector would. */
static void app_open(int signal, siginfo_t *info, void *context)
{
    calls = calls + 1;
    seen_signal = signal;
    seen_code = info->si_code;
    seen_addr = info->si_addr;
    mprotect((void *)alien, PAGE, PROT_READ | PROT_WRITE);
}

static void app_open_plain(int signal)
{
    calls = calls + 1;
    seen_signal = signal;
    mprotect((void *)alien, PAGE, PROT_READ | PROT_WRITE);
}

static void app_jump(int signal)
{
    calls = calls + 1;
    siglongjmp(jump, 1);
}

static struct sigaction action_info(int flags)
{
    struct sigaction action = {.sa_sigaction = app_open,
                               .sa_flags = SA_SIGINFO | flags};
    return action;
}

static struct sigaction action_plain(void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    return action;
}

/* Install as the application, before or after the engine. */
static void install(struct sigaction action, bool is_before)
{
    alien_map();
    if (is_before)
        expect(sigaction(SIGSEGV, &action, NULL) == 0);
    faulty_start();
    if (!is_before)
        expect(adsm_fault_app_action(&action, NULL) == 0);
}

static void shared_still_works(void)
{
    int before = calls;
    faulty_close();
    *faulty_page(7) = 9;
    expect(*faulty_page(7) == 9 && faulty_writes == 1 && calls == before);
}

static void foreign_goes_to_info_handler(void)
{
    shared_still_works();
    alien[5] = 3;
    expect(calls == 1 && seen_signal == SIGSEGV && seen_addr == alien + 5);
    expect(seen_code == SEGV_ACCERR && alien[5] == 3);
    shared_still_works();
    _exit(GOOD);
}

static void handler_before(void)
{
    install(action_info(0), true);
    foreign_goes_to_info_handler();
}
START_TEST(handler_from_before_gets_foreign_faults_only)
{
    ck_assert_int_eq(in_child(handler_before), GOOD);
}
END_TEST

static void handler_after(void)
{
    install(action_info(0), false);
    foreign_goes_to_info_handler();
}
START_TEST(handler_from_after_gets_foreign_faults_only)
{
    ck_assert_int_eq(in_child(handler_after), GOOD);
}
END_TEST

static void handler_plain(void)
{
    install(action_plain(app_open_plain, 0), false);
    alien[0] = 1;
    expect(calls == 1 && seen_signal == SIGSEGV);
    shared_still_works();
    _exit(GOOD);
}
START_TEST(handler_without_siginfo_gets_the_signal)
{
    ck_assert_int_eq(in_child(handler_plain), GOOD);
}
END_TEST

static void view(void)
{
    struct sigaction first = action_info(SA_RESTART), old, now;
    sigaddset(&first.sa_mask, SIGUSR1);
    install(first, true);
    struct sigaction second = action_plain(app_open_plain, SA_NODEFER);
    expect(adsm_fault_app_action(NULL, &old) == 0);
    expect(old.sa_sigaction == app_open && (old.sa_flags & SA_RESTART));
    expect(sigismember(&old.sa_mask, SIGUSR1) == 1);
    expect(adsm_fault_app_action(&second, &old) == 0);
    expect(old.sa_sigaction == app_open);
    expect(adsm_fault_app_action(NULL, &now) == 0);
    expect(now.sa_handler == app_open_plain && now.sa_flags == SA_NODEFER);
    shared_still_works();
    _exit(GOOD);
}
START_TEST(application_sees_its_own_action)
{
    ck_assert_int_eq(in_child(view), GOOD);
}
END_TEST

static void view_in_shared_memory(void)
{
    faulty_start();
    struct sigaction *new = (void *)faulty_page(1);
    struct sigaction *old = (void *)faulty_page(2);
    alien_map();
    new->sa_sigaction = app_open;
    new->sa_flags = SA_SIGINFO;
    expect(adsm_vm_protect(faulty, FAULTY_PAGES * PAGE, ADSM_PROT_NONE) == 0);
    expect(adsm_fault_app_action(new, old) == 0);
    expect(old->sa_handler == SIG_DFL);
    alien[0] = 1;
    expect(calls == 1);
    _exit(GOOD);
}
START_TEST(action_structs_may_lie_in_shared_memory)
{
    ck_assert_int_eq(in_child(view_in_shared_memory), GOOD);
}
END_TEST

static void default_foreign(void)
{
    install(action_plain(SIG_DFL, 0), false);
    shared_still_works();
    alien[0] = 1;
}
START_TEST(default_action_dies_of_sigsegv)
{
    ck_assert_int_eq(in_child(default_foreign), DIED_OF(SIGSEGV));
}
END_TEST

static void default_null(void)
{
    faulty_start();
    *low_address = 1;
}
START_TEST(null_pointer_dies_of_sigsegv)
{
    ck_assert_int_eq(in_child(default_null), DIED_OF(SIGSEGV));
}
END_TEST

static void default_non_canonical(void)
{
    faulty_start();
    *(volatile int *)0x8000deadbeef0000 = 1;
}
START_TEST(non_canonical_address_dies_of_sigsegv)
{
    ck_assert_int_eq(in_child(default_non_canonical), DIED_OF(SIGSEGV));
}
END_TEST

static void call_data(void)
{
    install(action_plain(SIG_DFL, 0), false);
    mprotect((void *)alien, PAGE, PROT_READ | PROT_WRITE);
    ((void (*)(void))(uintptr_t)alien)();
}
START_TEST(jump_into_data_dies_of_sigsegv)
{
    ck_assert_int_eq(in_child(call_data), DIED_OF(SIGSEGV));
}
END_TEST

static void ignored_foreign(void)
{
    install(action_plain(SIG_IGN, 0), true);
    shared_still_works();
    alien[0] = 1;
}
START_TEST(ignored_fault_dies_of_sigsegv)
{
    ck_assert_int_eq(in_child(ignored_foreign), DIED_OF(SIGSEGV));
}
END_TEST

static void ignored_sent(void)
{
    install(action_plain(SIG_IGN, 0), false);
    raise(SIGSEGV);
    kill(getpid(), SIGSEGV);
    shared_still_works();
    _exit(GOOD);
}
START_TEST(ignored_signal_that_was_sent_is_ignored)
{
    ck_assert_int_eq(in_child(ignored_sent), GOOD);
}
END_TEST

static void default_sent(void)
{
    faulty_start();
    raise(SIGSEGV);
    _exit(GOOD);
}
START_TEST(sent_signal_takes_the_default_action)
{
    ck_assert_int_eq(in_child(default_sent), DIED_OF(SIGSEGV));
}
END_TEST

static void handled_sent(void)
{
    install(action_info(0), false);
    raise(SIGSEGV);
    expect(calls == 1 && seen_code == SI_TKILL);
    kill(getpid(), SIGSEGV);
    expect(calls == 2 && seen_code == SI_USER);
    shared_still_works();
    _exit(GOOD);
}
START_TEST(sent_signal_reaches_the_handler)
{
    ck_assert_int_eq(in_child(handled_sent), GOOD);
}
END_TEST

static void reset_hand(void)
{
    struct sigaction now;
    install(action_info(SA_RESETHAND), false);
    alien[0] = 1;
    expect(calls == 1);
    expect(adsm_fault_app_action(NULL, &now) == 0);
    expect(now.sa_handler == SIG_DFL);
    shared_still_works();
    mprotect((void *)alien, PAGE, PROT_NONE);
    alien[0] = 1; /* dies here */
}
START_TEST(reset_handler_runs_once)
{
    ck_assert_int_eq(in_child(reset_hand), DIED_OF(SIGSEGV));
}
END_TEST

static void jump_out(int flags, int save_mask)
{
    install(action_plain(app_jump, flags), false);
    for (volatile int i = 0; i < 200; i++) {
        if (sigsetjmp(jump, save_mask) == 0) {
            alien[0] = 1;
            _exit(2);
        }
        if (i % 20 == 0)
            shared_still_works();
    }
    expect(calls == 200);
    shared_still_works();
    _exit(GOOD);
}
static void jump_with_mask(void)
{
    jump_out(0, 1);
}
static void jump_without_mask(void)
{
    jump_out(SA_NODEFER, 0);
}
START_TEST(handler_may_jump_out)
{
    ck_assert_int_eq(in_child(jump_with_mask), GOOD);
    ck_assert_int_eq(in_child(jump_without_mask), GOOD);
}
END_TEST

static char alternate[256 << 10];
static volatile bool on_alternate;

static bool is_on_alternate(const void *local)
{
    uintptr_t at = (uintptr_t)local;
    return at - (uintptr_t)alternate < sizeof alternate;
}

static void app_where(int signal, siginfo_t *info, void *context)
{
    int local;
    on_alternate = is_on_alternate(&local);
    app_open(signal, info, context);
}

static void use_alternate(int flags, bool wanted, bool is_before)
{
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction action = {.sa_sigaction = app_where,
                               .sa_flags = SA_SIGINFO | flags};
    expect(sigaltstack(&stack, NULL) == 0);
    install(action, is_before);
    shared_still_works();
    alien[0] = 1;
    expect(calls == 1 && on_alternate == wanted);
    shared_still_works();
    _exit(GOOD);
}
static void alternate_wanted(void)
{
    use_alternate(SA_ONSTACK, true, false);
}
static void alternate_wanted_before(void)
{
    use_alternate(SA_ONSTACK, true, true);
}
static void alternate_unwanted(void)
{
    use_alternate(0, false, false);
}
START_TEST(handler_runs_on_the_stack_it_asked_for)
{
    ck_assert_int_eq(in_child(alternate_wanted), GOOD);
    ck_assert_int_eq(in_child(alternate_wanted_before), GOOD);
    ck_assert_int_eq(in_child(alternate_unwanted), GOOD);
}
END_TEST

/* A callback as hungry as a driver call. */
static bool open_hungry(uintptr_t addr, enum adsm_access access, uintptr_t ip)
{
    volatile char room[40 << 10];
    for (size_t i = 0; i < sizeof room; i += 512)
        room[i] = (char)(i >> 9);
    return faulty_open(addr, access, ip) && room[512] == 1;
}

/* A small alternate stack with a closed page below it. */
static void small_alternate(void)
{
    size_t bytes = 16 << 10;
    char *map = mmap(NULL, bytes + PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = map + PAGE, .ss_size = bytes};
    mprotect(map, PAGE, PROT_NONE);
    expect(sigaltstack(&stack, NULL) == 0);
    struct sigaction action = action_info(SA_ONSTACK);
    alien_map();
    sigaction(SIGSEGV, &action, NULL);
    faulty_reserve();
    expect(adsm_fault_init(open_hungry) == ADSM_OK);
    for (int i = 0; i < 50; i++)
        shared_still_works();
    _exit(GOOD);
}
START_TEST(callback_has_room_whatever_the_alternate_stack)
{
    ck_assert_int_eq(in_child(small_alternate), GOOD);
}
END_TEST

static sigset_t mask_inside;
static volatile sig_atomic_t usr1_calls, usr1_inside;

static void app_usr1(int signal)
{
    usr1_calls = usr1_calls + 1;
}

static void app_mask(int signal, siginfo_t *info, void *context)
{
    pthread_sigmask(SIG_SETMASK, NULL, &mask_inside);
    raise(SIGUSR1);
    usr1_inside = usr1_calls;
    app_open(signal, info, context);
}

static void mask(void)
{
    struct sigaction usr1 = action_plain(app_usr1, 0);
    struct sigaction action = {.sa_sigaction = app_mask,
                               .sa_flags = SA_SIGINFO};
    sigset_t hup, after;
    sigemptyset(&hup);
    sigaddset(&hup, SIGHUP);
    sigprocmask(SIG_BLOCK, &hup, NULL);
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGUSR1, &usr1, NULL);
    install(action, false);
    alien[0] = 1;
    expect(sigismember(&mask_inside, SIGUSR1) == 1); /* its sa_mask      */
    expect(sigismember(&mask_inside, SIGHUP) == 1);  /* the thread's     */
    expect(sigismember(&mask_inside, SIGUSR2) == 0); /* not the engine's */
    expect(usr1_inside == 0 && usr1_calls == 1);
    sigprocmask(SIG_SETMASK, NULL, &after);
    expect(sigismember(&after, SIGUSR1) == 0);
    expect(sigismember(&after, SIGHUP) == 1);
    _exit(GOOD);
}
START_TEST(handler_runs_under_its_mask)
{
    ck_assert_int_eq(in_child(mask), GOOD);
}
END_TEST

#if defined(__x86_64__) || defined(__aarch64__)
/* "movb $1, (%rdi)" is 3 bytes long, any aarch64 instruction 4. */
static void app_skip(int signal, siginfo_t *info, void *context)
{
    ucontext_t *user = context;
    calls = calls + 1;
#if defined(__x86_64__)
    user->uc_mcontext.gregs[REG_RIP] += 3;
#else
    user->uc_mcontext.pc += 4;
#endif
}

static void skip(void)
{
    struct sigaction action = {.sa_sigaction = app_skip,
                               .sa_flags = SA_SIGINFO};
    install(action, false);
#if defined(__x86_64__)
    __asm__ volatile("movb $1, (%%rdi)" ::"D"(alien) : "memory");
#else
    __asm__ volatile("strb wzr, [%0]" ::"r"(alien) : "memory");
#endif
    expect(calls == 1);
    shared_still_works();
    _exit(GOOD);
}
START_TEST(handler_may_change_the_registers)
{
    ck_assert_int_eq(in_child(skip), GOOD);
}
END_TEST
#endif

static void app_shares(int signal, siginfo_t *info, void *context)
{
    *faulty_page(30) = *faulty_page(31);
    app_open(signal, info, context);
}

static void touch_in_handler(void)
{
    struct sigaction action = {.sa_sigaction = app_shares,
                               .sa_flags = SA_SIGINFO};
    sigfillset(&action.sa_mask);
    install(action, false);
    faulty_close();
    alien[0] = 1;
    expect(calls == 1 && faulty_writes == 1 && faulty_reads == 1);
    _exit(GOOD);
}
START_TEST(handler_may_touch_shared_memory)
{
    ck_assert_int_eq(in_child(touch_in_handler), GOOD);
}
END_TEST

static void app_crashes(int signal)
{
    *low_address = 1;
}
static void crash_in_handler(void)
{
    install(action_plain(app_crashes, 0), false);
    alien[0] = 1;
}
START_TEST(handler_that_crashes_dies_of_sigsegv)
{
    ck_assert_int_eq(in_child(crash_in_handler), DIED_OF(SIGSEGV));
}
END_TEST

static void app_errno(int signal)
{
    app_open_plain(signal);
    errno = ERANGE;
}
static void errno_of_handler(void)
{
    install(action_plain(app_errno, 0), false);
    errno = EXDEV;
    *faulty_page(0) = 1;
    expect(errno == EXDEV);
    alien[0] = 1;
    expect(errno == ERANGE); /* the kernel does not save it either */
    _exit(GOOD);
}
START_TEST(errno_is_left_to_the_handler)
{
    ck_assert_int_eq(in_child(errno_of_handler), GOOD);
}
END_TEST

static void removed(void)
{
    install(action_plain(app_open_plain, 0), false);
    adsm_fault_fini();
    alien[0] = 1;
    expect(calls == 1);
    struct sigaction now;
    expect(sigaction(SIGSEGV, NULL, &now) == 0);
    expect(now.sa_handler == app_open_plain);
    _exit(GOOD);
}
START_TEST(removed_engine_leaves_the_applications_action)
{
    ck_assert_int_eq(in_child(removed), GOOD);
}
END_TEST

static volatile int depth_limit = INT_MAX;

static int overflow(int depth)
{
    volatile char frame[4096];
    frame[0] = (char)depth;
    if (depth == depth_limit)
        return 0;
    return overflow(depth + 1) + frame[0];
}

static void overflow_main(void)
{
    struct rlimit stack = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_STACK, &stack);
    faulty_start();
    shared_still_works();
    _exit(overflow(0) == 0 ? 3 : 4);
}
START_TEST(stack_overflow_dies_of_sigsegv)
{
    ck_assert_int_eq(in_child(overflow_main), DIED_OF(SIGSEGV));
}
END_TEST

static void *overflow_here(void *arg)
{
    *faulty_page(9) = 1;
    return (void *)(intptr_t)overflow(0);
}
static void overflow_thread(void)
{
    pthread_t thread;
    faulty_start();
    pthread_create(&thread, NULL, overflow_here, NULL);
    pthread_join(thread, NULL);
}
START_TEST(stack_overflow_of_a_thread_dies_of_sigsegv)
{
    ck_assert_int_eq(in_child(overflow_thread), DIED_OF(SIGSEGV));
}
END_TEST

static void app_overflowed(int signal)
{
    int local;
    _exit(is_on_alternate(&local) ? GOOD : 5);
}
static void overflow_handled(void)
{
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct rlimit limit = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_STACK, &limit);
    sigaltstack(&stack, NULL);
    install(action_plain(app_overflowed, SA_ONSTACK), false);
    shared_still_works();
    _exit(overflow(0) == 0 ? 3 : 4);
}
START_TEST(stack_overflow_reaches_the_applications_handler)
{
    ck_assert_int_eq(in_child(overflow_handled), GOOD);
}
END_TEST

static _Atomic bool stop;

static void *change_action(void *arg)
{
    struct sigaction actions[2] = {action_info(SA_ONSTACK),
                                   action_plain(app_open_plain, 0)};
    struct sigaction old;
    for (int i = 0; !stop; i++)
        adsm_fault_app_action(&actions[i % 2], &old);
    return NULL;
}

static void change_while_faulting(void)
{
    pthread_t thread;
    install(action_info(0), false);
    pthread_create(&thread, NULL, change_action, NULL);
    for (int i = 0; i < 3000; i++) {
        mprotect((void *)alien, PAGE, PROT_NONE);
        alien[0] = 1;
        faulty_close();
        *faulty_page(i % FAULTY_PAGES) = 1;
        expect(faulty_writes == 1);
    }
    stop = true;
    pthread_join(thread, NULL);
    expect(calls == 3000);
    _exit(GOOD);
}
START_TEST(action_may_change_while_threads_fault)
{
    ck_assert_int_eq(in_child(change_while_faulting), GOOD);
}
END_TEST

SUITE_MAIN(
    "fault_chain", 60, handler_from_before_gets_foreign_faults_only,
    handler_from_after_gets_foreign_faults_only,
    handler_without_siginfo_gets_the_signal, application_sees_its_own_action,
    action_structs_may_lie_in_shared_memory, default_action_dies_of_sigsegv,
    null_pointer_dies_of_sigsegv, non_canonical_address_dies_of_sigsegv,
    jump_into_data_dies_of_sigsegv, ignored_fault_dies_of_sigsegv,
    ignored_signal_that_was_sent_is_ignored,
    sent_signal_takes_the_default_action, sent_signal_reaches_the_handler,
    reset_handler_runs_once, handler_may_jump_out,
    handler_runs_on_the_stack_it_asked_for,
    callback_has_room_whatever_the_alternate_stack, handler_runs_under_its_mask,
    handler_may_change_the_registers, handler_may_touch_shared_memory,
    handler_that_crashes_dies_of_sigsegv, errno_is_left_to_the_handler,
    removed_engine_leaves_the_applications_action,
    stack_overflow_dies_of_sigsegv, stack_overflow_of_a_thread_dies_of_sigsegv,
    stack_overflow_reaches_the_applications_handler,
    action_may_change_while_threads_fault)
