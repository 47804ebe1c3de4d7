/* Bytes that begin to stay with the CPU; see kept.h. */
#include "mm/doors/kept.h"

#include "mm/doors/loan.h"
#include "mm/object/index.h"
#include "mm/watch/keep.h"

/* Fetch and mark, while their block is held: what another thread has begun to
 * fetch by then must not arrive afterwards. */
static int keep(struct adsm_object *object, const void *address, size_t offset,
                size_t bytes)
{
    struct adsm_loan loan;
    /* A block that is covered whole is not fetched to be written. */
    int rc = adsm_loan_begin(address, bytes, ADSM_READ, &loan);
    if (rc == ADSM_OK)
        rc = adsm_loan_end(&loan, 0);
    if (rc == ADSM_OK)
        rc = adsm_loan_begin(address, bytes, ADSM_WRITE, &loan);
    if (rc != ADSM_OK)
        return rc;
    rc = loan.bytes == bytes ? adsm_keep_mark(object, offset, bytes)
                             : ADSM_E_INVALID;
    int ended = adsm_loan_end(&loan, 0);
    return rc == ADSM_OK ? ended : rc;
}

int adsm_keep(const void *address, size_t bytes, void **at)
{
    /* The caller's bytes are there, so the object is. */
    struct adsm_object *object = adsm_index_find(address);
    if (!object)
        return ADSM_E_NOT_SHARED;
    size_t offset = (size_t)((const uint8_t *)address - object->host);
    if (offset % ADSM_KEEP_UNIT || offset >= object->bytes ||
        bytes > object->bytes - offset)
        return ADSM_E_INVALID;
    *at = object->shadow.shadow + offset;
    return keep(object, address, offset, bytes);
}
