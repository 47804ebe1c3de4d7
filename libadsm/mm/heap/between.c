/* How much device memory is on its way; see between.h. */
#include "mm/heap/between.h"

#include <stdatomic.h>

static struct {
    _Atomic uint64_t begun, ended;
} between;

void adsm_between_begin(void)
{
    atomic_fetch_add(&between.begun, 1);
}

void adsm_between_end(void)
{
    atomic_fetch_add(&between.ended, 1);
}

uint64_t adsm_between_ended(void)
{
    return atomic_load(&between.ended);
}

bool adsm_between_since(uint64_t ended)
{
    return atomic_load(&between.begun) != ended;
}
