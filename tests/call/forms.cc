/* The forms of adsm.h in C++: compiled only, and then what they make. */
#include "adsm_skeleton.h"

static const float *constant;
static float *plain;
static void *bytes;

static int first_row(const adsmPart *part, void *user, adsmBox *out, int)
{
    out[0] = adsmR2(part->count > 0, *static_cast<long *>(user));
    return 1;
}

static int multiply(const adsmWork *work, void *user)
{
    return adsmWorkPointer(work, 0) == user;
}

static_assert(sizeof(adsmArg) == sizeof adsmIn(plain), "an argument");

adsmStatus calls(adsmKernel *kernel, long n)
{
    adsmOpts opts = adsmOpts();
    opts.devices = ADSM_ALL_DEVICES;
    float pad = 0;
    adsmStatus status = adsmCall(kernel, n, adsmIn(constant), adsmOut(plain));
    status = adsmCallWith(&opts, kernel, adsmR1(n), adsmAll(constant),
                          adsmInOut(plain), adsmVal(n), adsmVal(3.5f));
    status = adsmCallWith(&opts, kernel, adsmR2(n, n),
                          adsmCross(constant, 1, 1, ADSM_EDGE_CLAMP),
                          adsmOut(bytes));
    status =
        adsmCallWith(&opts, kernel, adsmR3(n, n, n),
                     adsmPad(adsmSquare(plain, 1, 2, ADSM_EDGE_NONE), &pad),
                     adsmView(adsmRows(adsmOut(plain))));
    status = adsmCallWith(
        &opts, kernel, adsmR2(n, n), adsmHalo(plain, 1, ADSM_EDGE_WRAP),
        adsmColumn(plain, 1, ADSM_EDGE_WRAP), adsmRow(plain, 1, ADSM_EDGE_WRAP),
        adsmAlong(adsmCols(adsmIn(plain)), 0, -1, 0));
    status = adsmMapReduce(&opts, kernel, plain, adsmR1(n), adsmIn(constant),
                           adsmVal(2));
    status = adsmReduce(adsmOperatorOf(ADSM_SUM, ADSM_F32), plain, constant,
                        adsmR1(n), -1, &opts);
    status = adsmFarm(
        &opts, adsmTaskOf(kernel, adsmR1(n), adsmIn(constant), adsmOut(plain)),
        adsmTaskOf(kernel, adsmR2(n, n), adsmPer(adsmOut(plain), 8, 0, 0)));
    status = adsmCallWith(&opts, kernel, adsmR1(n),
                          adsmBoxed(plain, ADSM_INOUT, "[i][:]"),
                          adsmBoxed(constant, ADSM_IN, "[$1][:$2]", n, 7),
                          adsmBoxedBy(plain, ADSM_IN, first_row, &n));
    status = adsmCallWith(
        &opts, kernel, adsmR1(n), adsmIn(constant),
        adsmInto(plain, adsmOperatorOf(ADSM_SUM, ADSM_F32)));
    status = adsmFill(plain, 10, 1);
    status = adsmStream(nullptr, multiply, &n, adsmIn(constant), adsmOut(plain),
                        adsmVal(n));
    status = adsmCall(kernel, n, adsmScatter(plain), adsmFlat(adsmIn(plain)));
    return adsmLaunch(kernel, adsmDim1(1), adsmDim2(2, 3), 0, adsmIn(plain)) +
                   status
               ? ADSM_E_INVALID
               : ADSM_OK;
}

int main()
{
    return adsmIn(plain).size == sizeof(adsmArg) &&
                   adsmVal(2).size == sizeof(adsmArg) &&
                   adsmIn(plain).elem == 4 && adsmIn(bytes).elem == 0 &&
                   adsmIn(constant).mode == ADSM_IN &&
                   adsmAll(constant).how == ADSM_WHOLE &&
                   adsmHalo(plain, 2, ADSM_EDGE_PAD).radius[0] == 2 &&
                   adsmBoxed(plain, ADSM_OUT, "[i]").params == 0 &&
                   adsmInto(plain, nullptr).how == ADSM_INTO &&
                   adsmBoxed(bytes, ADSM_OUT, "[$3]", 1, 2L, 'c').params == 3 &&
                   adsmBoxed(plain, ADSM_OUT, "[$3]", 1, 2, 3).param[2] == 3
               ? 0
               : 1;
}
