/*
 * dlsym and dlvsym: answered here for hooked names, else by the real ones.
 *
 * The exported functions are assembly (hook_loader.S): they ask
 * hook_loader_answer and, without an answer, jump to the real function with
 * the caller's own return address on the stack, which is how it knows who
 * asks for RTLD_NEXT.
 */
#ifndef INTERPOSE_LOADER_H
#define INTERPOSE_LOADER_H

#include <stdint.h>

/** The real functions; read by the assembly. */
extern void *(*hook_next_dlsym)(void *, const char *);
extern void *(*hook_next_dlvsym)(void *, const char *, const char *);

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

#endif
