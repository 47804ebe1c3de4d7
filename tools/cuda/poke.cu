/*
 * Stores of the CPU that were gathered (libadsm/accel/poke_log.c), a word each:
 * a thread writes those of its bytes that were stored. The words are parameters,
 * so there is no memory of the device for them, and nothing to be copied first.
 */
#include "adsm_device.h"

enum { WORDS = 240 };

struct words {
    unsigned long at[WORDS], value[WORDS];
    unsigned char stored[WORDS]; /* a bit for each byte, the lowest first */
    unsigned count;
};

extern "C" __global__ void adsm_poke(const words log)
{
    unsigned i = threadIdx.x;
    if (i >= log.count)
        return;
    unsigned long at = log.at[i], value = log.value[i];
    if (log.stored[i] == 0xff)
        *(unsigned long *)at = value;
    else
        for (unsigned k = 0; k < 8; k++)
            if (log.stored[i] >> k & 1)
                ((unsigned char *)at)[k] = (unsigned char)(value >> 8 * k);
}
