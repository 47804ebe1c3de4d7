/* An array that the CPU fills, a kernel changes and the CPU reads: README.md. */
#include <adsm.h>
#include <stdio.h>

int main(void)
{
    adsmModule *module;
    adsmKernel *scale;
    long n = 1000000;
    float factor = 3, *x = adsmAlloc(n * sizeof *x);

    if (!x || adsmModuleLoad(&module, "docs/examples/scale.ptx", 0) ||
        adsmKernelGet(&scale, module, "scale", ADSM_ONLY_ARGUMENTS))
        goto failed;
    for (long i = 0; i < n; i++)
        x[i] = i; /* the CPU writes */
    if (adsmCall(scale, n, adsmInOut(x), adsmVal(factor)) || adsmSync())
        goto failed;
    printf("%.0f %.0f\n", x[1], x[n - 1]); /* and reads the result */
    return adsmFree(x);
failed:
    fprintf(stderr, "%s\n", adsmErrorDetail());
    return 1;
}
