/* The table of kinds; see kind.h. */
#include "mm/object/kind.h"

static int one_address(struct adsm_accel *home, size_t bytes,
                       struct adsm_span *span)
{
    return adsm_address_alloc(home, bytes, false, span);
}

static int two_addresses(struct adsm_accel *home, size_t bytes,
                         struct adsm_span *span)
{
    return adsm_address_alloc(home, bytes, true, span);
}

static int host_address(struct adsm_accel *home, size_t bytes,
                        struct adsm_span *span)
{
    (void)home;
    return adsm_address_reserve(bytes, span);
}

const struct adsm_kind adsm_kind_plain = {
    .take = one_address,
    .small = true,
    .shares = true,
};

const struct adsm_kind adsm_kind_driver = {
    .take = one_address,
    .begins = ADSM_BEGINS_ON_DEVICE,
    .small = true,
    .shares = true,
    .movable = &adsm_kind_movable,
};

const struct adsm_kind adsm_kind_array = {
    .take = one_address,
    .small = true,
    .apart = &adsm_kind_safe,
};

const struct adsm_kind adsm_kind_safe = {
    .take = two_addresses,
    .small = true,
};

const struct adsm_kind adsm_kind_homeless = {
    .take = host_address,
    .homeless = true,
};

const struct adsm_kind adsm_kind_movable = {
    .take = adsm_address_alloc_movable,
    .begins = ADSM_BEGINS_ON_HOST,
};

/* Fresh memory holds nothing yet, so both copies are as good as each other.
 * Under a protocol that would upload it unasked it starts on the device, where
 * the kind wants that. */
enum adsm_state adsm_kind_first(const struct adsm_kind *kind,
                                const struct adsm_protocol *protocol)
{
    bool uploads = protocol->first == ADSM_DIRTY;
    return kind->begins == ADSM_BEGINS_ON_HOST                ? ADSM_DIRTY
           : kind->begins == ADSM_BEGINS_ON_DEVICE && uploads ? ADSM_INVALID
                                                              : protocol->first;
}
