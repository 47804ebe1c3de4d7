/* Which watches there are; see watch.h. */
#include "mm/watch/watch.h"

#include "mm/watch/ahead.h"
#include "mm/watch/dense.h"
#include "mm/watch/grain.h"
#include "mm/watch/keep.h"
#include "mm/watch/scatter.h"
#include "mm/watch/sparse.h"
#include "mm/watch/twin.h"

int adsm_watch_begin(struct adsm_object *object, bool alone,
                     const struct adsm_protocol *protocol)
{
    adsm_ahead_init(object, protocol);
    adsm_grain_init(object, alone);
    int rc = adsm_sparse_init(object, protocol);
    if (rc == ADSM_OK)
        rc = adsm_scatter_init(object, protocol);
    if (rc == ADSM_OK && alone)
        rc = adsm_dense_init(object);
    return rc;
}

void adsm_watch_nothing(struct adsm_object *object)
{
    object->ahead = NULL;
    object->sparse = NULL;
    object->dense = NULL;
    object->scatter = NULL;
    object->reach = 1;
    atomic_store(&object->watched, 0);
}

/* Twins and marks are made when they are needed. */
void adsm_watch_end(struct adsm_object *object)
{
    adsm_ahead_free(object);
    adsm_twin_free(object);
    adsm_keep_free(object);
    adsm_dense_fini(object);
    adsm_sparse_fini(object);
    adsm_scatter_fini(object);
}
