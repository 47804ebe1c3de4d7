/*
 * Who holds what of one object, and the copies that a use of it needs.
 *
 * Owns the rules: how a fold, a read, a write, an eviction or a lost device
 * changes the map of holders, and which transfers come before. Does none of
 * them and allocates no device memory; what is to be moved is appended to the
 * caller's list, in the order in which it must be enqueued.
 *
 * A use of an object lies between adsm_plan_begin and adsm_plan_end. In between
 * every change that was planned can be taken back (adsm_plan_undo) and a
 * reserved write cannot fail:
 *
 *     begin, fold..., choose, make and enter copies, read...,
 *     enqueue the moves,  reserve writes,  launch,  write...,  end
 *
 * Uses may overlap. A function that fails has changed no set of holders and
 * appended no move.
 *
 * Lock: the object's, exclusive. Only adsm_plan_fetch takes it shared.
 * Thread: any that holds it. Signal: never, unless said otherwise.
 * Invariant: adsm_held_is_valid().
 */
#ifndef ADSM_RANGE_PLAN_H
#define ADSM_RANGE_PLAN_H

#include "range/copy.h"
#include "range/map.h"

/** May bytes go from one device to another without the host? */
typedef bool adsm_plan_direct(const struct adsm_accel *from,
                              const struct adsm_accel *to);

struct adsm_held {
    struct adsm_map map;
    struct adsm_copy *copies[ADSM_HOLDERS]; /* by number; [0] is never one */
    uint32_t top;                           /* numbers from here on are free */
    adsm_plan_direct *direct;
};

/** Copy `box` from one holder to another. */
struct adsm_move {
    uint8_t from, to;
    adsmBox box;
};

/* Zero is an empty list; items are free()d by the caller. */
struct adsm_moves {
    struct adsm_move *items;
    uint32_t count, capacity;
};

/** All of `whole`, held by `holder`, which is the host or the copy at home that
 *  will be entered next. Return: ADSM_OK; ADSM_E_NOMEM */
int adsm_held_init(struct adsm_held *held, const adsmBox *whole,
                   unsigned holder, adsm_plan_direct *direct) ADSM_MUST_CHECK;
void adsm_held_fini(struct adsm_held *held);

/** Give a copy its number; it holds nothing yet. Return: ADSM_OK; ADSM_E_LIMIT
 *  (there are 254 already: evict adsm_held_oldest, or one after it) */
int adsm_held_enter(struct adsm_held *held,
                    struct adsm_copy *copy) ADSM_MUST_CHECK;

/** The copy that was used longest ago, of those that may go and were last used
 *  later than `after`, which is 0 for all of them; or NULL. */
struct adsm_copy *adsm_held_oldest(const struct adsm_held *held,
                                   uint64_t after);

/** Of the passing copies on a device, where there are more than `most`, the one
 *  that was used longest ago and may go; else NULL. */
struct adsm_copy *adsm_held_passing(const struct adsm_held *held,
                                    const struct adsm_accel *accel,
                                    uint32_t most);

/** The same bytes in another shape. `holder`, the host or the home, has all of
 *  them, there is no copy but the one at home, and no use. */
void adsm_held_reshape(struct adsm_held *held, const adsmBox *whole,
                       unsigned holder);

/** The host has all of the object from now on and is its only holder: the home,
 *  which is the only copy, has no number any more. There is no use. Another that
 *  is entered later holds nothing yet. */
void adsm_held_alone(struct adsm_held *held);

/** The structure's specification; for assertions and tests. */
bool adsm_held_is_valid(const struct adsm_held *held);

/** Begin a use. A crowded map loses its smallest boxes to the host, which may
 *  need moves. Return: ADSM_OK; ADSM_E_NOMEM (nothing began) */
int adsm_plan_begin(struct adsm_held *held,
                    struct adsm_moves *moves) ADSM_MUST_CHECK;
void adsm_plan_end(struct adsm_held *held);

/**
 * Take over what a block of the CPU says of bytes [begin, end): that the host
 * has them as well (READ_ONLY), or it alone (DIRTY).
 *
 * Return: ADSM_OK; ADSM_E_NOMEM
 */
int adsm_plan_fold(struct adsm_held *held, size_t begin, size_t end,
                   bool alone) ADSM_MUST_CHECK;

/**
 * Bring to a copy what it lacks of `box`, from, in this order: a copy on its
 * device, the host, a copy that may be reached directly, any copy through the
 * host, which then has it as well.
 *
 * @box  in the copy's
 * Return: ADSM_OK; ADSM_E_NOMEM
 * Paper:  Dastgeer and Kessler, "Smart Containers and Skeleton Programming for
 *         GPU-Based Systems", Algorithm 1; differs: only the bytes wanted go
 *         through the host
 */
int adsm_plan_read(struct adsm_held *held, struct adsm_copy *copy,
                   const adsmBox *box,
                   struct adsm_moves *moves) ADSM_MUST_CHECK;

