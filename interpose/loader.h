/*
 * Functions that must not have one of ours between them and their caller.
 *
 * The exported functions are assembly (hook_stub.S): they ask
 * hook_<name>_answer and, without an answer, jump to the real function with
 * the caller's own return address on the stack. dlsym and dlvsym tell by it
 * who asks for RTLD_NEXT, dlopen and dlmopen whose folders to look in; getcontext
 * and sigsetjmp return there once more, and what syscall does to stacks (clone)
 * is between the kernel and its caller.
 */
#ifndef INTERPOSE_LOADER_H
#define INTERPOSE_LOADER_H

#include <dlfcn.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/** The real functions; read by the assembly. */
extern void *(*hook_next_dlsym)(void *, const char *);
extern void *(*hook_next_dlvsym)(void *, const char *, const char *);
extern void *(*hook_next_dlopen)(const char *, int);
extern void *(*hook_next_dlmopen)(Lmid_t, const char *, int);
extern int (*hook_next_getcontext)(ucontext_t *);
extern int (*hook_next___sigsetjmp)(struct __jmp_buf_tag *, int);
extern long (*hook_next_syscall)(long, ...);

/** Two registers: what to return, and whether to return it. */
struct hook_answer {
    void *value;
    uintptr_t given;
};

/** Answer to dlsym. Called from assembly. */
struct hook_answer hook_dlsym_answer(void *handle, const char *name);

/** Answer to dlvsym. Called from assembly. */
struct hook_answer hook_dlvsym_answer(void *handle, const char *name,
                                      const char *version);

/** Answers to dlopen and dlmopen, where not every library is seen otherwise
 *  (deep.c); `caller` is in the code that asks. Called from assembly. */
struct hook_answer hook_dlopen_answer(const char *file, long flags, long unused,
                                      const void *caller);
struct hook_answer hook_dlmopen_answer(long space, const char *file, long flags,
                                       const void *caller);

/** Notes beside the mask that getcontext and sigsetjmp save (jump.c): never an
 *  answer. Called from assembly. */
struct hook_answer hook_getcontext_answer(ucontext_t *context);
struct hook_answer hook___sigsetjmp_answer(struct __jmp_buf_tag *buffer,
                                           long saves_mask);

/** Answer to syscall(2): its words, the number first, then who calls. Called from
 *  assembly. */
struct hook_answer hook_syscall_answer(const uintptr_t *words);

/** Is that the name of a function of MPI, and are those hooked? Then what a
 *  program is to have in the place of `found`. Thread: any. Signal: never */
bool loader_is_mpi(const char *name);
void *loader_exchange_mpi(const char *name, void *found);

/**
 * Have the names of MPI's functions answered: `exchange` gets a name that begins
 * with MPI_ and what was found, and says what dlsym is to give. Exported for
 * libadsm-mpi.so, before main.
 */
__attribute__((visibility("default"))) void
adsm_hooks_mpi(void *(*exchange)(const char *name, void *found));

#endif
