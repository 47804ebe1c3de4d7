/*
 * Public entry points of skeletons that take several calls; see api.c.
 */
#include "adsm_skeleton.h"

#include "api_parts.h"
#include "base/cancel.h"
#include "call/detail.h"
#include "call/operator.h"
#include "call/skeleton.h"

static const adsmOpts plain;

/* The options that hold. */
static int take_options(const adsmOpts *given, adsmOpts *room,
                        const adsmOpts **opts)
{
    int rc = adsm_api_options(given, room, opts);
    if (!*opts)
        *opts = &plain;
    return rc;
}

/* What fails in them has said so: a check of theirs, or a call they are made of. */
static adsmStatus done(int status)
{
    if (status != ADSM_OK)
        adsm_detail_of_inner();
    return adsm_api_done(status);
}

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
    return done(rc);
}

adsmStatus adsmReduce(const adsmOperator *op, void *result, const void *in,
                      adsmBox range, int keep, const adsmOpts *opts)
{
    ADSM_NOT_CANCELLED;
    adsmOpts room;
    int rc = adsm_api_bring_up();
    if (rc == ADSM_OK)
        rc = take_options(opts, &room, &opts);
    if (rc == ADSM_OK)
        rc = adsm_reduce(op, result, in, &range, keep, opts);
    return done(rc);
}

adsmStatus adsmScan(const adsmOperator *op, void *out, const void *in, long n,
                    int exclusive, const adsmOpts *opts)
{
    ADSM_NOT_CANCELLED;
    adsmOpts room;
    int rc = adsm_api_bring_up();
    if (rc == ADSM_OK)
        rc = take_options(opts, &room, &opts);
    if (rc == ADSM_OK)
        rc = adsm_scan(op, out, in, n, exclusive != 0, opts);
    return done(rc);
}

adsmStatus adsmMapReduceV(adsmKernel *map, void *result, adsmBox range,
                          const adsmOpts *opts, int count, const adsmArg *args)
{
    ADSM_NOT_CANCELLED;
    adsmOpts room;
    int rc = adsm_api_may_call(count, args);
    if (rc == ADSM_OK)
        rc = take_options(opts, &room, &opts);
    if (rc == ADSM_OK)
        rc = adsm_map_reduce(map, result, &range, opts, count, args);
    return done(rc);
}

adsmStatus adsmFarmV(const adsmTask *tasks, int count, const adsmOpts *opts)
{
    ADSM_NOT_CANCELLED;
    adsmOpts room;
    int rc = adsm_api_bring_up();
    if (rc == ADSM_OK)
        rc = take_options(opts, &room, &opts);
    if (rc == ADSM_OK)
        rc = adsm_farm(tasks, count, opts, adsm_api_device());
    return done(rc);
}