/** The same for bytes that are put elsewhere in the copy's memory (a margin):
 *  any box, also from the copy itself, which does not become its holder. */
int adsm_plan_gather(struct adsm_held *held, struct adsm_copy *copy,
                     const adsmBox *box,
                     struct adsm_moves *moves) ADSM_MUST_CHECK;

/** Take back moves from `first` on, and drop them from the list: those of reads,
 *  gathers and adsm_plan_to_host in this use that were not enqueued. */
void adsm_plan_undo(struct adsm_held *held, struct adsm_moves *moves,
                    uint32_t first);

/**
 * A write of `box` by a kernel: reserved before its launch, told when it is
 * enqueued, in the same use. The copy is then the only holder.
 *
 * Paper:  as above, Algorithm 2; differs: what others have around the box
 *         stays valid where it is
 */
int adsm_plan_reserve(struct adsm_held *held,
                      const adsmBox *box) ADSM_MUST_CHECK;
void adsm_plan_write(struct adsm_held *held, const struct adsm_copy *copy,
                     const adsmBox *box);

/** Bring all to the copy at home, or where there is none to the host, for whom
 *  the map means nothing. Return: ADSM_OK; ADSM_E_NOMEM */
int adsm_plan_settle(struct adsm_held *held,
                     struct adsm_moves *moves) ADSM_MUST_CHECK;

/** Bring what the host lacks of a box to it. Return: ADSM_OK; ADSM_E_NOMEM */
int adsm_plan_to_host(struct adsm_held *held, const adsmBox *box,
                      struct adsm_moves *moves) ADSM_MUST_CHECK;

/** Nobody needs the values of `box` any more. Return: ADSM_OK; ADSM_E_NOMEM */
int adsm_plan_discard(struct adsm_held *held,
                      const adsmBox *box) ADSM_MUST_CHECK;

/** Give up a copy that nobody uses: what it alone has goes to the host, and its
 *  number is free. Return: ADSM_OK; ADSM_E_NOMEM (it stays) */
int adsm_plan_evict(struct adsm_held *held, struct adsm_copy *copy,
                    struct adsm_moves *moves) ADSM_MUST_CHECK;

/**
 * A device is lost: its copies hold nothing and have no number any more. What
 * the CPU's blocks say was folded before.
 *
 * @drop  called for each of them, with `context`; NULL: not wanted
 * Return: bytes that no other had, which are the host's now, whatever it has
 */
typedef void adsm_plan_drop(struct adsm_copy *copy, void *context);
size_t adsm_plan_lost(struct adsm_held *held, const struct adsm_accel *accel,
                      adsm_plan_drop *drop, void *context);

/**
 * What the host lacks of bytes [begin, end), and the copy to fetch it from.
 *
 * @rank   the copy with the lowest rank is chosen; NULL: the first
 * @visit  called for each box; not 0 ends the walk and is returned
 * Lock:   shared is enough. Signal: fault path, as far as the functions are
 */
typedef uint64_t adsm_plan_rank(const struct adsm_copy *copy,
                                const adsmBox *box, void *context);
typedef int adsm_plan_visit(struct adsm_copy *copy, const adsmBox *box,
                            void *context);
int adsm_plan_fetch(const struct adsm_held *held, size_t begin, size_t end,
                    adsm_plan_rank *rank, adsm_plan_visit *visit,
                    void *context);

/* What an argument of one part needs of the object. */
struct adsm_need {
    adsmBox box;
    uint8_t mode;           /* adsmMode                                  */
    uint8_t fresh;          /* where there is none: index of a new box */
    struct adsm_copy *copy; /* the copy that serves it, or NULL        */
};

enum {
    ADSM_WANTS = 64, /* most of one part and object                       */
    ADSM_FRESH = 3   /* boxes: a new one, and two that the choice works on */
};

/**
 * Which copies on a device serve the arguments of one part, and which have to
 * be made.
 *
 * A copy that is there serves what lies in it: that which lacks least of what
 * is read. Boxes that no copy serves share a new one where their convex union
 * has at most 5% that none of them needs; others get their own, although reads
 * may overlap. Writes that overlap get one copy for all of them.
 *
 * @reuse  false: each argument has a copy of its own
 * @fresh  room for ADSM_FRESH of each want: first the copies to be made
 * Return: their number
 * Paper:  Ramashekar and Bondhugula, Algorithm 2 and bb_present; differs: boxes
 *         are not cut, a kernel finds an argument in one copy
 */
int adsm_plan_choose(const struct adsm_held *held,
                     const struct adsm_accel *accel, bool reuse,
                     struct adsm_need *wants, int count, adsmBox *fresh);

/** What evicting all that nobody uses would free. Asked before the first
 *  eviction. Thread: one that holds the list */
size_t adsm_copies_free_bytes(const struct adsm_copies *list);

/** The next copy to evict, the oldest that nobody uses; NULL: none. Thread: as
 *  above */
struct adsm_copy *adsm_copies_victim(const struct adsm_copies *list);

#endif
