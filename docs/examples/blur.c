/*
 * A picture is blurred over every device there is, with each of the four ways to
 * say what lies beyond its edge.
 *
 *   blur [blur.ptx]
 */
#include <adsm.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { NY = 301, NX = 403, EDGES = 4 };

static const char *const edge_names[] = {"none", "clamp", "wrap", "pad"};

static void check(adsmStatus status)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "blur: %s: %s\n", adsmErrorName(status), adsmErrorDetail());
    exit(1);
}

static float *picture(void)
{
    float *pixels = adsmAllocArray(sizeof *pixels, adsmR2(NY, NX), 0);
    if (!pixels)
        check(adsmLastStatus());
    return pixels;
}

static long clamp(long i, long n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

/* A pixel as the edge has it. */
static float pixel(const float *from, long y, long x, int edge, float pad)
{
    bool inside = y >= 0 && y < NY && x >= 0 && x < NX;
    if (edge == ADSM_EDGE_CLAMP)
        return from[clamp(y, NY) * NX + clamp(x, NX)];
    if (edge == ADSM_EDGE_WRAP)
        return from[(y + NY) % NY * NX + (x + NX) % NX];
    return inside ? from[y * NX + x] : edge == ADSM_EDGE_PAD ? pad : 0;
}

static int count_wrong(const float *from, const float *weight, const float *to,
                       int edge, float pad)
{
    int wrong = 0;
    for (long y = 0; y < NY; y++)
        for (long x = 0; x < NX; x++) {
            float sum = 0;
            for (long dy = -2; dy <= 2; dy++)
                for (long dx = -2; dx <= 2; dx++)
                    sum += weight[dy + 2] * weight[dx + 2] *
                           pixel(from, y + dy, x + dx, edge, pad);
            wrong += to[y * NX + x] != sum / 81;
        }
    return wrong;
}

int main(int argc, char **argv)
{
    adsmModule *module;
    adsmKernel *blur, *inside;
    check(adsmModuleLoad(&module, argc > 1 ? argv[1] : "blur.ptx", 0));
    check(adsmKernelGet(&blur, module, "blur", ADSM_ONLY_ARGUMENTS));
    check(adsmKernelGet(&inside, module, "blur_inside", ADSM_ONLY_ARGUMENTS));

    float *from = picture(), *to = picture(), pad = 7;
    float *weight = adsmAlloc(5 * sizeof *weight);
    if (!weight)
        check(adsmLastStatus());
    for (int i = 0; i < 5; i++)
        weight[i] = (float)(3 - abs(i - 2));
    for (long i = 0; i < (long)NY * NX; i++)
        from[i] = (float)(i * 7919 % 256);

    const adsmOpts *all = adsmWith(.devices = ADSM_ALL_DEVICES);
    const long ny = NY, nx = NX;
    int wrong = 0;
    for (int edge = 0; edge < EDGES; edge++) {
        adsmArg around = adsmSquare(from, 2, 2, edge);
        if (edge == ADSM_EDGE_PAD)
            around = adsmPad(around, &pad);
        if (edge == ADSM_EDGE_NONE)
            check(adsmCallWith(all, inside, adsmR2(NY, NX), around,
                               adsmAll(weight), adsmOut(to), adsmVal(ny),
                               adsmVal(nx)));
        else
            check(adsmCallWith(all, blur, adsmR2(NY, NX), around,
                               adsmAll(weight), adsmOut(to)));
        int bad = count_wrong(from, weight, to, edge, pad);
        printf("%s: %d pixels wrong\n", edge_names[edge], bad);
        wrong += bad;
    }
    check(adsmFree(weight));
    check(adsmFree(from));
    check(adsmFree(to));
    return wrong != 0;
}
