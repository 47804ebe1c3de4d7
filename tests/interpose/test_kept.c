/*
 * Signals that come while the library works for their thread: when, in which
 * order, where and how often their handlers run, what those are told, and what
 * that costs in calls of the system.
 *
 * The program stands before libc's syscall: where a launch closes an object
 * that the CPU has written, the library changes a protection, and there what is
 * to come in the middle of a launch can be sent.
 *
 * Meson runs it preloaded.
 */
#include "raw_call.h"
#include "regress/interpose/preloaded.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { BYTES = 1 << 20, MOST = 64 };

/* count[0]++ */
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry next(.param .u64 a)\n{\n"
    ".reg .b64 %p<1>; .reg .b32 %v<1>;\nld.param.u64 %p0, [a];\n"
    "ld.global.u32 %v0, [%p0]; add.u32 %v0, %v0, 1;\n"
    "st.global.u32 [%p0], %v0; ret; }\n";

static CUdeviceptr at;
static CUfunction next;

/* What happens in the middle of this thread's next launch, once. */
static _Thread_local void (*in_the_middle)(void);
static _Atomic bool is_middle, was_middle;

/* What the library and the driver call. */
__attribute__((visibility("default"))) long syscall(long number, ...)
{
    long words[RAW_WORDS];
    va_list list;
    va_start(list, number);
    raw_words(words, list);
    va_end(list);
    void (*work)(void) = in_the_middle;
    if (number == SYS_mprotect && work) {
        in_the_middle = NULL;
        is_middle = true;
        work();
        is_middle = false;
        was_middle = true;
    }
    return raw_call(number, words);
}

static void start(void)
{
    CUmodule module;
    device_start();
    at = (CUdeviceptr)device_bytes(BYTES, 0);
    must(cuModuleLoadData(&module, text));
    must(cuModuleGetFunction(&next, module, "next"));
}

static void launch(void)
{
    void *list[] = {&at};
    must(cuLaunchKernel(next, 1, 1, 1, 1, 1, 1, 0, NULL, list, NULL));
}

/* What a launch has to close. Read first: a store alone would open nothing. */
static void come_near(void)
{
    *(volatile uint32_t *)(at + 4096) += 1;
}

/* A launch in whose middle `work` is done. */
static void launch_with(void (*work)(void))
{
    come_near();
    was_middle = false;
    in_the_middle = work;
    launch();
    ck_assert_msg(was_middle, "no middle: the launch closed nothing");
}

static int self(void)
{
    return (int)RAW_CALL(SYS_gettid);
}

/* ---- what handlers have seen -------------------------------------------- */

struct seen {
    int number, value, code, thread;
    pid_t sender;
    bool middle, on_stack;
    uint64_t mask, interrupted; /* its own, and that of the interrupted code */
};

static struct seen seen[MOST];
static _Atomic int seen_count, seen_whole;
static char stack[64 * 1024];

static uint64_t mask_now(void)
{
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    return *(uint64_t *)&set;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    char here;
    int i = atomic_fetch_add(&seen_count, 1);
    if (i < MOST)
        seen[i] = (struct seen){
            .number = number,
            .value = info->si_value.sival_int,
            .code = info->si_code,
            .thread = self(),
            .sender = info->si_pid,
            .middle = is_middle,
            .on_stack = &here >= stack && &here < stack + sizeof stack,
            .mask = mask_now(),
            .interrupted = *(uint64_t *)&((ucontext_t *)context)->uc_sigmask};
    ((volatile uint32_t *)at)[1024 + number] += 1; /* it touches */
    seen_whole++;
}

static void forget(void)
{
    seen_count = seen_whole = 0;
}

static void handle_by(int number, void (*by)(int, siginfo_t *, void *),
                      int flags, int blocks)
{
    struct sigaction action = {.sa_sigaction = by,
                               .sa_flags = SA_SIGINFO | flags};
    if (blocks)
        sigaddset(&action.sa_mask, blocks);
    ck_assert_int_eq(sigaction(number, &action, NULL), 0);
}

static void handle(int number, int flags, int blocks)
{
    handle_by(number, on_signal, flags, blocks);
}

static uint64_t bit(int number)
{
    return UINT64_C(1) << (number - 1);
}

static void queue_process(int number, int value)
{
    union sigval with = {.sival_int = value};
    ck_assert_int_eq(sigqueue(getpid(), number, with), 0);
}

static void queue_thread(int number, int value)
{
    union sigval with = {.sival_int = value};
    ck_assert_int_eq(pthread_sigqueue(pthread_self(), number, with), 0);
}

/* ---- one thread --------------------------------------------------------- */

static void send_one(void)
{
    queue_thread(SIGUSR1, 7);
}

START_TEST(handler_runs_behind_the_launch_as_if_blocked_meanwhile)
{
    sigset_t set;
    start();
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &set, NULL);
    handle(SIGUSR1, 0, SIGHUP);
    launch_with(send_one);
    ck_assert_int_eq(seen_count, 1);
    ck_assert(!seen[0].middle);
    ck_assert_int_eq(seen[0].value, 7);
    ck_assert_int_eq(seen[0].code, SI_QUEUE);
    ck_assert_int_eq(seen[0].sender, getpid());
    ck_assert_uint_eq(seen[0].interrupted, bit(SIGUSR2));
    ck_assert_uint_eq(seen[0].mask, bit(SIGUSR2) | bit(SIGUSR1) | bit(SIGHUP));
    ck_assert_uint_eq(mask_now(), bit(SIGUSR2));
    launch();
    ck_assert_int_eq(seen_count, 1);
}
END_TEST

