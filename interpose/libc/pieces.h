/*
 * A scatter list of the program, turned into one the kernel may work on.
 *
 * Every shared range is replaced by its shadow (lent) or by a bounce buffer,
 * split where it leaves an object; plain ranges stay as they are. Ranges side by
 * side are lent together. The list then goes to the kernel in one system call,
 * whatever it was made of.
 *
 * Bounce buffers serve reads from files that can make the caller wait
 * (sockets, pipes, terminals): a lent block would keep other threads, and
 * the launches that this read may be waiting for, away from the object.
 */
#ifndef INTERPOSE_LIBC_PIECES_H
#define INTERPOSE_LIBC_PIECES_H

#include "interpose/calls/copy.h"
#include "interpose/hook.h"

enum { PIECES_FEW = 8 };

struct piece {
    struct adsm_loan
        loan;      /* loan.object NULL: plain memory, bounced, or covered by
                   the loan of a piece before                               */
    void *bounced; /* the program's address when a bounce buffer stands
                            in for it, else NULL                            */
};

struct pieces {
    enum adsm_access access;
    int count;
    int room;
    struct iovec *iov;    /* what the kernel gets                          */
    struct piece *pieces; /* what stands behind each entry                 */
    size_t total;         /* bytes in all entries                          */
    char *bounce;         /* NULL: loan                                     */
    size_t bounce_used;
    struct iovec next; /* what the last loan covers behind its piece       */
    char *next_shadow;
    struct call_buffer memory; /* for long lists and the bounce buffer     */
    struct iovec few_iov[PIECES_FEW];
    struct piece few[PIECES_FEW];
};

/** What the kernel refuses by its numbers alone, before any memory, or where
 *  there is nothing to move. Signal: any handler. */
bool pieces_refused(const struct iovec *iov, int count);

/**
 * Build the list for `count` entries of `iov` and hold what it names.
 *
 * @access  ADSM_WRITE when the kernel will write memory; @bounce  use bounce
 *          buffers for shared ranges. At most as much as one system call can
 *          move is taken; a list that would be longer than the kernel allows
 *          ends there, as a short transfer does.
 * Return: ADSM_OK; a status of the loan or ADSM_E_NOMEM: nothing is held
 * Signal: never
 */
int pieces_begin(struct pieces *list, const struct iovec *iov, int count,
                 enum adsm_access access, bool bounce);

/**
 * Let go; the first `done` bytes were really transferred. errno is kept.
 *
 * Return: ADSM_OK, or why some of these bytes did not arrive
 */
int pieces_end(struct pieces *list, size_t done);

/** errno for a status of the runtime. */
int pieces_errno(int status);

#endif
