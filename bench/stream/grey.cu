/*
 * Pictures in grey, a pixel a thread, with arithmetic and by table.
 *
 * Built into grey.ptx by tools/ptx.sh.
 */
#include "adsm_device.h"

#include "grey.h"

extern "C" __global__ void exact(long i0, long i1, const unsigned *pixels,
                                 unsigned char *grey)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        grey[i] = grey_exact(pixels[i]);
}

extern "C" __global__ void by_table(long i0, long i1, const unsigned *pixels,
                                    unsigned char *grey, const unsigned *table)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        grey[i] = grey_by_table(pixels[i], table);
}
