/* Arrays that are used again. */
#include "call/scratch.h"

#include "call/detail.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 64 }; /* elements */

static struct {
    pthread_mutex_t lock;
    struct adsm_scratch *first; /* oldest first */
    size_t bytes;
} unused = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t bytes_of(const struct adsm_scratch *s)
{
    size_t bytes = s->elem;
    for (int d = 0; d < s->shape.nd; d++)
        bytes *= (size_t)s->shape.hi[d];
    return bytes;
}

static struct adsm_scratch *reuse(size_t elem, const adsmBox *shape)
{
    struct adsm_scratch *found = NULL;
    pthread_mutex_lock(&unused.lock);
    for (struct adsm_scratch **at = &unused.first; *at; at = &(*at)->next) {
        if ((*at)->elem != elem ||
            memcmp(&(*at)->shape, shape, sizeof *shape) != 0)
            continue;
        found = *at;
        *at = found->next;
        unused.bytes -= bytes_of(found);
        break;
    }
    pthread_mutex_unlock(&unused.lock);
    return found;
}

struct adsm_scratch *adsm_scratch_take(size_t elem, adsmBox shape, int *rc)
{
    /* Of one dimension: of few sizes, so that others can use it, too. */
    if (shape.nd == 1) {
        long n = LEAST;
        while (n < shape.hi[0])
            n *= 2;
        shape.hi[0] = n;
    }
    *rc = ADSM_OK;
    struct adsm_scratch *s = reuse(elem, &shape);
    if (s)
        return s;
    s = malloc(sizeof *s);
    if (!s) {
        *rc = adsm_detail(ADSM_E_NOMEM, "no memory for partial results");
        return NULL;
    }
    *s = (struct adsm_scratch){NULL, NULL, elem, shape};
    s->array = adsmAllocArray(elem, shape, ADSM_NO_HOME);
    if (!s->array) {
        *rc = adsmLastStatus();
        free(s);
        return NULL;
    }
    return s;
}

void adsm_scratch_give(struct adsm_scratch *s)
{
    struct adsm_scratch *old = NULL, **end = &old, **last = &unused.first;
    if (!s)
        return;
    s->next = NULL;
    pthread_mutex_lock(&unused.lock);
    while (*last)
        last = &(*last)->next;
    *last = s;
    unused.bytes += bytes_of(s);
    while (unused.bytes > ADSM_SCRATCH_MOST) {
        *end = unused.first;
        unused.first = unused.first->next;
        unused.bytes -= bytes_of(*end);
        end = &(*end)->next;
        *end = NULL;
    }
    pthread_mutex_unlock(&unused.lock);
    while (old) {
        struct adsm_scratch *next = old->next;
        (void)adsmFree(old->array);
        free(old);
        old = next;
    }
}
