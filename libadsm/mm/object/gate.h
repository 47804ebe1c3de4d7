/*
 * The gates between the CPU and calls that are being made.
 *
 * From the moment a call has released the first object until its kernel is
 * enqueued, no CPU access may fetch or open a block that the kernel may use: it
 * would see, and later write back, what the kernel is about to replace. Calls
 * close gates; faults, returns and the ends of loans pass them. A thread that
 * closes a gate must not touch shared memory until it opens it again.
 *
 * There is a gate for each home, so that a call on one device, which may stay
 * in the driver for long, keeps the CPU off that device's objects only: the
 * accel an object lives on says which gate it is, and where there are more
 * accels than gates, some share one. Gate 0 is for objects without a home. Who
 * passes looks the object up first, and once more behind the gate.
 *
 * A thread passes one gate at a time; another one it may try, but not wait for.
 * It closes those it needs in rising order.
 *
 * Lock: the gates themselves, rank GATE.
 */
#ifndef ADSM_MM_GATE_H
#define ADSM_MM_GATE_H

#include "accel/accel.h"
#include "base/lock.h"

enum { ADSM_GATES = 16 };

struct adsm_gate {
    _Alignas(64) struct adsm_rwlock lock;
};

extern struct adsm_gate adsm_gates[ADSM_GATES];

/** Number of the gate of objects that live on `home`, or nowhere: NULL.
 *  Thread: any. Signal: any handler */
static inline uint32_t adsm_gate_of(const struct adsm_accel *home)
{
    return home ? 1 + adsm_accel_index(home) % (ADSM_GATES - 1) : 0;
}

/** The same as a set of one gate. Thread: any. Signal: any handler */
static inline uint32_t adsm_gate_bit(const struct adsm_accel *home)
{
    return UINT32_C(1) << adsm_gate_of(home);
}

/**
 * The same for the first object there: calls of adsm_gate_close_all close it
 * from here on.
 *
 * Thread: any; holds no lock of rank GATE or later. Signal: never
 */
uint32_t adsm_gate_use(const struct adsm_accel *home);

/** Pass a gate, together with others. Thread: any. Signal: fault path */
static inline void adsm_gate_enter(uint32_t gate)
{
    adsm_rwlock_acquire_shared(&adsm_gates[gate].lock);
}

static inline void adsm_gate_leave(uint32_t gate)
{
    adsm_rwlock_release_shared(&adsm_gates[gate].lock);
}

/** Pass it if it is open; any lock may be held. Signal: fault path */
static inline bool adsm_gate_try_enter(uint32_t gate)
{
    return adsm_rwlock_try_shared(&adsm_gates[gate].lock);
}

/** Close a set of gates for one call, at least one, and open them again.
 *  Thread: any, the same for both. Signal: never */
void adsm_gate_close(uint32_t gates);
void adsm_gate_open(uint32_t gates);

/** Close all that are in use, and keep others from coming into use. Return: the
 *  set, to open. Thread: any. Signal: never */
uint32_t adsm_gate_close_all(void);

#endif
