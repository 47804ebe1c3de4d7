/*
 * Of memory that host and device share: nothing moves, and the states say who
 * may use it. What a kernel may write is closed, what it reads is closed to
 * stores, and the access that finds it so waits for the work and opens it.
 *
 * FETCH is that wait, and a FLUSH has ended with the kernels behind it; a block
 * that becomes DIRTY without a fetch waits for those. Nothing is gained by
 * opening less than all once it has been waited for.
 */
#include "protocols/rows.h"

/* clang-format off */
const struct adsm_protocol adsm_protocol_direct = {
    .name = "direct",
    .granularity = ADSM_BY_BLOCK,
    .first = ADSM_DIRTY,
    .acquires = false,
    .cell = {
        /*                  INVALID           READ_ONLY         DIRTY   */
        ROW(READ_FAULT,     DO(FETCH, DIRTY), DO(0, READ_ONLY), DO(0, DIRTY)),
        ROW(WRITE_FAULT,    DO(FETCH, DIRTY), DO(0, DIRTY),     DO(0, DIRTY)),
        ROW(CALL,           DO(0, INVALID),   DO(0, INVALID),   DO(FLUSH, INVALID)),
        ROW(CALL_IN,        DO(0, INVALID),   DO(0, READ_ONLY), DO(FLUSH, READ_ONLY)),
        ROW(CALL_KEPT,      DO(0, INVALID),   DO(0, READ_ONLY), DO(FLUSH, READ_ONLY)),
        ROW(CALL_OUT,       DO(0, INVALID),   DO(0, INVALID),   DO(FLUSH, INVALID)),
        ROW(RETURN,         DO(0, INVALID),   DO(0, READ_ONLY), DO(0, DIRTY)),
        ROW(BULK_READ,      DO(FETCH, DIRTY), DO(0, READ_ONLY), DO(0, DIRTY)),
        ROW(BULK_OVERWRITE, DO(FETCH, DIRTY), DO(0, DIRTY),     DO(0, DIRTY)),
        ROW(FETCH_AHEAD,    DO(0, INVALID),   DO(0, READ_ONLY), DO(0, DIRTY)),
        ROW(GIVEN_UP,       DO(0, DIRTY),     DO(0, DIRTY),     DO(0, DIRTY)),
        ROWS_OF_EVERY_PROTOCOL,
    },
};
/* clang-format on */
