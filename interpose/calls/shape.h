/*
 * The shape of a call: what it does with the memory its arguments point to.
 *
 * Shapes are written in the list of hooks in the words of roles.h. The words
 * alone; what is done by them is call.h's.
 */
#ifndef INTERPOSE_CALLS_SHAPE_H
#define INTERPOSE_CALLS_SHAPE_H

#include "interpose/hook.h"

enum {
    CALL_WORDS = 6,
    CALL_PARTS = 7,
    CALL_ONE = 0xff, /* as a count: there is one unit                        */
    CALL_NO_FLAGS = 0xff,
    CALL_PLACED = 0xfe, /* CALL_WAITS: the call says where in the file       */
    CALL_PATH_MOST = 4096,
    CALL_TEXT_MOST = 128 << 10, /* Linux: of one argument of a program       */
};

/** What the kernel does with the memory behind one argument. */
enum call_role {
    CALL_END,       /* of the parts of a shape                                */
    CALL_IN,        /* reads it                                               */
    CALL_OUT,       /* writes some of it, and may read it                     */
    CALL_FILL,      /* writes as many units as the result says                */
    CALL_PATH,      /* reads up to a byte 0                                   */
    CALL_TEXT,      /* the same of any length that programs can be given      */
    CALL_SIZED,     /* writes; the argument `count` points to the length      */
    CALL_FDSET,     /* one bit for each number below the argument `count`     */
    CALL_BULK_IN,   /* reads it; may be large                                 */
    CALL_BULK_OUT,  /* writes as many bytes as the result says; may be large  */
    CALL_LIST_IN,   /* reads the memory of a list of iovec                    */
    CALL_LIST_OUT,  /* writes it, as many bytes as the result says            */
    CALL_HEADER_IN, /* msghdr: sends                                       */
    CALL_HEADER_OUT,  /* msghdr: receives as many bytes as the result says   */
    CALL_HEADERS_IN,  /* list of mmsghdr: sends as many as the result says   */
    CALL_HEADERS_OUT, /* list of mmsghdr: receives as many                   */
    CALL_REQUEST, /* as the request of ioctl in the argument `count` says    */
    CALL_COMMAND, /* as the call's command says (command.h); the unit says
                    whose commands they are                                 */
    CALL_NUMBER,  /* no memory: the result is 0 or an error number            */
    CALL_WAITS,   /* no memory: bulk data comes from the file `argument`, for
                    which it may wait; `count` is the argument with flags of
                    recv, CALL_NO_FLAGS or CALL_PLACED                       */
};

struct call_part {
    uint8_t role;
    uint8_t argument;
    uint8_t count; /* argument with the number of units, or CALL_ONE         */
    uint32_t unit; /* bytes; SIZED: at most that many are written            */
};

struct call_shape {
    const char *name;
    bool pointer; /* the result is a pointer, NULL for failure              */
    struct call_part parts[CALL_PARTS];
};

/**
 * The call itself, with words that the kernel may work on.
 *
 * Return: as a function of libc does: the result; -1, NULL or (CALL_NUMBER) an
 *         error number for failure, with errno
 */
typedef long call_issue_fn(void *context, const uintptr_t *words);

/** Bytes of a part from the number of its units; SIZE_MAX: too many. */
static inline size_t call_bytes(uintptr_t count, size_t unit)
{
    size_t bytes;
    return __builtin_mul_overflow(count, unit, &bytes) ? SIZE_MAX : bytes;
}

/** Bytes of an fd_set for numbers below `count`, an int. */
static inline size_t call_set_bytes(uintptr_t count)
{
    return (int)count > 0 ? ((size_t)(int)count + 63) / 64 * 8 : 0;
}

/** The shape of a function of libc in the list of hooks; NULL: it has none. */
const struct call_shape *call_shape_of(const char *name);

#endif
