/*
 * Batch-update (the paper, Fig. 6a): everything goes to the device at a call
 * and comes back at its return; the CPU's accesses are not watched. Annotations
 * are ignored, as the programmers it mimics would. Granularity: object.
 *
 * Differs from the paper: a CPU access between call and return does not read
 * stale data, it fetches the object early. READ_ONLY, which the paper's has
 * not, keeps what a device copy is being sent from changing under it; only
 * events that no call or return makes lead there.
 */
#include "protocols/rows.h"

/* clang-format off */
const struct adsm_protocol adsm_protocol_batch = {
    .name = "batch",
    .granularity = ADSM_BY_OBJECT,
    .first = ADSM_DIRTY,
    .acquires = true,
    .cell = {
        /*                  INVALID           READ_ONLY            DIRTY   */
        ROW(READ_FAULT,     DO(FETCH, DIRTY), DO(0, DIRTY),        DO(0, DIRTY)),
        ROW(WRITE_FAULT,    DO(FETCH, DIRTY), DO(0, DIRTY),        DO(0, DIRTY)),
        ROW(CALL,           DO(0, INVALID),   DO(FLUSH, INVALID),  DO(FLUSH, INVALID)),
        ROW(CALL_IN,        DO(0, INVALID),   DO(FLUSH, INVALID),  DO(FLUSH, INVALID)),
        ROW(CALL_KEPT,      DO(0, INVALID),   DO(FLUSH, INVALID),  DO(FLUSH, INVALID)),
        ROW(CALL_OUT,       DO(0, INVALID),   DO(FLUSH, INVALID),  DO(FLUSH, INVALID)),
        ROW(RETURN,         DO(FETCH, DIRTY), DO(0, DIRTY),        DO(0, DIRTY)),
        ROW(BULK_READ,      DO(FETCH, DIRTY), DO(0, DIRTY),        DO(0, DIRTY)),
        ROW(BULK_OVERWRITE, DO(0, DIRTY),     DO(0, DIRTY),        DO(0, DIRTY)),
        ROW(FETCH_AHEAD,    DO(0, INVALID),   DO(0, READ_ONLY),    DO(0, DIRTY)),
        ROW(GIVEN_UP,       DO(0, DIRTY),     DO(0, DIRTY),        DO(0, DIRTY)),
        ROWS_OF_EVERY_PROTOCOL,
    },
};
/* clang-format on */
