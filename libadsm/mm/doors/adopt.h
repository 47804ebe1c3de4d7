/*
 * Door 5: the CPU came to device memory that nobody shared so far, and it is
 * shared from then on.
 *
 * Whichever call of the driver made it: what lies at the address is asked then,
 * and becomes an object with whole allocations and whole pages, over the
 * driver's placeholder. All that the device was given before is waited for.
 * What is adopted ends with its memory, which who hears of its end says; and
 * where allocations come or go on its pages, it is written back and given up,
 * to be adopted anew when it is touched the next time.
 *
 * A host function of a stream, which work of other threads may wait for, waits
 * for none of it: what it touches is adopted at once, by the thread that serves
 * it (turn.h). That is right because its blocks stay the device's. The object is
 * `unwaited`: what was given to the device before, and noted by nobody, may still
 * run on it, and is waited for by the first who is no host function.
 *
 * Locks: one of rank ADOPT; shared, nothing is adopted or given up but for host
 * functions. And one of rank ADOPTING, around each object that comes or goes.
 */
#ifndef ADSM_MM_ADOPT_H
#define ADSM_MM_ADOPT_H

#include "mm/object/placeholder.h"

/** Who stands before the driver says whether the calling thread is inside it:
 *  nothing can be adopted there. Before the first adoption. Thread: any. Signal:
 *  never */
void adsm_adopt_unless(bool (*is_inside)(void));

/**
 * Share the device memory at an address, which is marked as a placeholder, or
 * where an object is unwaited.
 *
 * Return: true: there is an object now; false: none is to be had, said by the
 *         log where memory is there
 * Thread: any; holds no lock, is not inside the driver. Signal: fault path,
 *         where the interrupted code is not malloc's
 */
bool adsm_adopt(uintptr_t address);

/** The same for a host function, which has not touched it so far. Thread: that
 *  which serves turns. Signal: never */
bool adsm_adopt_aside(uintptr_t address);

/** The same for all that a range may touch. Return: true: some of it is shared;
 *  it may be given up again at once. Thread: any; as above. Signal: never */
bool adsm_adopt_range(const void *address, size_t bytes);

/**
 * Around work of the program: what it uses, and is not shared, stays so until
 * the work was submitted.
 *
 * Thread: any, the same for both; holds no lock. Signal: never
 */
void adsm_adopt_stay(void);
void adsm_adopt_leave(void);

/**
 * The program has got device memory, which is marked as a placeholder, while
 * something is shared: what has its pages is given up.
 *
 * @mapped  by the program to addresses: it goes on in what is mapped beside it,
 *          which is given up as well
 * Thread: any; holds no lock. Signal: never
 */
void adsm_adopt_note(uint64_t begin, size_t bytes, bool mapped);

/**
 * Around a call that gives memory back to the driver: nobody adopts meanwhile
 * what is about to go. In between, what is adopted there is given up: the
 * allocation at `begin`; what is mapped in a range; all of it, since nothing tells
 * which are a module's variables. What else is on the pages keeps its value.
 *
 * Thread: any, the same for all; holds no lock; waits for work that uses the
 *         memory. Signal: never
 */
void adsm_adopt_stop(void);
void adsm_adopt_end(uint64_t begin);
void adsm_adopt_end_range(uint64_t begin, size_t bytes);
void adsm_adopt_end_all(void);
void adsm_adopt_go_on(void);

/**
 * Before a context is destroyed: nobody adopts until adsm_adopt_go_on. Who waits
 * for work to adopt something gives way, for the work may be the context's and
 * have no end, and nobody may be inside the driver for it then.
 *
 * Return: true; false: somebody could not give way in two seconds, such as who
 *         waits for a stream that the default one does not wait for; nothing is
 *         held
 * Thread: any, the same for both; holds no lock. Signal: never
 */
bool adsm_adopt_part(void);

/** Is the address in an adopted object? Of such memory the driver knows all that
 *  the program may hear. Or in one that is not? Thread: any. Signal: any
 *  handler */
bool adsm_adopt_has(uint64_t address);
bool adsm_adopt_has_other(uint64_t address);

#endif