static void send_all(void)
{
    for (int number = SIGHUP; number <= SIGRTMAX; number++)
        if (seen[0].mask & bit(number))
            queue_thread(number, number);
}

/* Every number a program may handle, at once; but SIGCONT, which is discarded
 * by those that stop. */
START_TEST(each_signal_of_many_arrives_once)
{
    uint64_t sent = 0, came = 0;
    start();
    for (int number = SIGHUP; number <= SIGRTMAX; number++) {
        static const int not [] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS,  SIGFPE,
                                   SIGILL,  SIGTRAP, SIGSYS,  SIGABRT, SIGCONT};
        bool skip = number > SIGSYS && number < SIGRTMIN;
        for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
            skip |= number == not [i];
        if (skip)
            continue;
        handle(number, 0, 0);
        sent |= bit(number);
    }
    seen[0].mask = sent;
    launch_with(send_all);
    ck_assert_int_eq(seen_count, __builtin_popcountll(sent));
    for (int i = 0; i < seen_count && i < MOST; i++) {
        ck_assert_int_eq(seen[i].value, seen[i].number);
        ck_assert(!seen[i].middle && !(came & bit(seen[i].number)));
        came |= bit(seen[i].number);
    }
    ck_assert_uint_eq(came, sent);
    ck_assert_uint_eq(mask_now(), 0);
}
END_TEST

/* All are pending when the first one comes. */
static void send_three(void (*queue)(int, int))
{
    const uint64_t set = bit(SIGRTMIN);
    RAW_CALL(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, 0, sizeof set, 0, 0);
    for (int i = 1; i <= 3; i++)
        queue(SIGRTMIN, i);
    RAW_CALL(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&set, 0, sizeof set, 0, 0);
}

static void send_three_to_thread(void)
{
    send_three(queue_thread);
}

static void send_three_to_process(void)
{
    send_three(queue_process);
}

/* What is kept and sent once more comes behind those. */
START_TEST(values_of_a_real_time_signal_stay_in_order)
{
    start();
    handle(SIGRTMIN, 0, 0);
    for (int round = 0; round < 20; round++) {
        forget();
        launch_with(round % 2 ? send_three_to_thread : send_three_to_process);
        ck_assert_int_eq(seen_count, 3);
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(seen[i].value, i + 1);
    }
}
END_TEST

