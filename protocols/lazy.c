/*
 * Lazy-update (the paper, Fig. 6b without the dotted line): objects move when
 * they are touched. Granularity: object.
 */
#include "protocols/protocol.h"

#define FETCH ADSM_DO_FETCH
#define FLUSH ADSM_DO_FLUSH
#define SEND  ADSM_DO_SEND_CHANGES

/* clang-format off */
const struct adsm_protocol adsm_protocol_lazy = {
    .name = "lazy",
    .granularity = ADSM_BY_OBJECT,
    .first = ADSM_READ_ONLY,
    .acquires = false,
    .cell = {
        [ADSM_INVALID] = {
            [ADSM_READ_FAULT]     = {FETCH, ADSM_READ_ONLY},
            [ADSM_WRITE_FAULT]    = {FETCH, ADSM_DIRTY},
            [ADSM_CALL]           = {0,     ADSM_INVALID},
            [ADSM_CALL_IN]        = {0,     ADSM_INVALID},
            [ADSM_CALL_KEPT]      = {0,     ADSM_INVALID},
            [ADSM_CALL_OUT]       = {0,     ADSM_INVALID},
            [ADSM_RETURN]         = {0,     ADSM_INVALID},
            [ADSM_WRITE_BACK]          = {0,     ADSM_INVALID},
            [ADSM_BULK_READ]      = {FETCH, ADSM_READ_ONLY},
            [ADSM_BULK_OVERWRITE] = {0,     ADSM_DIRTY},
            [ADSM_DEVICE_READ]    = {0,     ADSM_INVALID},
            [ADSM_DEVICE_WRITE]   = {0,     ADSM_INVALID},
        },
        [ADSM_READ_ONLY] = {
            [ADSM_READ_FAULT]     = {0,     ADSM_READ_ONLY},
            [ADSM_WRITE_FAULT]    = {0,     ADSM_DIRTY},
            [ADSM_CALL]           = {0,     ADSM_INVALID},
            [ADSM_CALL_IN]        = {0,     ADSM_READ_ONLY},
            [ADSM_CALL_KEPT]      = {0,     ADSM_READ_ONLY},
            [ADSM_CALL_OUT]       = {0,     ADSM_INVALID},
            [ADSM_RETURN]         = {0,     ADSM_READ_ONLY},
            [ADSM_WRITE_BACK]          = {0,     ADSM_READ_ONLY},
            [ADSM_BULK_READ]      = {0,     ADSM_READ_ONLY},
            [ADSM_BULK_OVERWRITE] = {0,     ADSM_DIRTY},
            [ADSM_DEVICE_READ]    = {0,     ADSM_READ_ONLY},
            [ADSM_DEVICE_WRITE]   = {0,     ADSM_INVALID},
        },
        [ADSM_DIRTY] = {
            [ADSM_READ_FAULT]     = {0,     ADSM_DIRTY},
            [ADSM_WRITE_FAULT]    = {0,     ADSM_DIRTY},
            [ADSM_CALL]           = {FLUSH, ADSM_INVALID},
            [ADSM_CALL_IN]        = {FLUSH, ADSM_READ_ONLY},
            [ADSM_CALL_KEPT]      = {SEND,  ADSM_DIRTY},
            [ADSM_CALL_OUT]       = {0,     ADSM_INVALID},
            [ADSM_RETURN]         = {0,     ADSM_DIRTY},
            [ADSM_WRITE_BACK]          = {FLUSH, ADSM_READ_ONLY},
            [ADSM_BULK_READ]      = {0,     ADSM_DIRTY},
            [ADSM_BULK_OVERWRITE] = {0,     ADSM_DIRTY},
            [ADSM_DEVICE_READ]    = {FLUSH, ADSM_READ_ONLY},
            [ADSM_DEVICE_WRITE]   = {0,     ADSM_INVALID},
        },
    },
};
/* clang-format on */
