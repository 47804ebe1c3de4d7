/*
 * The contract of system calls on shared memory: each call does what it does on
 * plain memory. A row is one call with one of its arguments in the memory under
 * test; contract.c runs it on plain and on shared memory in every state and
 * place, and compares result, errno, every byte around, and afterwards what the
 * device has.
 */
#ifndef CONTRACT_H
#define CONTRACT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

enum {
    CONTRACT_LOOSE = 1, /* what is written differs from call to call         */
    CONTRACT_WHOLE = 2, /* libc itself uses the memory: all of it is there   */
};

struct contract_row {
    const char *name;
    size_t bytes;                /* of the memory under test                 */
    void (*fill)(uint8_t *init); /* what is there before; NULL: a pattern    */
    long (*run)(uint8_t *p);
    unsigned flags;
};

/** Fresh for every run of a row (files.c). */
struct contract_files {
    int stream[2];  /* 300 bytes wait in the first                            */
    int packets[2]; /* two of 100 and 50 bytes                               */
    int pipe[2];    /* 300 bytes                                             */
    int full;       /* a socket that takes no more                           */
    int ended;      /* a socket whose other end is closed                    */
    int file;       /* 5000 bytes, at offset 0; its path is file_path         */
    int listening, poll;
    char file_path[128], link_path[128], folder[64];
};

extern struct contract_files now;

void files_begin(void);
void files_fresh(void);
void files_end(void);

/** SIGALRM every millisecond, in case that a call has not come to wait when the
 *  first one does; its handler does nothing. errno is kept. */
void alarms(bool on);

extern const struct contract_row rows_sockets[], rows_messages[], rows_names[],
    rows_waits[], rows_small[], rows_controls[], rows_waiting[], rows_numbers[],
    rows_inside[];
extern const size_t rows_sockets_count, rows_messages_count, rows_names_count,
    rows_waits_count, rows_small_count, rows_controls_count, rows_waiting_count,
    rows_numbers_count, rows_inside_count;

/* A row whose call is an expression on `p`. */
#define RUN(id, expression)                                                    \
    static long run_##id(uint8_t *p)                                           \
    {                                                                          \
        (void)p;                                                               \
        return (long)(expression);                                             \
    }
#define FILL(id, type, ...)                                                    \
    static void fill_##id(uint8_t *init)                                       \
    {                                                                          \
        memcpy(init, &(type){__VA_ARGS__}, sizeof(type));                      \
    }

#endif