/* A handler that takes what else is pending. */
static void on_first(int number, siginfo_t *info, void *context)
{
    static const struct timespec now = {0, 0};
    sigset_t set;
    siginfo_t got = *info;
    sigemptyset(&set);
    sigaddset(&set, number);
    do
        on_signal(number, &got, context);
    while (sigtimedwait(&set, &got, &now) == number);
}

START_TEST(values_that_a_handler_waits_for_stay_in_order)
{
    start();
    handle_by(SIGRTMIN, on_first, 0, 0);
    for (int round = 0; round < 20; round++) {
        forget();
        launch_with(round % 2 ? send_three_to_thread : send_three_to_process);
        ck_assert_int_eq(seen_count, 3);
        for (int i = 0; i < 3; i++) {
            ck_assert_int_eq(seen[i].value, i + 1);
            ck_assert_int_eq(seen[i].sender, getpid());
        }
    }
}
END_TEST

static void send_two(void)
{
    queue_thread(SIGRTMIN, 1);
    queue_thread(SIGUSR1, 2);
}

START_TEST(action_that_is_reset_runs_once)
{
    start();
    for (int round = 0; round < 3; round++) {
        struct sigaction now;
        handle(SIGRTMIN, SA_RESETHAND, 0);
        handle(SIGUSR1, SA_RESETHAND, 0);
        forget();
        launch_with(send_two);
        ck_assert_int_eq(seen_count, 2);
        ck_assert_int_eq(sigaction(SIGRTMIN, NULL, &now), 0);
        ck_assert_ptr_eq(now.sa_handler, SIG_DFL);
        ck_assert(now.sa_flags & SA_RESETHAND);
        ck_assert_int_eq(sigaction(SIGUSR1, NULL, &now), 0);
        ck_assert_ptr_eq(now.sa_handler, SIG_DFL);
    }
}
END_TEST

START_TEST(handler_runs_on_its_stack_and_leaves_itself_open)
{
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    start();
    ck_assert_int_eq(sigaltstack(&own, NULL), 0);
    handle(SIGRTMIN, SA_ONSTACK | SA_NODEFER, 0);
    handle(SIGUSR1, SA_NODEFER, 0);
    launch_with(send_two);
    ck_assert_int_eq(seen_count, 2);
    for (int i = 0; i < 2; i++) {
        ck_assert(!seen[i].middle);
        ck_assert(seen[i].on_stack == (seen[i].number == SIGRTMIN));
        ck_assert_int_eq(seen[i].value, seen[i].number == SIGRTMIN ? 1 : 2);
        ck_assert(!(seen[i].mask & bit(seen[i].number)));
    }
    ck_assert_uint_eq(mask_now(), 0);
}
END_TEST

static sigjmp_buf back;

/* Where the kernel puts the next frame. */
static __attribute__((noinline)) void spoil_stack(void)
{
    volatile char below[16384];
    for (size_t i = 0; i < sizeof below; i++)
        below[i] = 0x5a;
}

static void send_jump(void)
{
    spoil_stack();
    queue_thread(SIGUSR2, 0);
}

static void leave(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

/* It leaves the launch, which is over, before that has returned. */
START_TEST(jump_out_of_a_handler_leaves_nothing_behind)
{
    struct sigaction now;
    start();
    handle(SIGUSR1, 0, 0);
    for (int round = 0; round < 10; round++) {
        ck_assert_int_eq(sigaction(SIGUSR2, NULL, &now), 0);
        ck_assert_int_eq(now.sa_flags & SA_SIGINFO, 0);
        signal(SIGUSR2, leave); /* without information */
        if (sigsetjmp(back, 1) == 0) {
            come_near();
            in_the_middle = send_jump;
            launch();
            ck_abort_msg("no jump; a middle: %d", !in_the_middle);
        }
        ck_assert_uint_eq(mask_now(), 0);
        forget();
        launch_with(send_one);
        ck_assert_int_eq(seen_count, 1);
    }
}
END_TEST

/* ---- more threads ------------------------------------------------------- */

/* The other thread takes signals where it is told to. */
enum { CLOSED, TO_OPEN, OPEN, TO_CLOSE, TO_END };
static _Atomic int other, gate;

static void *take_signals(void *unused)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    other = self();
    for (int now; (now = gate) != TO_END; sched_yield()) {
        if (now != TO_OPEN && now != TO_CLOSE)
            continue;
        pthread_sigmask(now == TO_OPEN ? SIG_UNBLOCK : SIG_BLOCK, &set, NULL);
        gate = now == TO_OPEN ? OPEN : CLOSED;
    }
    return unused;
}

