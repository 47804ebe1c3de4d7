/*
 * What the parts of `answers` share: lines "NAME: ANSWER" in which no address is.
 */
#ifndef TESTS_UNTOUCHED_ANSWERS_H
#define TESTS_UNTOUCHED_ANSWERS_H

#include <cuda.h>
#include <stdbool.h>

enum { KIB = 1 << 10, MIB = 1 << 20 };

/** Print one line, named and answered as printf does. */
__attribute__((format(printf, 2, 3))) void say(const char *name,
                                               const char *format, ...);

/** Print the name of a result. Return: whether it is success */
bool say_result(const char *name, CUresult result);

/** That name. */
const char *result_name(CUresult result);

/** Memory of one kind, for the questions about pointers. */
struct memory {
    const char *name;
    CUdeviceptr at;
    size_t bytes;
};

enum { KINDS_MOST = 24 };

/** The kinds there are; made by memory_make, all in the current context. */
extern struct memory memories[KINDS_MOST];
extern int memory_count;

/** Say what comes of making each kind, and give each back. */
void memory_make(void);
void memory_end(void);

/** Signals, and while the program is alone in the process, descriptors. */
void ask_process(const char *when, bool alone);

/** What is free, and where allocations lie beside each other. */
void ask_capacity(void);
void ask_places(void);

/** What the driver says of addresses of each kind, and of those that are none. */
void ask_pointers(void);

/** Contexts, pools, what is refused. */
void ask_contexts(void);
void ask_pools(void);
void ask_refusals(void);

/** What a kernel does to a context that writes where nothing is: the last. */
void ask_after_fault(void);

/** A kernel of two parameters, pointer and number, that writes the number. */
CUfunction answers_kernel(void);

#endif
