/*
 * Rolling-update (the paper, Fig. 6b with the dotted line): blocks move when
 * they are touched, and a block that becomes dirty enters the queue whose
 * oldest entry is written back once more than the rolling size are dirty.
 */
#include "protocols/rows.h"

/* clang-format off */
const struct adsm_protocol adsm_protocol_rolling = {
    .name = "rolling",
    .granularity = ADSM_BY_BLOCK,
    .first = ADSM_READ_ONLY,
    .acquires = false,
    .cell = {
        /*                  INVALID                   READ_ONLY         DIRTY   */
        ROW(READ_FAULT,     DO(FETCH, READ_ONLY),     DO(0, READ_ONLY), DO(0, DIRTY)),
        ROW(WRITE_FAULT,    DO(FETCH | QUEUE, DIRTY), DO(QUEUE, DIRTY), DO(0, DIRTY)),
        ROW(CALL,           DO(0, INVALID),           DO(0, INVALID),   DO(FLUSH, INVALID)),
        ROW(RETURN,         DO(0, INVALID),           DO(0, READ_ONLY), DO(0, DIRTY)),
        ROW(BULK_OVERWRITE, DO(QUEUE, DIRTY),         DO(QUEUE, DIRTY), DO(0, DIRTY)),
        ROW(GIVEN_UP,       DO(QUEUE, DIRTY),         DO(QUEUE, DIRTY), DO(0, DIRTY)),
        ROWS_ON_DEMAND,
        ROWS_OF_EVERY_PROTOCOL,
    },
};
/* clang-format on */
