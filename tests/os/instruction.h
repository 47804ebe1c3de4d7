/*
 * One instruction of x86-64, run with registers as a test wants them.
 *
 * Its bytes are put into a page of code. Behind them stands a jump back, or
 * nothing: where the page ends with the instruction, fetching the next one faults,
 * which says how long the processor took it to be. The memory that it stores to
 * lies close by, so that any address of it can be a distance of four bytes. It can
 * be closed: then the handler of SIGSEGV does what it is told of the store. The
 * test sees it elsewhere, too, where it is always open.
 *
 * Handlers have a stack of their own, since the stack pointer is a register like
 * any other. Lock: none, one thread.
 */
#ifndef TESTS_OS_INSTRUCTION_H
#define TESTS_OS_INSTRUCTION_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/draw.h"
#include "common/suite.h"
#include "os/store.h"

enum {
    INSTRUCTION_MOST = 15,
    CODE_PAGE = 4096,
    MEMORY_BYTES = 2 * 4096,
    EDGE = 96,           /* no store begins closer to an end of the memory */
    RSP = 4,             /* its number */
    FLAGS_FREE = 0xcd5,  /* carry to overflow, which any program may set */
    FLAGS_FIXED = 0x202, /* interrupts, and one that is always set */
};

/* Pages: code, one that is open or closed, closed, memory, closed. */
enum { AT_BEHIND = CODE_PAGE, AT_MEMORY = 3 * CODE_PAGE };

/** By their numbers in instructions. As instruction.S has it. */
struct registers {
    uint64_t general[16], flags;
    uint64_t upper_unused; /* bytes 16 to 31 of all vectors are 0 */
    uint8_t vector[16][32];
};
_Static_assert(offsetof(struct registers, flags) == 128 &&
                   offsetof(struct registers, upper_unused) == 136 &&
                   offsetof(struct registers, vector) == 144,
               "as instruction.S has it");

/* What instruction_enter loads and saves. */
struct registers instruction_in, instruction_out;
uint64_t instruction_stack;
uintptr_t instruction_at; /* the one that is run            */
bool instruction_avx;     /* vectors have 32 bytes, not 16  */

void instruction_enter(void);
extern const char instruction_leave[];

/** An instruction, where it stands, and the registers it begins with. */
struct instruction {
    const char *name;
    unsigned form; /* as the test counts them */
    uint8_t bytes[32];
    unsigned length;
    uint8_t *at;
    struct registers in;
};

/** What the processor made of it. */
struct result {
    struct registers out;
    uint8_t memory[MEMORY_BYTES];
};

static uint8_t *code, *memory; /* below 2 GiB */
static uint8_t *view;          /* of the memory */
static uint8_t pattern[MEMORY_BYTES];

/* What the handler is to do, and what it has seen. */
static struct {
    bool serves;
    uintptr_t next;  /* behind the instruction                  */
    const char *odd; /* what must not happen; NULL: nothing has */
    unsigned served; /* instructions                            */
    struct adsm_stored store;
} seen;

static inline void leave(ucontext_t *context, const char *odd)
{
    if (odd != NULL)
        seen.odd = odd;
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)instruction_leave;
}

static inline bool is_in_memory(const struct adsm_stored *store)
{
    return store->address - (uintptr_t)memory <= MEMORY_BYTES - store->bytes;
}

/* Do what is told of the store. Return: NULL; what is wrong with it */
static inline const char *serve(ucontext_t *context)
{
    struct adsm_stored *store = &seen.store;
    if (!adsm_store_decode(context, store))
        return "is refused";
    if (store->bytes == 0 || store->bytes > ADSM_STORE_BYTES_MAX)
        return "has a wrong size";
    if (!is_in_memory(store))
        return "has a wrong address";
    if (store->next != seen.next)
        return "has a wrong length";
    memcpy(view + (store->address - (uintptr_t)memory), store->value,
           store->bytes);
    adsm_store_step(context, store);
    return NULL;
}

static inline void serve_fault(ucontext_t *context, uintptr_t fault)
{
    const char *odd = serve(context);
    seen.served++;
    if (odd == NULL && fault - seen.store.address >= seen.store.bytes)
        odd = "is not where it faults";
    if (odd != NULL)
        leave(context, odd);
}

