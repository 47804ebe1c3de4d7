/*
 * Policy of rolling-update: how many blocks may be dirty, and what is learnt
 * about it.
 *
 * It begins as given, or grows with each allocation (the paper, section 4.3).
 * Then it follows the program. A block that was written back and becomes dirty
 * again before the next call was sent for nothing; had the size been larger by
 * as many blocks as became dirty meanwhile, it had stayed. Where one in eight
 * comes back so, the size grows that way, by a quarter of the distance and at
 * most to the double. A size that is too large shows in nothing that could be
 * counted: after some calls in a row to which few came back a quarter of what
 * was learnt is given up; where they come back then, it is tried half as often.
 *
 * Blocks that were sent are remembered in a table, where another may take their
 * place: that return is missed, nothing worse. Storage comes from the user; no
 * locks, no system calls. Thread: one at a time. Signal: fault path.
 */
#ifndef PROTOCOLS_ROLLING_SIZE_H
#define PROTOCOLS_ROLLING_SIZE_H

#include "protocols/dirty_queue.h"

/** A block that was written back early. */
struct adsm_sent_block {
    uint32_t name;
    uint32_t since; /* of `ever` then, less the limit then */
};

struct adsm_rolling_size {
    uint32_t limit;               /* blocks that may be dirty now            */
    uint32_t least;               /* as given or by allocations; never less  */
    uint32_t most;                /* it never grows beyond                   */
    uint32_t factor;              /* growth by allocation; 0: it was given   */
    struct adsm_sent_block *sent; /* NULL: nothing is learnt                 */
    uint32_t room;                /* there, a power of two                   */
    uint32_t calls;               /* tells what was sent since the last one  */
    uint32_t ever;                /* blocks that became dirty, modulo 2^32   */
    uint32_t dirtied;             /* ... since the last call                 */
    uint32_t back;                /* of these, sent since the last call      */
    uint32_t calm;                /* calls in a row to which few came back   */
    uint32_t patience;            /* of them until less is tried             */
    bool trying;                  /* less was tried, and did no harm yet     */
};

/**
 * @given  rolling size in blocks, 0: grows by `factor` with each allocation
 * @sent   room for so many, all zero; NULL: it stays as given
 */
void adsm_rolling_size_init(struct adsm_rolling_size *size, uint32_t given,
                            uint32_t factor, uint32_t most,
                            struct adsm_sent_block *sent, uint32_t room);

/** An object was allocated. */
void adsm_rolling_size_grow(struct adsm_rolling_size *size);

/** A block was written back early. */
void adsm_rolling_size_sent(struct adsm_rolling_size *size,
                            const struct adsm_dirty_entry *block);

/** A block has become dirty. */
void adsm_rolling_size_dirtied(struct adsm_rolling_size *size,
                               const struct adsm_dirty_entry *block);

/** A call begins: what is dirty goes to the device anyway. */
void adsm_rolling_size_called(struct adsm_rolling_size *size);

#endif
