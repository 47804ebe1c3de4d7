/*
 * Pools: alignment, reuse, threads, type stability.
 */
#include "base/pool.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#include "base/sanitized.h"
#include "common/suite.h"

struct item {
    uint64_t link, owner, check;
};

START_TEST(items_are_aligned_and_apart)
{
    for (size_t align = 8; align <= 4096; align *= 2) {
        struct adsm_pool pool;
        adsm_pool_init(&pool, align + 1, align);
        uint8_t *last = NULL;
        for (int i = 0; i < 200; i++) {
            uint8_t *item = adsm_pool_get(&pool);
            ck_assert_ptr_nonnull(item);
            ck_assert_uint_eq((uintptr_t)item % align, 0);
            for (size_t b = 0; b < align + 1; b++)
                ck_assert_uint_eq(item[b], 0);
            ck_assert(last == NULL || item >= last + align + 1 ||
                      item + align + 1 <= last);
            memset(item, 0xff, align + 1);
            last = item;
        }
        ck_assert_uint_eq(pool.items_live, 200);
        adsm_pool_fini(&pool);
    }
}
END_TEST

START_TEST(item_larger_than_a_chunk_fits)
{
    struct adsm_pool pool = ADSM_POOL_INIT(6 << 20, 64);
    char *a = adsm_pool_get(&pool), *b = adsm_pool_get(&pool);
    ck_assert(a != NULL && b != NULL && a != b);
    memset(a, 1, 6 << 20);
    memset(b, 2, 6 << 20);
    ck_assert_int_eq(a[(6 << 20) - 1], 1);
    adsm_pool_fini(&pool);
}
END_TEST

START_TEST(put_item_comes_back_with_its_bytes)
{
    struct adsm_pool pool = ADSM_POOL_INIT(sizeof(struct item), 8);
    struct item *a = adsm_pool_get(&pool);
    a->owner = 5;
    a->check = 6;
    adsm_pool_put(&pool, a);
    adsm_pool_put(&pool, NULL);
    struct item *b = adsm_pool_get(&pool);
    ck_assert_ptr_eq(a, b);
    ck_assert_uint_eq(b->owner, 5);
    ck_assert_uint_eq(b->check, 6);
    adsm_pool_fini(&pool);
}
END_TEST

START_TEST(reuse_maps_nothing_new)
{
    struct adsm_pool pool = ADSM_POOL_INIT(sizeof(struct item), 8);
    void *items[1000];
    for (int i = 0; i < 1000; i++)
        items[i] = adsm_pool_get(&pool);
    size_t mapped = pool.bytes_mapped;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 1000; i++)
            adsm_pool_put(&pool, items[i]);
        for (int i = 0; i < 1000; i++)
            items[i] = adsm_pool_get(&pool);
    }
    ck_assert_uint_eq(pool.bytes_mapped, mapped);
    ck_assert_uint_eq(pool.items_live, 1000);
    adsm_pool_fini(&pool);
}
END_TEST

static struct adsm_pool shared = ADSM_POOL_INIT(sizeof(struct item), 8);
static _Atomic unsigned long stolen;

/* Own items, mark them with their slot, and see that no other slot, of any
 * thread, had them meanwhile. */
static void *get_and_put(void *arg)
{
    struct item *held[32] = {0};
    unsigned seed = (unsigned)(uintptr_t)held;
    for (int i = 0; i < 30000; i++) {
        seed = seed * 1664525 + 1013904223;
        struct item **slot = &held[seed >> 27];
        uint64_t mark = (uint64_t)(uintptr_t)slot;
        if (*slot == NULL) {
            *slot = adsm_pool_get(&shared);
            (*slot)->owner = mark;
            (*slot)->check = ~mark;
        } else {
            stolen += (*slot)->owner != mark || (*slot)->check != ~mark;
            adsm_pool_put(&shared, *slot);
            *slot = NULL;
        }
    }
    for (int i = 0; i < 32; i++)
        adsm_pool_put(&shared, held[i]);
    return NULL;
}

START_TEST(eight_threads_never_share_an_item)
{
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, get_and_put, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(stolen, 0);
    ck_assert_uint_eq(shared.items_live, 0);
}
END_TEST

START_TEST(no_memory_gives_null_and_a_usable_pool)
{
    struct adsm_pool pool = ADSM_POOL_INIT(1 << 20, 8);
    struct rlimit limit, old;
    if (SANITIZED)
        return; /* its own mappings do not survive the limit */
    ck_assert_ptr_nonnull(adsm_pool_get(&pool));
    getrlimit(RLIMIT_AS, &old);
    limit = old;
    limit.rlim_cur = 4096;
    setrlimit(RLIMIT_AS, &limit);
    void *none = NULL;
    for (int i = 0; i < 8; i++)
        none = adsm_pool_get(&pool);
    size_t live = pool.items_live;
    setrlimit(RLIMIT_AS, &old);
    ck_assert_ptr_null(none);
    ck_assert_uint_lt(live, 9);
    ck_assert_ptr_nonnull(adsm_pool_get(&pool));
}
END_TEST

SUITE_MAIN("pool", 60, items_are_aligned_and_apart,
           item_larger_than_a_chunk_fits, put_item_comes_back_with_its_bytes,
           reuse_maps_nothing_new, eight_threads_never_share_an_item,
           no_memory_gives_null_and_a_usable_pool)
