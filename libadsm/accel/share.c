/* Best fit over shared granules; see share.h. */
#include "accel/share.h"

#include "base/pool.h"

#include <string.h>
#include <utlist.h>

static struct adsm_pool pool =
    ADSM_POOL_INIT(sizeof(struct adsm_share), _Alignof(struct adsm_share));

static size_t next(const struct adsm_share *share, size_t page, bool used)
{
    return adsm_granules_next(&share->pages, page, used);
}

/* Free pages at the beginning, and at the end. */
static size_t head(const struct adsm_share *share)
{
    return next(share, 0, true);
}

static size_t tail(const struct adsm_share *share)
{
    size_t first, end = 0;
    do {
        first = next(share, end, false);
        end = next(share, first, true);
    } while (end < ADSM_SHARE_PAGES);
    return end - first;
}

/* The next free run from `from` on that begins in the granule, of no pages
 * when there is none. */
static size_t next_run(const struct adsm_share *share, size_t from,
                       size_t *pages)
{
    if (from == 0 && share->before && tail(share->before) > 0)
        from = head(share);
    size_t first = next(share, from, false);
    size_t end = next(share, first, true);
    *pages = end - first;
    if (*pages > 0 && end == ADSM_SHARE_PAGES && share->after)
        *pages += head(share->after);
    return first;
}

static size_t longest(const struct adsm_share *share)
{
    size_t most = 0, pages, first = 0;
    do {
        first = next_run(share, first, &pages);
        most = pages > most ? pages : most;
        first += pages;
    } while (pages > 0 && first < ADSM_SHARE_PAGES);
    return most;
}

/* Where the shortest run begins that has room; there is one. */
static size_t best(const struct adsm_share *share, size_t pages)
{
    size_t found = 0, least = SIZE_MAX, run, first = 0;
    do {
        first = next_run(share, first, &run);
        if (run >= pages && run < least) {
            least = run;
            found = first;
        }
        first += run;
    } while (run > 0 && first < ADSM_SHARE_PAGES);
    return found;
}

static void unlist(struct adsm_shares *shares, struct adsm_share *share)
{
    if (share->longest > 0)
        DL_DELETE(shares->with[share->longest], share);
}

/* Put it where its longest run says; a full one in no list. */
static void relist(struct adsm_shares *shares, struct adsm_share *share)
{
    if (!share)
        return;
    unlist(shares, share);
    share->longest = longest(share);
    if (share->longest > 0)
        DL_PREPEND(shares->with[share->longest], share);
}

/* Its pages have changed, and those of the next one where a span crosses. */
static void changed(struct adsm_shares *shares, struct adsm_share *share)
{
    relist(shares, share->before);
    relist(shares, share);
    relist(shares, share->after);
}

/* How many of the pages of a span at `first` lie in the same granule. */
static size_t inside(size_t first, size_t pages)
{
    size_t most = ADSM_SHARE_PAGES - first;
    return pages < most ? pages : most;
}

static void take_at(struct adsm_share *share, size_t first, size_t pages)
{
    size_t n = inside(first, pages);
    adsm_granules_take_at(&share->pages, first, n);
    if (n < pages)
        adsm_granules_take_at(&share->after->pages, 0, pages - n);
}

struct adsm_share *adsm_share_create(struct adsm_shares *shares, uint64_t at,
                                     uint64_t handle, struct adsm_share *before,
                                     struct adsm_share *after, size_t pages,
                                     uint64_t *span)
{
    struct adsm_share *share = adsm_pool_get(&pool);
    if (!share)
        return NULL;
    memset(share, 0, sizeof *share);
    adsm_granules_init_in(&share->pages, share->words, ADSM_SHARE_PAGES);
    share->at = at;
    share->handle = handle;
    share->before = before;
    share->after = after;
    if (before)
        before->after = share;
    if (after)
        after->before = share;
    size_t ahead = before ? tail(before) : 0;
    if (ahead > 0 && ahead < pages)
        take_at(before, ADSM_SHARE_PAGES - ahead, pages);
    else
        take_at(share, ahead = 0, pages);
    *span = at - ahead * shares->page_bytes;
    changed(shares, share);
    return share;
}

struct adsm_share *adsm_share_take(struct adsm_shares *shares, size_t pages,
                                   uint64_t *at)
{
    struct adsm_share *share = NULL;
    for (size_t run = pages; !share && run <= ADSM_SHARE_RUNS; run++)
        share = shares->with[run];
    if (!share)
        return NULL;
    size_t first = best(share, pages);
    take_at(share, first, pages);
    *at = share->at + first * shares->page_bytes;
    changed(shares, share);
    return share;
}

static bool is_in_use(const struct adsm_share *share, size_t first,
                      size_t pages)
{
    return next(share, first, false) >= first + pages;
}

/* Nobody uses it: nor may a span reach into it any more. */
static void leave(struct adsm_shares *shares, struct adsm_share *share)
{
    unlist(shares, share);
    share->longest = 0;
    if (share->before)
        share->before->after = NULL;
    if (share->after)
        share->after->before = NULL;
    relist(shares, share->before);
    relist(shares, share->after);
}

bool adsm_share_give(struct adsm_shares *shares, struct adsm_share *share,
                     uint64_t at, size_t pages, struct adsm_share *empty[2])
{
    struct adsm_share *parts[2] = {share, share->after};
    size_t first = (at - share->at) / shares->page_bytes;
    size_t n = inside(first, pages), rest = pages - n;
    empty[0] = empty[1] = NULL;
    if (!is_in_use(share, first, n) ||
        (rest > 0 && (!parts[1] || !is_in_use(parts[1], 0, rest))))
        return false;
    (void)adsm_granules_give(&share->pages, first, n);
    if (rest > 0)
        (void)adsm_granules_give(&parts[1]->pages, 0, rest);
    for (int i = 0; i < 2 && parts[i]; i++)
        if (parts[i]->pages.in_use == 0)
            leave(shares, empty[i] = parts[i]);
    for (int i = 0; i < 2 && parts[i]; i++)
        if (!empty[i])
            changed(shares, parts[i]);
    return true;
}

void adsm_share_destroy(struct adsm_share *share)
{
    adsm_pool_put(&pool, share);
}

static bool is_valid(const struct adsm_share *share, uint64_t bytes)
{
    const struct adsm_share *before = share->before, *after = share->after;
    return share->pages.in_use > 0 && share->longest == longest(share) &&
           (!before ||
            (before->after == share && before->at + bytes == share->at)) &&
           (!after ||
            (after->before == share && share->at + bytes == after->at));
}

bool adsm_shares_are_valid(const struct adsm_shares *shares)
{
    uint64_t bytes = ADSM_SHARE_PAGES * shares->page_bytes;
    for (size_t run = 0; run <= ADSM_SHARE_RUNS; run++)
        for (struct adsm_share *s = shares->with[run]; s; s = s->next)
            if (run == 0 || s->longest != run || !is_valid(s, bytes))
                return false;
    return true;
}
