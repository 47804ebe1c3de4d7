/*
 * blackscholes on every device: each has a share of all five arrays, in pieces,
 * so that copies in both directions and kernels are under way at the same time.
 * There is one call only, of which the library could not know that this pays.
 */
#include "blackscholes/blackscholes.h"
#include "common/device.h"

int main(int argc, char **argv)
{
    struct blackscholes b;
    blackscholes_open(&b, argc, argv);
    adsmKernel *price = device_kernel("blackscholes");
    adsmBox all = adsmR1(b.options);
    float *share = device_array(sizeof *share, all);
    float *strike = device_array(sizeof *strike, all);
    float *years = device_array(sizeof *years, all);
    float *call = device_array(sizeof *call, all);
    float *put = device_array(sizeof *put, all);

    blackscholes_make(&b, share, strike, years);
    device_call_with(((adsmOpts){.chunks = 8, .fetch = 1}), price, all,
                     adsmIn(share), adsmIn(strike), adsmIn(years),
                     adsmOut(call), adsmOut(put), adsmVal(b.market));
    shared_wait();
    blackscholes_finish(&b, call, put);

    shared_free(put);
    shared_free(call);
    shared_free(years);
    shared_free(strike);
    shared_free(share);
    return 0;
}
