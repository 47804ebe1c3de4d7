/*
 * Stretches in which the calling thread cannot be cancelled.
 *
 * State and type are both taken away. The state alone is not enough: a
 * cancellation that was sent before it was changed is carried out by glibc if
 * the type is still asynchronous, and one that came meanwhile would be carried
 * out by setting the state, which leaves the thread's result behind.
 */
#ifndef ADSM_BASE_CANCEL_H
#define ADSM_BASE_CANCEL_H

#include <pthread.h>

struct adsm_cancel {
    int state, type;
};

/** What ends a stretch that is part of one that another has begun: nothing. */
#define ADSM_CANCEL_HELD ((struct adsm_cancel){-1, -1})

/** Begin a stretch; they nest. Return: what ends it. Signal: fault path */
static inline struct adsm_cancel adsm_cancel_hold(void)
{
    struct adsm_cancel before;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before.type);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before.state);
    return before;
}

/** End it. A thread of asynchronous type may end in here. Signal: fault path */
static inline void adsm_cancel_release(struct adsm_cancel before)
{
    if (before.state < 0)
        return;
    pthread_setcancelstate(before.state, NULL);
    pthread_setcanceltype(before.type, NULL);
}

static inline void adsm_cancel_end(const struct adsm_cancel *before)
{
    adsm_cancel_release(*before);
}

/** A stretch from here to the end of the block, however that is left. */
#define ADSM_NOT_CANCELLED                                                     \
    const struct adsm_cancel not_cancelled                                     \
        __attribute__((cleanup(adsm_cancel_end), unused)) = adsm_cancel_hold()

#endif