static inline void on_signal(int signal, siginfo_t *info, void *opaque)
{
    ucontext_t *context = opaque;
    uintptr_t ip = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    uintptr_t fault = (uintptr_t)info->si_addr;
    bool is_fetch = fault == (uintptr_t)code + AT_BEHIND;
    if (signal == SIGSEGV && ip == seen.next && is_fetch)
        leave(context, NULL);
    else if (signal == SIGSEGV && ip == instruction_at && is_fetch)
        leave(context, "is longer");
    else if (signal == SIGSEGV && ip == instruction_at && seen.serves)
        serve_fault(context, fault);
    else
        leave(context, signal == SIGILL ? "is none" : "does something else");
}

static inline void handle_signals(void)
{
    static char room[64 << 10];
    static const int signals[] = {SIGSEGV, SIGILL, SIGBUS, SIGTRAP, SIGFPE};
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};
    ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        ck_assert_int_eq(sigaction(signals[i], &action, NULL), 0);
}

static inline void protect(void *at, size_t bytes, int how)
{
    ck_assert_int_eq(mprotect(at, bytes, how), 0);
}

static inline void start(void)
{
    const char *seed = getenv("STORE_SEED");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    draw_seed = seed ? strtoull(seed, NULL, 0)
                     : (uint64_t)now.tv_nsec << 20 | (uint64_t)getpid();
    printf("repeat with STORE_SEED=%#llx\n", (unsigned long long)draw_seed);
    fflush(stdout);
    instruction_avx = __builtin_cpu_supports("avx");
    if (!instruction_avx)
        printf("SKIP: VEX: this processor has no AVX\n");
    int file = memfd_create("memory", MFD_CLOEXEC);
    ck_assert_int_eq(ftruncate(file, MEMORY_BYTES), 0);
    code = mmap(NULL, AT_MEMORY + MEMORY_BYTES + CODE_PAGE, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    ck_assert_ptr_ne(code, MAP_FAILED);
    protect(code, CODE_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
    memory = mmap(code + AT_MEMORY, MEMORY_BYTES, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_FIXED, file, 0);
    view =
        mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (uint8_t)draw_bits();
    memcpy(view, pattern, sizeof pattern);
    close(file);
    handle_signals();
}

/* Jump back, through the address behind the jump. */
static inline void put_jump(uint8_t *at)
{
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
    const void *to = instruction_leave;
    memcpy(at, jump, sizeof jump);
    memcpy(at + sizeof jump, &to, sizeof to);
}

/* Return: what must not happen and did; NULL: nothing */
static inline const char *run(const struct instruction *instruction,
                              bool serves)
{
    memcpy(instruction->at, instruction->bytes, instruction->length);
    if (instruction->at + instruction->length != code + AT_BEHIND)
        put_jump(instruction->at + instruction->length);
    instruction_in = instruction->in;
    instruction_at = (uintptr_t)instruction->at;
    seen.next = instruction_at + instruction->length;
    seen.serves = serves;
    seen.odd = NULL;
    instruction_enter();
    return seen.odd;
}

static inline void failed(const struct instruction *instruction,
                          const char *why)
{
    char text[3 * INSTRUCTION_MOST + 1] = "";
    for (unsigned i = 0; i < instruction->length && i < INSTRUCTION_MOST; i++)
        sprintf(text + 3 * i, "%02x ", instruction->bytes[i]);
    ck_abort_msg("%s %s: %s", instruction->name, text, why);
}

static inline void take_result(struct result *result)
{
    result->out = instruction_out;
    memcpy(result->memory, view, MEMORY_BYTES);
    memcpy(view, pattern, MEMORY_BYTES);
}

static inline void must_be_same(const struct instruction *instruction,
                                const struct result *native)
{
    if (memcmp(native->memory, view, MEMORY_BYTES) != 0)
        failed(instruction, "stores something else");
    if (memcmp(&native->out, &instruction_out, sizeof native->out) != 0)
        failed(instruction, "leaves other registers");
    memcpy(view, pattern, MEMORY_BYTES);
}

#endif
