/*
 * Public entry points of skeletons that take several calls; see api.c.
 */
#include "adsm.h"

#include "api_parts.h"
#include "base/cancel.h"
#include "sched/detail.h"
#include "sched/operator.h"

const adsmOperator *adsmOperatorOf(adsmOp op, adsmType type)
{
    const adsmOperator *found = adsm_operator_of(op, type);
    adsm_api_done(found ? ADSM_OK
                        : adsm_detail(ADSM_E_INVALID,
                                      "there is no operator %d of type %d",
                                      (int)op, (int)type));
    return found;
}

adsmStatus adsmOperatorGet(const adsmOperator **op, adsmModule *module,
                           const char *name)
{
    ADSM_NOT_CANCELLED;
    if (!op || !name)
        return adsm_api_done(
            adsm_detail(ADSM_E_INVALID, "op and name must not be NULL"));
    *op = NULL;
    int rc = adsm_api_bring_up();
    if (rc == ADSM_OK)
        rc = adsm_operator_get(module, name, op);
    return adsm_api_done(rc);
}
