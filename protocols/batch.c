/*
 * Batch-update (the paper, Fig. 6a): everything goes to the device at a call
 * and comes back at its return; the CPU's accesses are not watched. Annotations
 * are ignored, as the programmers it mimics would. Granularity: object.
 *
 * Differs from the paper: a CPU access between call and return does not read
 * stale data, it fetches the object early. READ_ONLY is never entered; its row
 * says what would be right if it were.
 */
#include "protocols/protocol.h"

#define FETCH ADSM_DO_FETCH
#define FLUSH ADSM_DO_FLUSH

/* clang-format off */
const struct adsm_protocol adsm_protocol_batch = {
    .name = "batch",
    .granularity = ADSM_BY_OBJECT,
    .first = ADSM_DIRTY,
    .acquires = true,
    .cell = {
        [ADSM_INVALID] = {
            [ADSM_READ_FAULT]     = {FETCH, ADSM_DIRTY},
            [ADSM_WRITE_FAULT]    = {FETCH, ADSM_DIRTY},
            [ADSM_CALL]           = {0,     ADSM_INVALID},
            [ADSM_CALL_IN]        = {0,     ADSM_INVALID},
            [ADSM_CALL_KEPT]      = {0,     ADSM_INVALID},
            [ADSM_CALL_OUT]       = {0,     ADSM_INVALID},
            [ADSM_RETURN]         = {FETCH, ADSM_DIRTY},
            [ADSM_WRITE_BACK]          = {0,     ADSM_INVALID},
            [ADSM_BULK_READ]      = {FETCH, ADSM_DIRTY},
            [ADSM_BULK_OVERWRITE] = {0,     ADSM_DIRTY},
            [ADSM_DEVICE_READ]    = {0,     ADSM_INVALID},
            [ADSM_DEVICE_WRITE]   = {0,     ADSM_INVALID},
        },
        [ADSM_READ_ONLY] = {
            [ADSM_READ_FAULT]     = {0,     ADSM_DIRTY},
            [ADSM_WRITE_FAULT]    = {0,     ADSM_DIRTY},
            [ADSM_CALL]           = {FLUSH, ADSM_INVALID},
            [ADSM_CALL_IN]        = {FLUSH, ADSM_INVALID},
            [ADSM_CALL_KEPT]      = {FLUSH, ADSM_INVALID},
            [ADSM_CALL_OUT]       = {FLUSH, ADSM_INVALID},
            [ADSM_RETURN]         = {0,     ADSM_DIRTY},
            [ADSM_WRITE_BACK]          = {0,     ADSM_READ_ONLY},
            [ADSM_BULK_READ]      = {0,     ADSM_DIRTY},
            [ADSM_BULK_OVERWRITE] = {0,     ADSM_DIRTY},
            [ADSM_DEVICE_READ]    = {0,     ADSM_DIRTY},
            [ADSM_DEVICE_WRITE]   = {0,     ADSM_INVALID},
        },
        [ADSM_DIRTY] = {
            [ADSM_READ_FAULT]     = {0,     ADSM_DIRTY},
            [ADSM_WRITE_FAULT]    = {0,     ADSM_DIRTY},
            [ADSM_CALL]           = {FLUSH, ADSM_INVALID},
            [ADSM_CALL_IN]        = {FLUSH, ADSM_INVALID},
            [ADSM_CALL_KEPT]      = {FLUSH, ADSM_INVALID},
            [ADSM_CALL_OUT]       = {FLUSH, ADSM_INVALID},
            [ADSM_RETURN]         = {0,     ADSM_DIRTY},
            [ADSM_WRITE_BACK]          = {FLUSH, ADSM_READ_ONLY},
            [ADSM_BULK_READ]      = {0,     ADSM_DIRTY},
            [ADSM_BULK_OVERWRITE] = {0,     ADSM_DIRTY},
            [ADSM_DEVICE_READ]    = {FLUSH, ADSM_DIRTY},
            [ADSM_DEVICE_WRITE]   = {0,     ADSM_INVALID},
        },
    },
};
/* clang-format on */
