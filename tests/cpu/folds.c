/*
 * A digest of reductions and scans of every shipped operator, over odd sizes and
 * boxes that begin anywhere, for tests/split/split.sh: it is the same wherever
 * they are computed.
 */
#include <adsm_skeleton.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 30000 };

static uint64_t digest = 14695981039346656037u;

static void add(const void *data, size_t bytes)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < bytes; i++)
        digest = (digest ^ p[i]) * 1099511628211u;
}

static void check(int status, const char *what)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "folds: %s: %s\n", what, adsmErrorDetail());
    exit(1);
}

static void *array(size_t elem, adsmBox shape)
{
    void *p = adsmAllocArray(elem, shape, ADSM_NO_HOME);
    if (!p)
        check(adsmLastStatus(), "array");
    return p;
}

static size_t size_of(adsmType type)
{
    return type == ADSM_I32 || type == ADSM_U32 || type == ADSM_F32 ? 4 : 8;
}

/* Numbers whose order and rounding show. */
static void fill(void *to, adsmType type, long n)
{
    uint64_t seed = 12345;
    for (long i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double x = (double)(int64_t)(seed >> 11) / 1e15 - 4;
        if (type == ADSM_F32)
            ((float *)to)[i] = (float)x;
        else if (type == ADSM_F64)
            ((double *)to)[i] = x;
        else if (size_of(type) == 4)
            ((uint32_t *)to)[i] = (uint32_t)(seed >> 21);
        else
            ((uint64_t *)to)[i] = seed;
    }
}

static const adsmOpts all = {.devices = ADSM_ALL_DEVICES};

static void lines(const adsmOperator *op, adsmType type)
{
    static const long sizes[][2] = {
        {0, 0},    {0, 1},       {0, 2},     {0, 7},        {3, 9},
        {0, 64},   {63, 65},     {1, 255},   {0, 256},      {255, 1025},
        {0, 8191}, {8191, 8193}, {5, 16389}, {1, MOST - 1}, {0, MOST}};
    size_t elem = size_of(type);
    void *in = array(elem, adsmR1(MOST)), *out = array(elem, adsmR1(MOST));
    void *one = array(elem, adsmR1(1));
    fill(in, type, MOST);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        long n = sizes[i][1];
        adsmBox range = {1, {sizes[i][0]}, {n}};
        check(adsmReduce(op, one, in, range, -1, &all), "reduce");
        add(one, elem);
        for (int exclusive = 0; exclusive < 2 && n > 0; exclusive++) {
            check(adsmScan(op, out, in, n, exclusive, &all), "scan");
            add(out, (size_t)n * elem);
        }
    }
    check(adsmFree(in) + adsmFree(out) + adsmFree(one), "free");
}

static void boxes(const adsmOperator *op, adsmType type)
{
    static const long shapes[][2] = {{1, 1}, {37, 601}, {601, 37}, {130, 131}};
    size_t elem = size_of(type);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        long ny = shapes[i][0], nx = shapes[i][1];
        long cut = ny > 1 ? 3 : 0;
        void *in = array(elem, adsmR2(ny, nx)), *one = array(elem, adsmR1(1));
        void *rows = array(elem, adsmR1(ny)),
             *columns = array(elem, adsmR1(nx));
        adsmBox range = {2, {cut, cut}, {ny - cut, nx}};
        fill(in, type, ny * nx);
        memset(rows, 0, (size_t)ny * elem);
        memset(columns, 0, (size_t)nx * elem);
        check(adsmReduce(op, one, in, range, -1, &all), "all");
        check(adsmReduce(op, rows, in, range, 0, &all), "rows");
        check(adsmReduce(op, columns, in, range, 1, &all), "columns");
        add(one, elem);
        add(rows, (size_t)ny * elem);
        add(columns, (size_t)nx * elem);
        check(adsmFree(in) + adsmFree(one) + adsmFree(rows) + adsmFree(columns),
              "free");
    }
}

int main(void)
{
    for (int type = ADSM_I32; type <= ADSM_F64; type++)
        for (int op = ADSM_SUM; op <= ADSM_XOR; op++) {
            const adsmOperator *of = adsmOperatorOf((adsmOp)op, (adsmType)type);
            if (!of)
                continue;
            lines(of, (adsmType)type);
            boxes(of, (adsmType)type);
            printf("%d of %d: %016lx\n", op, type, (unsigned long)digest);
        }
    return 0;
}
