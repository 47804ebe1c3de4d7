/*
 * A product of matrices over every device there is, in tiles: each device gets
 * the rows of a and the columns of b that its tiles need, and no others.
 *
 *   product [product.ptx]
 */
#include <adsm.h>
#include <stdio.h>
#include <stdlib.h>

static const long M = 256, N = 192, K = 160;

static void check(adsmStatus status)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "product: %s: %s\n", adsmErrorName(status),
            adsmErrorDetail());
    exit(1);
}

static double *matrix(long rows, long columns)
{
    void *p =
        adsmAllocArray(sizeof(double), adsmR2(rows, columns), ADSM_NO_HOME);
    if (!p)
        check(adsmLastStatus());
    return static_cast<double *>(p);
}

int main(int argc, char **argv)
{
    adsmModule *module;
    adsmKernel *product;
    check(adsmModuleLoad(&module, argc > 1 ? argv[1] : "product.ptx", 0));
    check(adsmKernelGet(&product, module, "product", ADSM_ONLY_ARGUMENTS));

    double *a = matrix(M, K), *b = matrix(K, N), *c = matrix(M, N);
    for (long i = 0; i < M * K; i++)
        a[i] = double(i % 7);
    for (long i = 0; i < K * N; i++)
        b[i] = double(i % 5);

    adsmEvent made;
    adsmOpts tiles = adsmOpts();
    tiles.devices = ADSM_ALL_DEVICES;
    tiles.tile[0] = M / 2;
    tiles.tile[1] = N / 2;
    tiles.event = &made;
    check(adsmCallWith(&tiles, product, adsmR2(M, N), adsmRows(adsmIn(a)),
                       adsmCols(adsmIn(b)), adsmOut(c), adsmVal(K)));
    check(adsmWait(made)); /* the loop below would wait, too */

    long wrong = 0;
    for (long y = 0; y < M; y++)
        for (long x = 0; x < N; x++) {
            double sum = 0;
            for (long k = 0; k < K; k++)
                sum += a[y * K + k] * b[k * N + x];
            wrong += c[y * N + x] != sum; /* whole numbers: exact */
        }
    printf("%d devices, %d copies of a, %d of b, %d of c, %ld wrong\n",
           adsmDeviceCount(), adsmCopies(a, nullptr, 0),
           adsmCopies(b, nullptr, 0), adsmCopies(c, nullptr, 0), wrong);
    check(adsmFree(a));
    check(adsmFree(b));
    check(adsmFree(c));
    return wrong != 0;
}
