/*
 * The grey of a colour: sRGB made linear, the luminance of BT.709, and sRGB again.
 *
 * One text for the device and the CPU. What it does, additions, products,
 * quotients and square roots that IEEE 754 rounds, has the same bits on both;
 * powers are roots found by Newton's rule in as many steps as make no difference.
 *
 * Thread: any. Signal: any handler
 *
 * Paper: Parisi, "Optimization of Parallel Computations on Heterogeneous
 *        GPU-Based Systems", 4.5 and Appendix B; differs: bytes come and go, and
 *        1.055 stands outside of the last power, as sRGB has it
 */
#ifndef BENCH_STREAM_GREY_H
#define BENCH_STREAM_GREY_H

#ifdef __CUDA__
#define GREY         static __device__ inline
#define GREY_ROOT(x) __nvvm_sqrt_rn_f(x)
#else
#define GREY         static inline
#define GREY_ROOT(x) __builtin_sqrtf(x)
#endif

/* What greys by table read, words: what each byte of red, of green and of blue
 * adds to the luminance, which is 65535 at most; then the grey of each luminance,
 * a byte each. */
enum { GREY_CURVE = 3 * 256, GREY_WHITE = 65535 };
enum { GREY_TABLE = GREY_CURVE + (GREY_WHITE + 1) / 4 };

/* x from 0.08 to 1, to the power 2.4: the fifth root's square by x squared. */
GREY float grey_power(float x)
{
    float root = 0.6f + 0.4f * x;
    for (int i = 0; i < 5; i++) {
        float square = root * root;
        root = (4 * root + x / (square * square)) / 5;
    }
    return x * x * (root * root);
}

/* y from 0.003 to 1, to the power 1 / 2.4: the twelfth root's fifth power. */
GREY float grey_unpower(float y)
{
    float fourth = GREY_ROOT(GREY_ROOT(y)), root = 0.5f + 0.5f * fourth;
    for (int i = 0; i < 5; i++)
        root = (2 * root + fourth / (root * root)) / 3;
    float square = root * root;
    return square * square * root;
}

/** From sRGB, 0 to 255, to linear, 0 to 1. */
GREY float grey_linear(unsigned byte)
{
    float x = (float)byte / 255;
    return x > 0.04045f ? grey_power((x + 0.055f) / 1.055f) : x / 12.92f;
}

/** From linear, 0 to 1, to the byte of sRGB. */
GREY unsigned char grey_byte(float y)
{
    y = y > 0.0031308f ? 1.055f * grey_unpower(y) - 0.055f : 12.92f * y;
    return (unsigned char)(y * 255 + 0.5f);
}

/** A pixel is red, green, blue and alpha, a byte each, red the lowest. */
GREY unsigned char grey_exact(unsigned pixel)
{
    return grey_byte(0.2126f * grey_linear(pixel & 255) +
                     0.7152f * grey_linear(pixel >> 8 & 255) +
                     0.0722f * grey_linear(pixel >> 16 & 255));
}

/** The same by table, within a tenth of a step of the grey before it is rounded. */
GREY unsigned char grey_by_table(unsigned pixel, const unsigned *table)
{
    const unsigned char *curve = (const unsigned char *)(table + GREY_CURVE);
    return curve[table[pixel & 255] + table[256 + (pixel >> 8 & 255)] +
                 table[512 + (pixel >> 16 & 255)]];
}

#endif
