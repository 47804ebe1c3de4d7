/*
 * Orders that are fair to all. See rounds.h.
 */
#include "runner/rounds.h"

int rounds_case(int round, int place, int count)
{
    /* Of an odd number the second half of the rounds is the first backwards. */
    if (count % 2 && round / count % 2)
        place = count - 1 - place;
    /* 0, 1, last, 2, last but one, ...: each step is of another width. */
    int first = place % 2 ? (place + 1) / 2 : (count - place / 2) % count;
    return (first + round) % count;
}
