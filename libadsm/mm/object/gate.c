/* Sets of gates, closed in rising order; see gate.h. */
#include "mm/object/gate.h"

struct adsm_gate adsm_gates[ADSM_GATES] = {
    [0 ... ADSM_GATES - 1] = {ADSM_RWLOCK_INIT(ADSM_RANK_GATE)}};

/* Gates with objects behind them, and gate 0, under which others come in. */
static _Atomic uint32_t used = 1;

uint32_t adsm_gate_use(const struct adsm_accel *home)
{
    uint32_t gate = adsm_gate_of(home);
    uint32_t bit = UINT32_C(1) << gate;
    if (!(atomic_load(&used) & bit)) {
        adsm_gate_close(1);
        atomic_fetch_or(&used, bit);
        adsm_gate_open(1);
    }
    return gate;
}

/* Gates of the set, while others of lower numbers are closed. */
static void close_more(uint32_t gates)
{
    for (; gates; gates &= gates - 1)
        adsm_rwlock_acquire_another(&adsm_gates[__builtin_ctz(gates)].lock);
}

void adsm_gate_close(uint32_t gates)
{
    adsm_rwlock_acquire(&adsm_gates[__builtin_ctz(gates)].lock);
    close_more(gates & (gates - 1));
}

void adsm_gate_open(uint32_t gates)
{
    for (; gates; gates &= gates - 1)
        adsm_rwlock_release(&adsm_gates[__builtin_ctz(gates)].lock);
}

uint32_t adsm_gate_close_all(void)
{
    adsm_gate_close(1);
    uint32_t gates = atomic_load(&used);
    close_more(gates & ~UINT32_C(1));
    return gates;
}
