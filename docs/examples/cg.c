/*
 * Conjugate gradients over every device there is: a sparse matrix by rows, whose
 * columns are anywhere, and scalars that the CPU works out from what kernels
 * have added up.
 *
 *   cg [cg.ptx]
 */
#include <adsm_skeleton.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 96, N = SIDE * SIDE, MOST = 5 * N, STEPS = 400 };

static adsmKernel *multiply, *scale_add, *add, *dot_of;
static const adsmOpts *all;

static void check(adsmStatus status)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "cg: %s: %s\n", adsmErrorName(status), adsmErrorDetail());
    exit(1);
}

static void *shared(size_t bytes)
{
    void *p = adsmAlloc(bytes);
    if (!p)
        check(adsmLastStatus());
    return p;
}

/* Each point of a square is 4.1 times itself less its neighbours. Return: how
 * many elements the matrix has */
static int make_matrix(int *start, int *column, double *value)
{
    static const int dx[] = {0, -1, 0, 1, 0}, dy[] = {-1, 0, 0, 0, 1};
    int used = 0;
    for (int i = 0; i < N; i++) {
        start[i] = used;
        for (int k = 0; k < 5; k++) {
            int x = i % SIDE + dx[k], y = i / SIDE + dy[k];
            if (x < 0 || x >= SIDE || y < 0 || y >= SIDE)
                continue;
            column[used] = y * SIDE + x;
            value[used++] = k == 2 ? 4.1 : -1;
        }
    }
    start[N] = used;
    return used;
}

/* `sum` is shared: reading it waits for the kernels that make it. */
static double dot(const double *x, const double *y, double *sum)
{
    check(adsmMapReduce(all, dot_of, sum, adsmR1(N), adsmIn(x), adsmIn(y)));
    return *sum;
}

/* How far A x is from b, by the CPU. */
static double check_result(const int *start, const int *column,
                           const double *value, const double *x)
{
    double worst = 0;
    for (int i = 0; i < N; i++) {
        double sum = -1;
        for (int k = start[i]; k < start[i + 1]; k++)
            sum += value[k] * x[column[k]];
        worst = fmax(worst, fabs(sum));
    }
    return worst;
}

int main(int argc, char **argv)
{
    adsmModule *module;
    check(adsmModuleLoad(&module, argc > 1 ? argv[1] : "cg.ptx", 0));
    check(adsmKernelGet(&multiply, module, "multiply", ADSM_ONLY_ARGUMENTS));
    check(adsmKernelGet(&scale_add, module, "scale_add", ADSM_ONLY_ARGUMENTS));
    check(adsmKernelGet(&add, module, "add", ADSM_ONLY_ARGUMENTS));
    check(adsmKernelGet(&dot_of, module, "dot", ADSM_ONLY_ARGUMENTS));
    all = adsmWith(.devices = ADSM_ALL_DEVICES);
    /* Rows are not of equal work: parts have about as many elements. */
    static double elements[N];
    const adsmOpts *by_elements =
        adsmWith(.devices = ADSM_ALL_DEVICES, .weights = elements,
                 .weight_count = N);

    int *start = shared((N + 1) * sizeof *start);
    int *column = shared(MOST * sizeof *column);
    double *value = shared(MOST * sizeof *value), *sum = shared(sizeof *sum);
    double *x = shared(N * sizeof *x), *r = shared(N * sizeof *r);
    double *p = shared(N * sizeof *p), *q = shared(N * sizeof *q);
    int used = make_matrix(start, column, value), steps = 0;
    for (int i = 0; i < N; i++) {
        x[i] = 0;
        p[i] = r[i] = 1; /* b, all of it 1 */
        elements[i] = start[i + 1] - start[i];
    }

    double before = dot(r, r, sum);
    for (; steps < STEPS && before > 1e-16; steps++) {
        /* A part has its own rows' beginnings, and the next one. */
        check(adsmCallWith(by_elements, multiply, adsmR1(N),
                           adsmBoxed(start, ADSM_IN, "[i0:i1+1]"),
                           adsmAll(column), adsmAll(value), adsmAll(p),
                           adsmOut(q)));
        double a = before / dot(p, q, sum), minus = -a;
        check(adsmCallWith(all, add, adsmR1(N), adsmVal(a), adsmIn(p),
                           adsmInOut(x)));
        check(adsmCallWith(all, add, adsmR1(N), adsmVal(minus), adsmIn(q),
                           adsmInOut(r)));
        double now = dot(r, r, sum), b = now / before;
        check(adsmCallWith(all, scale_add, adsmR1(N), adsmVal(b), adsmIn(r),
                           adsmInOut(p)));
        before = now;
    }

    double worst = check_result(start, column, value, x);
    printf("%d devices, %d elements, %d steps, wrong by %.1e at most\n",
           adsmDeviceCount(), used, steps, worst);
    return worst < 1e-6 ? 0 : 1;
}