static void turn_gate(int wanted)
{
    gate = wanted;
    while (gate == wanted)
        sched_yield();
}

static pthread_t start_other(int number)
{
    pthread_t thread;
    start();
    handle(number, 0, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, take_signals, NULL), 0);
    while (!other)
        sched_yield();
    return thread;
}

static void end_other(pthread_t thread)
{
    gate = TO_END;
    pthread_join(thread, NULL);
}

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until some thread has handled it. */
static void send_process_and_wait(void)
{
    kill(getpid(), SIGUSR1);
    turn_gate(TO_OPEN);
    for (long end = now_ms() + 20000; !seen_whole && now_ms() < end;)
        sched_yield();
}

static void send_thread_and_look(void)
{
    pthread_kill(pthread_self(), SIGUSR1);
    turn_gate(TO_OPEN);
}

/* What only a handler would end does not wait for the thread that does not take
 * it; but what is for that thread goes to no other. */
START_TEST(signal_for_the_process_goes_to_a_thread_that_takes_it)
{
    pthread_t thread = start_other(SIGUSR1);
    for (int round = 0; round < 20; round++) {
        forget();
        launch_with(round % 2 ? send_process_and_wait : send_thread_and_look);
        ck_assert_int_eq(seen_count, 1);
        ck_assert_int_eq(seen[0].thread, round % 2 ? other : self());
        ck_assert_int_eq(seen[0].code, round % 2 ? SI_USER : SI_TKILL);
        ck_assert_int_eq(seen[0].sender, getpid());
        turn_gate(TO_CLOSE);
    }
    end_other(thread);
}
END_TEST

/* Another process sends SIGRTMIN, while this one is where it is. */
static void send_from_child(void)
{
    siginfo_t info = {.si_signo = SIGRTMIN, .si_code = SI_QUEUE};
    pid_t to = getpid(), child = (pid_t)RAW_CALL(SYS_fork);
    if (child == 0) {
        info.si_pid = (pid_t)RAW_CALL(SYS_getpid);
        info.si_value.sival_int = 5;
        RAW_CALL(SYS_rt_sigqueueinfo, to, SIGRTMIN, (long)&info, 0, 0, 0);
        RAW_CALL(SYS_exit_group);
    }
    while (RAW_CALL(SYS_wait4, child) == -1 && errno == EINTR)
        continue;
    turn_gate(TO_OPEN);
}

static CUstream stream;
static volatile uint32_t *door;

static void open_door(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    seen[0] =
        (struct seen){.thread = self(), .value = info->si_value.sival_int};
    seen_count++;
    *door = 1;
}

/* The driver waits in there, for the copy's memory is not page-locked, until the
 * door is open. */
static void copy_behind_door(void)
{
    static char plain[8192];
    must(cuMemcpyDtoHAsync(plain, at, sizeof plain, stream));
}

