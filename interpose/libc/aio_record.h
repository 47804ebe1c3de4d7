/*
 * Operations of POSIX asynchronous I/O that have to do with shared memory.
 *
 * libc works on the program's control block until the operation has ended, in
 * threads of its own that cannot take a fault. So it gets one of ours, a
 * *record*, whose buffer is plain or the shadow. The calls that ask about the
 * program's block are asked about the record, and the first of them that sees
 * the operation's end moves what arrived to where it belongs; for everybody
 * else it goes on until that is done. Notifications come after it too.
 *
 * Records are found by the program's block; the lock of the table is held for
 * look-ups alone.
 */
#ifndef INTERPOSE_LIBC_AIO_RECORD_H
#define INTERPOSE_LIBC_AIO_RECORD_H

#include "interpose/libc/flight.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct aio_record {
    struct aiocb block;     /* libc's; the first member                      */
    const struct aiocb *of; /* the program's                                 */
    struct flight flight;
    _Atomic int phase;     /* enum aio_phase                                 */
    int error;             /* of moving what arrived; once it is AIO_ENDED   */
    _Atomic int users;     /* the program, who waits, a notification to come */
    struct sigevent event; /* what the program is told by                    */
    UT_hash_handle hh;
};

enum aio_phase { AIO_GOES_ON, AIO_MOVES, AIO_ENDED };

/** Are there records? A fast test. Signal: any handler. */
bool aio_any(void);

/**
 * A record for the program's block, in the table; one that was there, of an
 * operation that nobody asked about, is dropped.
 *
 * @access  what the operation does to memory; @has_buffer  false: it has none
 * Return: ADSM_OK; a status: there is none
 * Thread: any. Signal: never
 */
int aio_record_make(const struct aiocb *of, enum adsm_access access,
                    bool has_buffer, struct aio_record **made);

/** The record of a block, or NULL. Signal: where a handler may touch shared
 *  memory, as with those below. */
struct aio_record *aio_record_find(const struct aiocb *of);

/** The same, and it stays until aio_record_unuse: others may ask for its result
 *  meanwhile. */
struct aio_record *aio_record_use(const struct aiocb *of);

/** What aio_error says of it; moves what arrived if it has just ended. */
int aio_record_error(struct aio_record *record);

/** Take it out of the table and let go of it. */
void aio_record_drop(struct aio_record *record);

/** Let go of one use of it. */
void aio_record_unuse(struct aio_record *record);

/** Tell the program by `event` what libc would have told it. Thread: one of
 *  libc's for notifications, which ends after it. */
void aio_tell(const struct sigevent *event);

#endif
