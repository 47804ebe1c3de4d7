/*
 * A program of coroutines: small stacks side by side, so that whoever needs
 * more of a stack than is left of it writes into the next one's. Each keeps
 * data on its stack and uses the memory under test, without a handler for
 * SIGSEGV, with one on an alternate stack, and with one on the coroutine's.
 * See memory.h for the command line.
 */
#include "memory.h"

#include <setjmp.h>
#include <signal.h>
#include <threads.h>
#include <ucontext.h>

enum {
    COROUTINES = 24,
    STACK = 16 << 10,
    KEPT = 8 << 10, /* of each stack, held while others run */
    ROUNDS = 6,
    BYTES = 1 << 20,
    ALTERNATE = 32 << 10
};

struct scheduler {
    ucontext_t main, each[COROUTINES];
    int current, spoilt;
    uint64_t sum;
    uint8_t nobodys[4 * STACK];
    uint8_t stacks[COROUTINES][STACK];
};

static thread_local struct scheduler *my;
static uint8_t *memory, *hole, *alternate;
static volatile int on_alternate, on_coroutine, handled;
static sigjmp_buf back;

static void yield(void)
{
    int i = my->current;
    my->current = (i + 1) % COROUTINES;
    swapcontext(&my->each[i], &my->each[my->current]);
}

/* One access of each kind on pages that no other coroutine touches. */
static void use_memory(int i, int round)
{
    for (size_t at = (size_t)i * 4096; at < BYTES; at += COROUTINES * 4096) {
        volatile uint8_t *byte = memory + at;
        my->sum = my->sum * 31 + byte[round];
        byte[round] = (uint8_t)(i + round);
    }
}

/* A fault that the program's own handler answers. */
static void jump_out(int me)
{
    if (sigsetjmp(back, 1) == 0)
        ((volatile uint8_t *)hole)[me] = 1;
}

static void coroutine(void)
{
    volatile uint8_t kept[KEPT];
    int me = my->current;
    victim_write(kept, KEPT, (unsigned)me);
    for (int round = 0; round < ROUNDS; round++) {
        yield();
        use_memory(me, round);
        if (handled < 0)
            jump_out(me);
    }
    for (size_t i = 0; i < KEPT; i++)
        my->spoilt += kept[i] != victim_byte(i, (unsigned)me);
    if (me < COROUTINES - 1)
        my->current = me + 1;
}

static void prepare(ucontext_t *own, int i)
{
    getcontext(own);
    own->uc_stack.ss_sp = my->stacks[i];
    own->uc_stack.ss_size = STACK;
    own->uc_link = i + 1 < COROUTINES ? own + 1 : &my->main;
    makecontext(own, coroutine, 0);
}

static int spoilt_in_all; /* the exit status says whether there was any */

/* All to their end, on fresh stacks above a zone of nobody's. */
static void run(const char *name)
{
    memset(my->nobodys, 0x5a, sizeof my->nobodys);
    my->spoilt = my->current = 0;
    my->sum = 0;
    for (int i = 0; i < COROUTINES; i++)
        prepare(&my->each[i], i);
    swapcontext(&my->main, &my->each[0]);
    for (size_t i = 0; i < sizeof my->nobodys; i++)
        my->spoilt += my->nobodys[i] != 0x5a;
    spoilt_in_all += my->spoilt;
    printf("%s: %llx, spoilt %d\n", name, (unsigned long long)my->sum,
           my->spoilt);
}

static void fresh(uint8_t value)
{
    memory_fill(memory, BYTES, value, MEMORY_DEVICE);
}

static void on_segv(int number, siginfo_t *info, void *context)
{
    uint8_t local;
    (void)number;
    (void)context;
    on_alternate += (size_t)(&local - alternate) < ALTERNATE;
    on_coroutine += (size_t)(&local - my->stacks[0]) < sizeof my->stacks;
    if (info->si_addr < (void *)hole || info->si_addr >= (void *)(hole + 4096))
        _Exit(9);
    my->sum += memory[(size_t)(uint8_t *)info->si_addr % 64 * 4096 + 77]++;
    siglongjmp(back, 1);
}

static void with_handler(const char *name, int flags)
{
    struct sigaction action = {.sa_sigaction = on_segv,
                               .sa_flags = SA_SIGINFO | flags};
    sigaction(SIGSEGV, &action, NULL);
    on_alternate = on_coroutine = 0;
    handled = -1;
    fresh(3);
    run(name);
    printf("%d on the alternate stack, %d on a coroutine's\n", on_alternate,
           on_coroutine);
    handled = 0;
    signal(SIGSEGV, SIG_DFL);
}

static int other_thread(void *name)
{
    my = calloc(1, sizeof *my);
    run(name);
    free(my);
    return 0;
}

int main(int argc, char **argv)
{
    memory_start(argc, argv);
    memory = memory_pair(2 << 20);
    hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    alternate = malloc(ALTERNATE);
    my = calloc(1, sizeof *my);
    fresh(1);
    run("no handler");
    stack_t stack = {.ss_sp = alternate, .ss_size = ALTERNATE};
    sigaltstack(&stack, NULL);
    with_handler("alternate stack", SA_ONSTACK);
    with_handler("coroutine's stack", 0);
    for (int i = 0; i < 8; i++) {
        thrd_t thread;
        fresh((uint8_t)i);
        thrd_create(&thread, other_thread, "another thread");
        thrd_join(thread, NULL);
    }
    free(my);
    return spoilt_in_all != 0;
}
