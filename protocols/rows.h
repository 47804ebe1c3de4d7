/*
 * How a table is written, and the rows that are no protocol's own decision.
 *
 * A row says for one event what happens in each state, from left to right:
 * INVALID, READ_ONLY, DIRTY. For the tables only: its words are short.
 */
#ifndef PROTOCOLS_ROWS_H
#define PROTOCOLS_ROWS_H

#include "protocols/protocol.h"

#define FETCH ADSM_DO_FETCH
#define FLUSH ADSM_DO_FLUSH
#define SEND  ADSM_DO_SEND_CHANGES
#define QUEUE ADSM_DO_QUEUE

#define INVALID   ADSM_INVALID
#define READ_ONLY ADSM_READ_ONLY
#define DIRTY     ADSM_DIRTY

/* clang-format off */
#define ROW(event, in_invalid, in_read_only, in_dirty)                         \
    [ADSM_##event] = {                                                         \
        [INVALID] = in_invalid, [READ_ONLY] = in_read_only, [DIRTY] = in_dirty}
/* A cell: what is done, and the state that follows. */
#define DO(actions_, next_) {.actions = (actions_), .next = (next_)}

/* What the events mean leaves no choice. The row of WRITE_BACK is the dotted
 * line of the paper's Fig. 6b, where a protocol has a queue; PART_READ and
 * PART_WRITE only note what has been done.
 *                      INVALID          READ_ONLY          DIRTY           */
#define ROWS_OF_EVERY_PROTOCOL                                                 \
    ROW(WRITE_BACK,   DO(0, INVALID),  DO(0, READ_ONLY),  DO(FLUSH, READ_ONLY)), \
    ROW(DEVICE_READ,  DO(0, INVALID),  DO(0, READ_ONLY),  DO(FLUSH, READ_ONLY)), \
    ROW(DEVICE_WRITE, DO(0, INVALID),  DO(0, INVALID),    DO(0, INVALID)),     \
    ROW(PART_READ,    DO(0, INVALID),  DO(0, READ_ONLY),  DO(0, READ_ONLY)),   \
    ROW(PART_WRITE,   DO(0, INVALID),  DO(0, INVALID),    DO(0, INVALID))

/* Protocols that move what is touched and believe annotations (the paper,
 * Fig. 6b): "the objects can remain in read-only", what is overwritten needs
 * no transfer, what every call finds written stays open (mm/watch/twin.h), and
 * what is expected to be read comes before (mm/watch/ahead.h).
 *                      INVALID              READ_ONLY         DIRTY        */
#define ROWS_ON_DEMAND                                                         \
    ROW(CALL_IN,   DO(0, INVALID),       DO(0, READ_ONLY), DO(FLUSH, READ_ONLY)), \
    ROW(CALL_KEPT, DO(0, INVALID),       DO(0, READ_ONLY), DO(SEND, DIRTY)),   \
    ROW(CALL_OUT,  DO(0, INVALID),       DO(0, INVALID),   DO(0, INVALID)),    \
    ROW(BULK_READ, DO(FETCH, READ_ONLY), DO(0, READ_ONLY), DO(0, DIRTY)),      \
    ROW(FETCH_AHEAD, DO(FETCH, READ_ONLY), DO(0, READ_ONLY), DO(0, DIRTY))
/* clang-format on */

#endif
