/* Best fit over shared granules; see share.h. */
#include "accel/share.h"

#include "base/pool.h"

#include <string.h>
#include <utlist.h>

static struct adsm_pool pool =
    ADSM_POOL_INIT(sizeof(struct adsm_share), _Alignof(struct adsm_share));

/* Put the granule where its longest free run says; a full one in no list. */
static void list(struct adsm_shares *shares, struct adsm_share *share)
{
    share->longest = adsm_granules_longest(&share->pages);
    if (share->longest > 0)
        DL_PREPEND(shares->with[share->longest], share);
}

static void unlist(struct adsm_shares *shares, struct adsm_share *share)
{
    if (share->longest > 0)
        DL_DELETE(shares->with[share->longest], share);
}

struct adsm_share *adsm_share_create(struct adsm_shares *shares, uint64_t at,
                                     uint64_t handle, size_t pages)
{
    struct adsm_share *share = adsm_pool_get(&pool);
    if (!share)
        return NULL;
    memset(share, 0, sizeof *share);
    adsm_granules_init_in(&share->pages, share->words, ADSM_SHARE_PAGES);
    share->at = at;
    share->handle = handle;
    (void)adsm_granules_take(&share->pages, pages);
    list(shares, share);
    return share;
}

struct adsm_share *adsm_share_take(struct adsm_shares *shares, size_t pages,
                                   uint64_t *at)
{
    struct adsm_share *share = NULL;
    for (size_t run = pages; !share && run < ADSM_SHARE_PAGES; run++)
        share = shares->with[run];
    if (!share)
        return NULL;
    unlist(shares, share);
    *at = share->at +
          adsm_granules_take(&share->pages, pages) * ADSM_SHARE_PAGE_BYTES;
    list(shares, share);
    return share;
}

bool adsm_share_give(struct adsm_shares *shares, struct adsm_share *share,
                     uint64_t at, size_t pages, bool *gave)
{
    unlist(shares, share);
    *gave = adsm_granules_give(&share->pages,
                               (at - share->at) / ADSM_SHARE_PAGE_BYTES, pages);
    if (*gave && share->pages.in_use == 0)
        return true;
    list(shares, share);
    return false;
}

void adsm_share_destroy(struct adsm_share *share)
{
    adsm_pool_put(&pool, share);
}

bool adsm_shares_are_valid(const struct adsm_shares *shares)
{
    for (size_t run = 0; run <= ADSM_SHARE_PAGES; run++)
        for (struct adsm_share *s = shares->with[run]; s; s = s->next)
            if (run == 0 || s->longest != run || s->pages.in_use == 0 ||
                adsm_granules_longest(&s->pages) != run)
                return false;
    return true;
}
