/* See patcher.h. */
#include "patcher.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEPTH_MOST = 16 };

struct patched {
    const char *name;
    void (*exported)(void), (*libc)(void);
    atomic_int calls;
};

static const char *_Atomic from_runtime;
static _Thread_local int depth __attribute__((tls_model("initial-exec")));

/* A call of `patched` from `caller`: the runtime must not make it for itself.
 * What it passes on is the C library's, from the preloaded library. */
static void enter(struct patched *patched, const void *caller, bool is_libc)
{
    Dl_info about;
    atomic_fetch_add(&patched->calls, 1);
    if (++depth > DEPTH_MOST) {
        fprintf(stderr, "%s is called in circles\n", patched->name);
        _exit(1);
    }
    if (dladdr(caller, &about) && strstr(about.dli_fname, "libadsm") &&
        !(is_libc && strstr(about.dli_fname, "preload")))
        atomic_store(&from_runtime, patched->name);
}

enum { MMAP, MUNMAP, MREMAP, MPROTECT, MADVISE, SHMAT, SIGACTION, COUNT };

static struct patched all[COUNT];

/* Both functions in place of NAME, which make the call by WORDS. */
#define PATCHED(returns, name, place, params, ...)                             \
    static returns exported_##name params                                      \
    {                                                                          \
        enter(&all[place], __builtin_return_address(0), false);                \
        long result = syscall(__VA_ARGS__);                                    \
        depth--;                                                               \
        return (returns)result;                                                \
    }                                                                          \
    static returns libc_##name params                                          \
    {                                                                          \
        enter(&all[place], __builtin_return_address(0), true);                 \
        long result = syscall(__VA_ARGS__);                                    \
        depth--;                                                               \
        return (returns)result;                                                \
    }

PATCHED(void *, mmap, MMAP,
        (void *at, size_t bytes, int protection, int flags, int file, long off),
        SYS_mmap, at, bytes, protection, flags, file, off)
PATCHED(int, munmap, MUNMAP, (void *at, size_t bytes), SYS_munmap, at, bytes)
PATCHED(void *, mremap, MREMAP,
        (void *at, size_t bytes, size_t wanted, int flags, void *to),
        SYS_mremap, at, bytes, wanted, flags, to)
PATCHED(int, mprotect, MPROTECT, (void *at, size_t bytes, int protection),
        SYS_mprotect, at, bytes, protection)
PATCHED(int, madvise, MADVISE, (void *at, size_t bytes, int advice),
        SYS_madvise, at, bytes, advice)
PATCHED(void *, shmat, SHMAT, (int segment, const void *at, int flags),
        SYS_shmat, segment, at, flags)

/* As the kernel has it. */
struct action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static int by_number(int number, const struct sigaction *given,
                     struct sigaction *before)
{
    struct action next, old;
    /* The way back from handlers is libc's. */
    syscall(SYS_rt_sigaction, SIGSEGV, NULL, &next, sizeof next.mask);
    if (given) {
        next.handler = given->sa_sigaction;
        next.flags = (next.flags & 0x04000000) | (unsigned)given->sa_flags;
        memcpy(&next.mask, &given->sa_mask, sizeof next.mask);
    }
    long result = syscall(SYS_rt_sigaction, number, given ? &next : NULL, &old,
                          sizeof old.mask);
    if (result == 0 && before) {
        before->sa_sigaction = old.handler;
        before->sa_flags = (int)old.flags;
        memcpy(&before->sa_mask, &old.mask, sizeof old.mask);
    }
    return (int)result;
}

static int exported_sigaction(int number, const struct sigaction *given,
                              struct sigaction *before)
{
    enter(&all[SIGACTION], __builtin_return_address(0), false);
    int result = by_number(number, given, before);
    depth--;
    return result;
}

static int libc_sigaction(int number, const struct sigaction *given,
                          struct sigaction *before)
{
    enter(&all[SIGACTION], __builtin_return_address(0), true);
    int result = by_number(number, given, before);
    depth--;
    return result;
}

#define BOTH(name) (void (*)(void)) exported_##name, (void (*)(void))libc_##name

static struct patched all[COUNT] = {
    [MMAP] = {"mmap", BOTH(mmap), 0},
    [MUNMAP] = {"munmap", BOTH(munmap), 0},
    [MREMAP] = {"mremap", BOTH(mremap), 0},
    [MPROTECT] = {"mprotect", BOTH(mprotect), 0},
    [MADVISE] = {"madvise", BOTH(madvise), 0},
    [SHMAT] = {"shmat", BOTH(shmat), 0},
    [SIGACTION] = {"sigaction", BOTH(sigaction), 0},
};

/* mov r11, to; jmp r11. Or: ldr x16, .+8; br x16; the address. */
static void write_over(void *function, void (*to)(void))
{
    uint8_t *at = function;
    uintptr_t page = (uintptr_t)at & ~(uintptr_t)4095;
    if (!at || syscall(SYS_mprotect, page, 8192,
                       PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        abort();
#if defined(__x86_64__)
    static const uint8_t load[] = {0x49, 0xbb}, jump[] = {0x41, 0xff, 0xe3};
    memcpy(at + 2, &to, sizeof to);
    memcpy(at + 10, jump, sizeof jump);
    memcpy(at, load, sizeof load);
#elif defined(__aarch64__)
    static const uint32_t code[] = {0x58000050, 0xd61f0200};
    memcpy(at + 8, &to, sizeof to);
    memcpy(at, code, sizeof code);
#endif
    __builtin___clear_cache((char *)at, (char *)at + 16);
}

void patch_all(void)
{
    for (int i = 0; i < COUNT; i++) {
        void *exported = dlsym(RTLD_DEFAULT, all[i].name);
        void *libc = dlsym(RTLD_NEXT, all[i].name);
        if (exported == libc)
            abort();
        write_over(exported, all[i].exported);
        write_over(libc, all[i].libc);
    }
}

int patch_calls(const char *name)
{
    for (int i = 0; i < COUNT; i++)
        if (strcmp(all[i].name, name) == 0)
            return atomic_load(&all[i].calls);
    return -1;
}

const char *patch_from_runtime(void)
{
    return atomic_load(&from_runtime);
}
