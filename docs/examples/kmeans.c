/*
 * k-means over every device there is. What the points of a centre add up to is
 * reduced by an operator of the program's own, for all centres at once; the CPU
 * moves the centres between the steps.
 *
 *   kmeans [kmeans.ptx]
 */
#include <adsm_skeleton.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CENTRES = 10, N = 60000, STEPS = 8 };

struct point {
    int x, y;
};

struct sums { /* as in kmeans.cu */
    int x[CENTRES], y[CENTRES], count[CENTRES], points;
};

static void check(adsmStatus status)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "kmeans: %s: %s\n", adsmErrorName(status),
            adsmErrorDetail());
    exit(1);
}

static void *shared(size_t bytes)
{
    void *p = adsmAlloc(bytes);
    if (!p)
        check(adsmLastStatus());
    return p;
}

static void make_points(struct point *points)
{
    unsigned random = 1;
    for (int i = 0; i < N; i++) {
        int at[2];
        for (int d = 0; d < 2; d++) {
            random = random * 1664525u + 1013904223u;
            at[d] = (int)(random >> 20);
        }
        points[i] = (struct point){at[0] + 4096 * (i % 3), at[1]};
    }
}

static void move(struct point *centre, const struct sums *sums)
{
    for (int c = 0; c < CENTRES; c++)
        if (sums->count[c] > 0)
            centre[c] = (struct point){sums->x[c] / sums->count[c],
                                       sums->y[c] / sums->count[c]};
}

/* The same step by the CPU. */
static void assign_here(const struct point *points, const struct point *centre,
                        struct sums *sums)
{
    memset(sums, 0, sizeof *sums);
    for (int i = 0; i < N; i++) {
        int nearest = 0;
        long least = -1;
        for (int c = 0; c < CENTRES; c++) {
            long dx = points[i].x - centre[c].x, dy = points[i].y - centre[c].y;
            if (least < 0 || dx * dx + dy * dy < least) {
                least = dx * dx + dy * dy;
                nearest = c;
            }
        }
        sums->x[nearest] += points[i].x;
        sums->y[nearest] += points[i].y;
        sums->count[nearest]++;
        sums->points++;
    }
}

int main(int argc, char **argv)
{
    adsmModule *module;
    adsmKernel *assign;
    check(adsmModuleLoad(&module, argc > 1 ? argv[1] : "kmeans.ptx", 0));
    check(adsmKernelGet(&assign, module, "assign", ADSM_ONLY_ARGUMENTS));

    struct point *points = shared(N * sizeof *points);
    struct point *centre = shared(CENTRES * sizeof *centre), here[CENTRES];
    struct sums *sums = shared(sizeof *sums), wanted;
    make_points(points);
    for (int c = 0; c < CENTRES; c++)
        here[c] = centre[c] = points[c * (N / CENTRES)];

    const adsmOpts *all = adsmWith(.devices = ADSM_ALL_DEVICES);
    int wrong = 0;
    for (int step = 0; step < STEPS; step++) {
        check(adsmMapReduce(all, assign, sums, adsmR1(N), adsmIn(points),
                            adsmAll(centre)));
        move(centre, sums); /* waits for the sums */
        assign_here(points, here, &wanted);
        move(here, &wanted);
        wrong += memcmp(sums, &wanted, sizeof wanted) != 0;
    }

    printf("%d devices, %d points, centre 0 has %d at (%d, %d)\n",
           adsmDeviceCount(), sums->points, sums->count[0], centre[0].x,
           centre[0].y);
    return wrong;
}
