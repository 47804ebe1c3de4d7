/* scale.c on every device there is, and the largest element: README.md. */
#include <adsm.h>
#include <adsm_skeleton.h>
#include <stdio.h>

int main(void)
{
    adsmModule *module;
    adsmKernel *scale;
    long n = 1000000;
    float factor = 3, *x = adsmAlloc(n * sizeof *x),
          *most = adsmAlloc(sizeof *most);
    const adsmOperator *max = adsmOperatorOf(ADSM_MAX, ADSM_F32);
    const adsmOpts *all = adsmWith(.devices = ADSM_ALL_DEVICES);

    if (!x || !most || adsmModuleLoad(&module, "docs/examples/scale.ptx", 0) ||
        adsmKernelGet(&scale, module, "scale", ADSM_ONLY_ARGUMENTS))
        goto failed;
    for (long i = 0; i < n; i++)
        x[i] = i;
    if (adsmCallWith(all, scale, adsmR1(n), adsmInOut(x), adsmVal(factor)) ||
        adsmReduce(max, most, x, adsmR1(n), -1, all))
        goto failed;
    printf("%d devices, at most %.0f\n", adsmDeviceCount(), *most);
    return adsmFree(x) || adsmFree(most);
failed:
    fprintf(stderr, "%s\n", adsmErrorDetail());
    return 1;
}
