/* Who gives up copies; see copies.h. */
#include "mm/heap/copies.h"

static adsm_copies_function *function;

void adsm_copies_set(adsm_copies_function *give_up)
{
    function = give_up;
}

bool adsm_copies_give_up(struct adsm_accel *accel, size_t bytes)
{
    return function && function(accel, bytes);
}