static void close_door(void)
{
    CUdeviceptr same;
    if (!door) {
        must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        must(cuMemHostAlloc((void **)&door, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    }
    *door = 0;
    must(cuMemHostGetDevicePointer(&same, (void *)door, 0));
    must(cuStreamWaitValue32(stream, same, 1, CU_STREAM_WAIT_VALUE_GEQ));
}

/* A real-time signal stays with its thread, for the order; but not where that
 * waits for what another thread's handler does. */
START_TEST(real_time_signal_for_the_process_is_handed_on_before_a_wait)
{
    pthread_t thread = start_other(SIGRTMIN);
    for (int round = 0; round < 10; round++) {
        forget();
        launch_with(send_from_child);
        ck_assert_int_eq(seen_count, 1);
        ck_assert_int_eq(seen[0].thread, self());
        ck_assert_int_eq(seen[0].value, 5);
        turn_gate(TO_CLOSE);
    }
    handle_by(SIGRTMIN, open_door, 0, 0);
    forget();
    come_near();
    close_door();
    was_middle = false;
    in_the_middle = send_from_child;
    copy_behind_door();
    ck_assert(was_middle);
    must(cuStreamSynchronize(stream));
    ck_assert_int_eq(seen_count, 1);
    ck_assert_int_eq(seen[0].thread, other);
    ck_assert_int_eq(seen[0].value, 5);
    end_other(thread);
}
END_TEST

/* Of each real-time signal the values 1, 2, 3 and so on. */
enum { KINDS = 4, EACH = 4000 };

static _Atomic int last[KINDS], wrong, standard;

static void on_value(int number, siginfo_t *info, void *context)
{
    (void)context;
    int kind = number - SIGRTMIN;
    if (info->si_code != SI_QUEUE || info->si_value.sival_int != last[kind] + 1)
        wrong++;
    last[kind] = info->si_value.sival_int;
    ((volatile uint32_t *)at)[kind * 1024] += 1;
}

static void on_standard(int number)
{
    (void)number;
    standard++;
}

static pthread_t to;

/* As many as fit, whoever takes them. */
static void send_value(int number, int value, bool to_thread)
{
    const union sigval with = {.sival_int = value};
    while (to_thread ? pthread_sigqueue(to, number, with)
                     : sigqueue(getpid(), number, with))
        sched_yield();
}

static void *send_values(void *to_thread)
{
    for (int value = 1; value <= EACH; value++) {
        for (int kind = 0; kind < KINDS; kind++)
            send_value(SIGRTMIN + kind, value, to_thread);
        if (value % 8 == 0)
            pthread_kill(to, SIGUSR1);
        while (value - last[0] > 50) /* no more than may be pending */
            sched_yield();
    }
    return NULL;
}

static int launch_under_values(bool to_thread)
{
    pthread_t thread;
    sigset_t all, before;
    int launches = 0;
    struct sigaction action = {.sa_sigaction = on_value,
                               .sa_flags = SA_SIGINFO | SA_RESTART};
    for (int kind = 0; kind < KINDS; kind++)
        ck_assert_int_eq(sigaction(SIGRTMIN + kind, &action, NULL), 0);
    signal(SIGUSR1, on_standard);
    to = pthread_self();
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    ck_assert_int_eq(
        pthread_create(&thread, NULL, send_values, to_thread ? &to : NULL), 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (; last[KINDS - 1] < EACH && !wrong; launches++)
        launch();
    ck_assert_int_eq(wrong, 0);
    pthread_join(thread, NULL);
    for (int kind = 0; kind < KINDS; kind++)
        ck_assert_int_eq(last[kind], EACH);
    ck_assert_int_gt(standard, 0);
    ck_assert_uint_eq(mask_now(), 0);
    ck_assert_uint_eq(*(volatile uint32_t *)(at + 8), 0);
    return launches;
}

START_TEST(storm_to_the_thread_arrives_once_and_in_order)
{
    start();
    ck_assert_int_gt(launch_under_values(true), 100);
    ck_assert_uint_eq(*(volatile uint32_t *)(at + 4096), EACH);
}
END_TEST

START_TEST(storm_to_the_process_arrives_once_and_in_order)
{
    start();
    ck_assert_int_gt(launch_under_values(false), 100);
    ck_assert_uint_eq(*(volatile uint32_t *)(at + 4096), EACH);
}
END_TEST

static uint64_t others_mask;

static void *tell_mask(void *unused)
{
    others_mask = mask_now();
    return unused;
}

/* A thread that is made while signals come has its maker's mask. */
START_TEST(new_thread_has_the_mask_of_its_maker)
{
    pthread_t thread;
    start();
    handle(SIGUSR1, 0, 0);
    launch_with(send_one);
    for (int round = 0; round < 100; round++) {
        ck_assert_int_eq(pthread_create(&thread, NULL, tell_mask, NULL), 0);
        pthread_kill(pthread_self(), SIGUSR1);
        pthread_join(thread, NULL);
        ck_assert_uint_eq(others_mask, 0);
    }
}
END_TEST

/* ---- what it costs ------------------------------------------------------ */

#if defined(__x86_64__)
enum { LAUNCHES = 1000, MARK = 4711 };

/* A call of the system of which nobody hears but who traces. */
static void mark(void)
{
    RAW_CALL(SYS_getpriority, MARK, MARK, 0, 0, 0, 0);
}

static void launch_and_copy(void)
{
    char few[64] = {0};
    start();
    handle(SIGUSR1, 0, 0);
    handle(SIGRTMIN, 0, 0);
    launch();
    must(cuCtxSynchronize());
    mark();
    for (int i = 0; i < LAUNCHES; i++)
        launch();
    mark();
    must(cuCtxSynchronize());
    mark();
    for (int i = 0; i < LAUNCHES; i++)
        must(cuMemcpyHtoD(at, few, sizeof few));
    mark();
    _exit(0);
}

/* Calls of a traced thread between marks; those that change masks. */
struct calls {
    long all[4], masks[4];
};

static bool trace(pid_t child, struct calls *calls)
{
    int state, marks = 0;
    bool entry = true;
    if (waitpid(child, &state, 0) != child || !WIFSTOPPED(state))
        return false;
    ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD);
    for (int deliver = 0;;) {
        struct user_regs_struct regs;
        ptrace(PTRACE_SYSCALL, child, NULL, deliver);
        deliver = 0;
        ck_assert_int_eq(waitpid(child, &state, __WALL), child);
        if (WIFEXITED(state))
            return WEXITSTATUS(state) == 0 && marks == 4;
        ck_assert(WIFSTOPPED(state));
        if (WSTOPSIG(state) != (SIGTRAP | 0x80)) {
            deliver = WSTOPSIG(state);
            continue;
        }
        if (entry) {
            ptrace(PTRACE_GETREGS, child, NULL, &regs);
            if (regs.orig_rax == SYS_getpriority && regs.rdi == MARK) {
                marks++;
            } else if (marks < 4) {
                calls->all[marks]++;
                calls->masks[marks] += regs.orig_rax == SYS_rt_sigprocmask;
            }
        }
        entry = !entry;
    }
}

/* Between the first mark and the second one launches, between the third and the
 * last one copies. */
START_TEST(launches_and_copies_make_no_calls_about_masks)
{
    struct calls calls = {{0}, {0}};
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(77);
        RAW_CALL(SYS_kill, getpid(), SIGSTOP, 0, 0, 0, 0);
        launch_and_copy();
    }
    ck_assert(trace(child, &calls));
    ck_assert_int_gt(calls.masks[0], 0); /* it sees them */
    ck_assert_int_eq(calls.masks[1], 0);
    ck_assert_int_eq(calls.masks[3], 0);
}
END_TEST
#else
START_TEST(launches_and_copies_make_no_calls_about_masks)
{
}
END_TEST
#endif

SUITE_MAIN("signals kept", 120,
           handler_runs_behind_the_launch_as_if_blocked_meanwhile,
           each_signal_of_many_arrives_once,
           values_of_a_real_time_signal_stay_in_order,
           values_that_a_handler_waits_for_stay_in_order,
           action_that_is_reset_runs_once,
           handler_runs_on_its_stack_and_leaves_itself_open,
           jump_out_of_a_handler_leaves_nothing_behind,
           signal_for_the_process_goes_to_a_thread_that_takes_it,
           real_time_signal_for_the_process_is_handed_on_before_a_wait,
           storm_to_the_thread_arrives_once_and_in_order,
           storm_to_the_process_arrives_once_and_in_order,
           new_thread_has_the_mask_of_its_maker,
           launches_and_copies_make_no_calls_about_masks)
