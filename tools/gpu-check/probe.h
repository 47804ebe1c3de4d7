/*
 * gpu-probe: what its files share. Each probe runs in a process of its own, so
 * there is one driver, one question at a time, and no lock.
 *
 * Nothing of libadsm and no CUDA SDK: the folder compiles where it is copied to
 * (cc -std=gnu11 -D_GNU_SOURCE *.c -ldl).
 */
#ifndef GPU_PROBE_H
#define GPU_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PAGE       ((size_t)4 << 10)
#define MIB        ((size_t)1 << 20)
#define SPAN       (2 * MIB)
#define P(pointer) ((uintptr_t)(pointer))
#define FILE_NAME  "gpu-probe" /* of what file_memory gives */
#define CPU_PAGES  "the CPU's pages"

enum { POINTER_MEMORY_TYPE = 2, POINTER_IS_MANAGED = 8 };

/* What cuMemCreate takes; a location is two ints, its type (1: device) and its
 * number. */
struct memory_prop {
    int type, handle_types, location, device;
    void *win32;
    uint64_t flags;
};

/* Call the driver by the name of an export, with words: all that is called here
 * takes integers and pointers, which the C conventions of x86-64 and aarch64
 * pass alike, and an argument too much is not seen. */
enum { MOST_WORDS = 11 };
int driver_call(const char *symbol, const uint64_t *words);
#define CU(symbol, ...)                                                        \
    driver_call(symbol, (const uint64_t[MOST_WORDS]){__VA_ARGS__})

/** The same; where it fails, that is the answer, and it is false. */
#define DID(symbol, ...) did(CU(symbol, __VA_ARGS__), symbol)

/** Ask whether a call works. */
#define WORKS(question, expected, symbol, ...)                                 \
    (ask(question, expected), DID(symbol, __VA_ARGS__) && answer_plain(true))

/** The device in use, a stream of it, and the driver's handle of dlopen. */
extern int device;
extern uint64_t stream;
extern void *driver;

/** Load the driver and make its first device current. Return: NULL, or why
 *  there is none. */
const char *driver_open(void);

/** What cuGetProcAddress gives; NULL: nothing, or the driver has none. */
void *driver_procedure(const char *name, uint64_t flags);

/** Let a kernel make 3 x + 7 of the first word of each page, and wait. */
bool driver_kernel(uint64_t at, size_t bytes);

/** Name of a result. */
const char *driver_error(int result);

/** Ask; what libadsm needs as the answer, NULL where it needs none. */
void ask(const char *question, const char *expected);

/** Answer what was asked last, with a detail for people. Return: true */
bool answer(const char *text, const char *detail, ...)
    __attribute__((format(printf, 2, 3)));
#define answer_if(yes, ...) answer((yes) ? "yes" : "no", __VA_ARGS__)
#define answer_plain(yes)   answer_if(yes, "%s", "")

/** Answer if the result is an error. Return: whether it is none. */
bool did(int result, const char *symbol);

/** Time of a clock that does not jump. */
double now_ms(void);

/** Memory that is a file, mapped where the system likes; NULL: none, and that
 *  is the answer. */
void *file_memory(size_t bytes, int *fd);

/** Device memory with pages of the CPU's own at the same addresses. */
struct place {
    uint64_t device;
    uint32_t *host, *shadow; /* same file; host is at the device's address */
    size_t bytes;
    int fd;
    bool was_mapped; /* by the driver, before the pages came */
};

/** Answer whether copies and a kernel work on the device's memory. The copies
 *  are given the shadow, as libadsm does, which they leave filled. */
bool device_right(const struct place *place, uint32_t seed);

/** Words that are not what filling, and then a kernel, left. */
size_t wrong(const uint32_t *words, size_t bytes, uint32_t seed, bool kernel);

/** Map memory of the device's at the addresses, and take it away. */
bool map_device(struct place *place, uint64_t *handle);
bool unmap_device(struct place *place, uint64_t handle);

/** Answer what two addresses are both in: a page, 2 MiB, or nothing. */
void answer_shared(uint64_t a, uint64_t b);

/** A line of /proc/self/maps. */
struct mapping {
    uint64_t begin, end;
    char mode[8], name[32], line[512];
};

/** The next one. Return: false: there is none. */
bool mapping_next(FILE *maps, struct mapping *mapping);

/** Is it one that holds addresses and nothing else? */
bool mapping_is_placeholder(const struct mapping *mapping);

/** What all pages of a range are: "nothing", "PROT_NONE", CPU_PAGES (of
 *  file_memory), "something else", or "several things".
 *  @first mapping there, empty where there is none */
const char *host_side(uint64_t at, size_t bytes, struct mapping *first);

/** An allocation of the driver's with pages over it; false: the answer says
 *  why. */
bool place_overlay(struct place *place, size_t bytes);

void probe_driver(void);
void probe_entries(void);
void probe_window(void);
void probe_overlay(void);
void probe_overlay_large(void);
void probe_small(void);
void probe_host_pointer(void);
void probe_register(void);
void probe_pageable(void);
void probe_pageable_overlay(void);
void probe_managed(void);
void probe_pool(void);
void probe_mapped(void);
void probe_variable(void);
void probe_chunk(void);
void probe_free(void);
void probe_reset(void);
void probe_attributes(void);
void probe_timing(void);

#endif
