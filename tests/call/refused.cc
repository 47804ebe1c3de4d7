/* What would be read when it is gone does not compile; REFUSED is which. */
#include "adsm_skeleton.h"

struct large {
    int word[32];
};
large make();

adsmStatus calls(adsmKernel *kernel, const float *x)
{
#if REFUSED == 1
    return adsmCall(kernel, 1, adsmIn(x), adsmVal(make()));
#elif REFUSED == 2
    adsmTask task = adsmTaskOf(kernel, adsmR1(1), adsmIn(x), adsmVal(1));
    return adsmFarmV(&task, 1, nullptr);
#else
    const large variable = make();
    auto task = adsmTaskOf(kernel, adsmR1(1), adsmIn(x), adsmVal(variable));
    return adsmFarm(nullptr, task,
                    adsmTaskOf(kernel, adsmR1(1), adsmIn(x), adsmVal(1)));
#endif
}
