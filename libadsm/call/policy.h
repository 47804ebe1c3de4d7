/*
 * Where tasks run: a table for each policy.
 *
 * A task is a part of a call that waits until nothing before it is left that it
 * has to come behind. Then its policy says which device it waits for, and in
 * which order those that wait for one go (call/queue.h takes them from there).
 *
 *     static   no task: parts run as the call is made, on devices in order
 *     eager    whichever device is free first, the oldest first
 *     prio     the same, higher priorities first
 *     random   any device, more often those that are fast
 *     ws       one after the other; a device without work steals the youngest
 *              task of the one that has most
 *     dm       where it ends first: what the device still has to do, and how
 *              long it took with this kernel (code/speed.h); also called heft
 *     dmda     and besides the bytes that the device lacks, by its link's rate
 *     dmdar    the same; of a device's tasks the one that lacks least goes first
 *     dmdas    the same; of a device's tasks higher priorities go first
 *
 * A policy never changes a result. Its functions are called with the queue's
 * lock held; they wait for nothing and change nothing but what is their own.
 *
 * Paper: Dastgeer, Kessler and Thibault, "Flexible Runtime Support for Efficient
 *        Skeleton Programming on Heterogeneous GPU-based Systems", section 5:
 *        the policies of StarPU that it compares
 */
#ifndef ADSM_CALL_POLICY_H
#define ADSM_CALL_POLICY_H

#include "call/waiting.h"

enum { ADSM_ANY_DEVICE = -1 };

struct adsm_policy {
    const char *name;
    /* The number of the device that a ready task is to run on, one of its
     * task's; ADSM_ANY_DEVICE: whichever is free first. NULL: no task waits */
    int (*place)(struct adsm_waiting *waiting);
    /* Does one of those that wait for a device go before another that is older?
     * NULL: never */
    bool (*before)(const struct adsm_waiting *a, const struct adsm_waiting *b);
    bool steals; /* a device without work takes it from another */
};

extern const struct adsm_policy adsm_policy_static, adsm_policy_eager,
    adsm_policy_prio, adsm_policy_random, adsm_policy_ws, adsm_policy_dm,
    adsm_policy_dmda, adsm_policy_dmdar, adsm_policy_dmdas;

/** The policy of that name; NULL: of ADSM_POLICY. Return: NULL with a sentence */
const struct adsm_policy *adsm_policy_of(const char *name, const char *kernel);

/** Higher priorities first. */
bool adsm_policy_higher(const struct adsm_waiting *a,
                        const struct adsm_waiting *b);

#endif
