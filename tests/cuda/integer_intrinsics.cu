/*
 * Integer intrinsics: counting, reversing, permuting bytes, funnel shifts, dot
 * products of bytes, high halves of products, saturation, pairs of bytes.
 */
#include "program.h"

enum { KINDS = 24 };

__global__ void compute(const unsigned *as, const unsigned *bs, unsigned *out,
                        int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned a = as[i], b = bs[i], *mine = out + i * KINDS;
    unsigned long long wide = (unsigned long long)a << 32 | b;
    mine[0] = __popc(a);
    mine[1] = __clz(a);
    mine[2] = __ffs(a);
    mine[3] = __brev(a);
    mine[4] = __byte_perm(a, b, 0x3715);
    mine[5] = __funnelshift_l(a, b, b);
    mine[6] = __funnelshift_r(a, b, a);
    mine[7] = __dp4a((int)a, (int)b, 7);
    mine[8] = __umulhi(a, b);
    mine[9] = __mulhi((int)a, (int)b);
    mine[10] = __popcll(wide) * 100 + __clzll(wide);
    mine[11] = (unsigned)(__brevll(wide) >> 20);
    mine[12] = (unsigned)__umul64hi(wide, wide ^ 0x123456789abcdefu);
    mine[13] = __sad((int)a, (int)b, 5u);
    mine[14] = __usad(a, b, 5u);
    mine[15] = __hadd((int)a, (int)b);
    mine[16] = __urhadd(a, b);
    mine[17] = __mul24((int)a, (int)b);
    mine[18] = __vadd4(a, b);
    mine[19] = __vabsdiffu4(a, b);
    mine[20] = __vmaxs2(a, b);
    mine[21] = __dp2a_lo((int)a, (int)b, -3);
    mine[22] = __funnelshift_lc(a, b, 40) ^ __ffsll(wide & (0 - wide));
    mine[23] = __float_as_uint(__int_as_float(a & 0x3fffffff) * 2.0f);
}

static unsigned bytewise(unsigned a, unsigned b, int kind)
{
    unsigned result = 0;
    for (int k = 0; k < 4; k++) {
        int x = a >> 8 * k & 255, y = b >> 8 * k & 255;
        int z = kind ? std::abs(x - y) : (x + y) & 255;
        result |= (unsigned)z << 8 * k;
    }
    return result;
}

static unsigned bits_at(unsigned a, int from, int count)
{
    return a >> from & ((1ull << count) - 1);
}

static unsigned reversed(unsigned a)
{
    unsigned result = 0;
    for (int k = 0; k < 32; k++)
        result |= (a >> k & 1) << (31 - k);
    return result;
}

static int leading(unsigned a)
{
    int count = 0;
    while (count < 32 && !(a >> (31 - count) & 1))
        count++;
    return count;
}

static void expected(unsigned a, unsigned b, unsigned *want)
{
    int x = (int)a, y = (int)b, dot = 7, dot2 = -3, count = 0, first = 0;
    unsigned __int128 square;
    unsigned long long wide = (unsigned long long)a << 32 | b;
    unsigned long long both = (unsigned long long)b << 32 | a;
    for (int k = 0; k < 32; k++) {
        count += a >> k & 1;
        first = !first && a >> k & 1 ? k + 1 : first;
    }
    for (int k = 0; k < 4; k++)
        dot += (signed char)bits_at(a, 8 * k, 8) *
               (signed char)bits_at(b, 8 * k, 8);
    for (int k = 0; k < 2; k++)
        dot2 +=
            (short)bits_at(a, 16 * k, 16) * (signed char)bits_at(b, 8 * k, 8);
    square = (unsigned __int128)wide * (wide ^ 0x123456789abcdefu);
    want[0] = count;
    want[1] = leading(a);
    want[2] = first;
    want[3] = reversed(a);
    want[4] = bits_at(b, 8, 8) | bits_at(a, 8, 8) << 8 |
              bits_at(b, 24, 8) << 16 | bits_at(a, 24, 8) << 24;
    want[5] = (unsigned)((both << (b & 31)) >> 32);
    want[6] = (unsigned)(both >> (a & 31));
    want[7] = (unsigned)dot;
    want[8] = (unsigned)((unsigned long long)a * b >> 32);
    want[9] = (unsigned)((long long)x * y >> 32);
    want[10] =
        100 * __builtin_popcountll(wide) + (a ? leading(a) : 32 + leading(b));
    want[11] =
        (unsigned)(((unsigned long long)reversed(b) << 32 | reversed(a)) >> 20);
    want[12] = (unsigned)(square >> 64);
    want[13] = 5 + (unsigned)std::llabs((long long)x - y);
    want[14] = 5 + (a > b ? a - b : b - a);
    want[15] = (unsigned)(((long long)x + y) >> 1);
    want[16] = (unsigned)(((unsigned long long)a + b + 1) >> 1);
    want[17] = (unsigned)((long long)(x << 8 >> 8) * (y << 8 >> 8));
    want[18] = bytewise(a, b, 0);
    want[19] = bytewise(a, b, 1);
    want[20] = 0;
    for (int k = 0; k < 2; k++) {
        short p = (short)bits_at(a, 16 * k, 16);
        short q = (short)bits_at(b, 16 * k, 16);
        want[20] |= (unsigned)(unsigned short)(p > q ? p : q) << 16 * k;
    }
    want[21] = (unsigned)dot2;
    want[22] = a ^ (wide ? __builtin_ctzll(wide) + 1 : 0);
    float value;
    unsigned bits = a & 0x3fffffff;
    memcpy(&value, &bits, 4);
    value *= 2;
    memcpy(&want[23], &value, 4);
}

int main()
{
    const int n = 2000;
    const unsigned special[] = {0,          1,          0x80000000, 0xffffffff,
                                0x7fffffff, 0x00ff00ff, 31,         0x80808080};
    std::vector<unsigned> a(n), b(n);
    Random random(36);
    for (int i = 0; i < n; i++) {
        a[i] = i < 64 ? special[i / 8] : random.bits() >> random.below(32);
        b[i] = i < 64 ? special[i % 8] : random.bits() << random.below(32);
    }
    unsigned *device_a = to_device(a), *device_b = to_device(b);
    unsigned *out = new_on_device<unsigned>(n * KINDS);
    compute<<<(n + 127) / 128, 128>>>(device_a, device_b, out, n);
    std::vector<unsigned> got = to_host(out, n * KINDS);
    for (int i = 0; i < n; i++) {
        unsigned want[KINDS];
        expected(a[i], b[i], want);
        for (int k = 0; k < KINDS; k++)
            EXPECT(got[i * KINDS + k] == want[k], "%x %x kind %d: %x, not %x",
                   a[i], b[i], k, got[i * KINDS + k], want[k]);
    }
    CHECK(cudaFree(device_a));
    CHECK(cudaFree(device_b));
    CHECK(cudaFree(out));
    return pass("integer_intrinsics", "kinds %d digest %016llx", KINDS,
                (unsigned long long)digest(got));
}
