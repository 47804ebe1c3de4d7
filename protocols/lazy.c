/*
 * Lazy-update (the paper, Fig. 6b without the dotted line): objects move when
 * they are touched. Granularity: object.
 */
#include "protocols/rows.h"

/* clang-format off */
const struct adsm_protocol adsm_protocol_lazy = {
    .name = "lazy",
    .granularity = ADSM_BY_OBJECT,
    .first = ADSM_READ_ONLY,
    .acquires = false,
    .cell = {
        /*                  INVALID               READ_ONLY         DIRTY   */
        ROW(READ_FAULT,     DO(FETCH, READ_ONLY), DO(0, READ_ONLY), DO(0, DIRTY)),
        ROW(WRITE_FAULT,    DO(FETCH, DIRTY),     DO(0, DIRTY),     DO(0, DIRTY)),
        ROW(CALL,           DO(0, INVALID),       DO(0, INVALID),   DO(FLUSH, INVALID)),
        ROW(RETURN,         DO(0, INVALID),       DO(0, READ_ONLY), DO(0, DIRTY)),
        ROW(BULK_OVERWRITE, DO(0, DIRTY),         DO(0, DIRTY),     DO(0, DIRTY)),
        ROW(GIVEN_UP,       DO(0, DIRTY),         DO(0, DIRTY),     DO(0, DIRTY)),
        ROWS_ON_DEMAND,
        ROWS_OF_EVERY_PROTOCOL,
    },
};
/* clang-format on */
