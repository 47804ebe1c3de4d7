/*
 * Host functions of streams (cuLaunchHostFunc, cuStreamAddCallback): the CPU's
 * turn between two pieces of device work.
 *
 * A host function runs at a point of its stream. What is ahead of it has ended;
 * what is behind it is enqueued, has released the objects it uses, and has not
 * begun. From that follows what its accesses need:
 *
 * - The function must not call the driver, so a thread of the runtime copies
 *   for it, on a stream that waits for nothing. A fetch as other threads make
 *   it would wait for the work behind the function, which waits for it.
 * - To the protocol the blocks stay what they are, mostly the device's: the
 *   calls behind the function have released them. Pieces of them are opened for
 *   the length of the turn. At its end what the function has changed, and no
 *   other byte, goes to the device before the work behind it begins, and the
 *   pieces are closed again.
 * - An upload that was enqueued behind the function leaves after it and takes
 *   along what the function writes. Until then the host has the newest bytes.
 *
 * Other threads that wait for the device may wait for a host function with it,
 * and must hold nothing meanwhile that the function's accesses need: while one
 * is expected, adsm_turn_pass waits before it takes the gate and the object.
 *
 * One turn is served at a time; CUDA allows host functions to be serialised.
 * While a piece is open it is so to every thread: who reads there what the work
 * behind the function makes has to wait for that work as CUDA asks for.
 *
 * Locks: callers hold none of rank GATE or later, except where it says so.
 * Between adsm_turn_submit and adsm_turn_submitted all gates are closed.
 */
#ifndef ADSM_MM_TURN_H
#define ADSM_MM_TURN_H

#include "mm/object/object.h"
#include "os/fault.h"

struct adsm_turn_piece;

/** A host function on its way through its thread. */
struct adsm_turn {
    struct adsm_accel *accel; /* of its stream; NULL: not known            */
    uint64_t uploads;         /* the newest upload enqueued before it      */
    uint32_t gates;           /* closed by adsm_turn_submit                */
    bool counted;             /* by adsm_turn_submit                       */
    bool served;              /* owns the runtime's thread until its end   */
    struct adsm_turn_piece *pieces;
    pid_t thread;           /* its function's, while that runs             */
    struct adsm_turn *next; /* turn_serve.c: running as well               */
    struct adsm_lock lock;  /* rank API: one access at a time, where       */
    _Atomic uint32_t users; /* others answer its thread's: how many do now */
};

/**
 * Start the thread that serves turns. Idempotent.
 *
 * Return: ADSM_OK; ADSM_E_SYSTEM: no thread is to be had
 * Thread: any. Signal: never
 */
int adsm_turn_start(void) ADSM_MUST_CHECK;

/**
 * Around the call that enqueues a host function: no access waits for the device
 * meanwhile. `submitted` orders later uploads and accesses behind the function
 * where `ok`, and forgets it otherwise. Between the two the thread must not
 * touch shared memory.
 *
 * @turn  accel set; gets what the function's turn needs
 * Thread: any. Signal: never
 */
void adsm_turn_submit(struct adsm_turn *turn);
void adsm_turn_submitted(struct adsm_turn *turn, adsm_stream stream,
                         bool per_thread, bool ok);

/** May a host function be ahead of what is submitted now? Thread: any. Signal: any
 *  handler */
bool adsm_turn_is_expected(void);

/** Host functions may come with any graph from here on. Thread: any.
 *  Signal: never */
void adsm_turn_expect_always(void);

/** Before a graph is launched: its functions may take every upload that has
 *  not ended for one behind them. Waits for those ahead. Thread: any.
 *  Signal: never */
int adsm_turn_before_graph(struct adsm_accel *accel) ADSM_MUST_CHECK;

/**
 * The calling thread begins or ends a host function. `end` returns when the
 * device has what the function wrote.
 *
 * Thread: the one that runs the function. Signal: never
 */
void adsm_turn_begin(struct adsm_turn *turn);
void adsm_turn_end(void);

/** Is the calling thread inside a host function? Thread: any.
 *  Signal: any handler */
bool adsm_turn_is_mine(void);

/**
 * Is the thread whose access is answered (adsm_fault_thread) inside a host
 * function? Its turn lasts until it is let go of.
 *
 * Return: NULL: no. Thread: any. Signal: fault path
 */
struct adsm_turn *adsm_turn_hold(void);
void adsm_turn_let_go(struct adsm_turn *turn);

/**
 * An access of a host function to one byte, or to a range: what adsm_touch and
 * adsm_loan_begin are elsewhere. @cause  why it wants them, as there
 *
 * Return: ADSM_OK; ADSM_E_NOT_SHARED; why the bytes cannot be had
 * Thread: that of the function, or one that holds the turn. Signal: fault path
 */
int adsm_turn_touch(struct adsm_turn *turn, uintptr_t address,
                    enum adsm_access access,
                    const struct adsm_cause *cause) ADSM_MUST_CHECK;
int adsm_turn_touch_range(const struct adsm_object *object, size_t offset,
                          size_t bytes, enum adsm_access access,
                          const struct adsm_cause *cause) ADSM_MUST_CHECK;

/**
 * Find the object at `address` and pass its gate; its lock is held shared. Waits
 * first, holding nothing, where a fetch might wait for a host function, or would
 * have to wait for work that nobody noted (adopt.h).
 *
 * @gate   gets the number of the gate, which the caller leaves
 * Return: NULL: not shared, nothing is held and no gate passed
 * Thread: any. Signal: fault path
 */
struct adsm_object *adsm_turn_pass(const void *address, uint32_t *gate);

/**
 * The same for who is about to send what is dirty of it: its lock is held
 * exclusively. Memory that is not page-locked the driver reads before its call
 * returns. Enqueued behind a host function, that would wait for the function,
 * with the lock held, or miss what the function writes; so where that is to be
 * sent, functions are waited for first, holding nothing, and none comes until
 * adsm_turn_sent.
 *
 * @gate   gets what to give to adsm_turn_sent, whatever is returned
 * Return: NULL: not shared
 * Thread: any; holds no lock of rank GATE or later. Signal: fault path
 */
enum { ADSM_NO_GATE = UINT8_MAX };
struct adsm_object *adsm_turn_take(const void *address, uint32_t *gate);
void adsm_turn_sent(uint32_t gate);

/** Would sending what is dirty of it wait so? Asked as the next one. Thread: any.
 *  Signal: fault path */
bool adsm_turn_must_wait_to_send(const struct adsm_object *object);

/** The home of an object behind one of these gates of which that is so; NULL:
 *  there is none. Thread: any. Signal: never */
struct adsm_accel *adsm_turn_ahead(uint32_t gates);

/** Would a fetch from `accel` wait, maybe for a host function? Asked with a
 *  gate passed, behind which none is enqueued; any lock may be held. Thread: any.
 *  Signal: fault path */
bool adsm_turn_must_wait(struct adsm_accel *accel);

/** Wait for what it would wait for. Nothing is held. Thread: any.
 *  Signal: fault path */
void adsm_turn_wait(struct adsm_accel *accel);

#endif
