/* Scans: fold chunks, scan their results, and go down into the chunks. */
#include "call/skeleton.h"

#include "call/detail.h"
#include "call/skeleton_parts.h"

enum { CHUNK = ADSM_SCAN_CHUNK };

static int check_scan(const struct adsm_skeleton *skeleton, void *out,
                      const void *in, long n)
{
    const adsmBox range = adsmR1(n);
    int rc = adsm_operator_check(skeleton->op);
    if (rc == ADSM_OK && n < 0)
        rc = adsm_detail(ADSM_E_INVALID,
                         "a scan of %ld elements; 0 or more are possible", n);
    if (rc == ADSM_OK)
        rc = adsm_skeleton_check_in(skeleton, in, &range);
    if (rc == ADSM_OK)
        rc = adsm_skeleton_check_result(skeleton, "out", out, n);
    if (rc == ADSM_OK && out != in) /* in place is possible */
        rc = adsm_skeleton_check_apart(skeleton, in, &range, "out", out, n);
    return rc;
}

/* With what lies before each chunk; NULL: there is one chunk. */
static int scan_chunks(struct adsm_skeleton *skeleton, void *out,
                       const void *in, const void *before, long n,
                       int exclusive, bool last)
{
    const struct adsm_pass pass = {.range = adsmR1(n),
                                   .align = CHUNK,
                                   .each = {CHUNK / ADSM_FOLD_LANES},
                                   .block = {256, 1, 1},
                                   .last = last};
    const adsmArg args[] = {
        adsm_skeleton_array(skeleton, in, ADSM_IN),
        before ? adsmPer(adsm_skeleton_array(skeleton, before, ADSM_IN), CHUNK,
                         0, 0)
               : adsmVal(before),
        adsm_skeleton_array(skeleton, out, ADSM_OUT), adsmVal(exclusive)};
    return adsm_skeleton_operator(skeleton, ADSM_OPERATOR_SCAN, &pass, 4, args);
}

static int scan(struct adsm_skeleton *skeleton, void *out, const void *in,
                long n, int exclusive, bool last)
{
    void *before;
    if (n <= CHUNK)
        return scan_chunks(skeleton, out, in, NULL, n, exclusive, last);
    long chunks = n / CHUNK + (n % CHUNK > 0);
    int rc = adsm_skeleton_scratch(skeleton, adsmR1(chunks), &before);
    if (rc == ADSM_OK)
        rc = adsm_skeleton_fold(skeleton, in, 0, n, ADSM_SCAN_ROWS, before,
                                false);
    if (rc == ADSM_OK)
        rc = scan(skeleton, before, before, chunks, 1, false);
    return rc == ADSM_OK
               ? scan_chunks(skeleton, out, in, before, n, exclusive, last)
               : rc;
}

int adsm_scan(const adsmOperator *op, void *out, const void *in, long n,
              bool exclusive, const adsmOpts *opts)
{
    struct adsm_skeleton skeleton = {.op = op, .opts = opts};
    int rc = check_scan(&skeleton, out, in, n);
    if (rc == ADSM_OK)
        rc = scan(&skeleton, out, in, n, exclusive, true);
    return adsm_skeleton_end(&skeleton, rc);
}
