/*
 * Which copies a part needs, and which have to go for them: see range/plan.h.
 */
#include "range/plan_parts.h"

#include <assert.h>

enum { WANT_SLACK = 5 }; /* percent of a shared copy that nobody needs */

static bool is_free(const struct adsm_copy *copy)
{
    return !copy->home && (copy->uses == 0 || ADSM_PLANTED("victim-in-use"));
}

size_t adsm_copies_free_bytes(const struct adsm_copies *list)
{
    size_t found = 0;
    for (const struct adsm_copy *copy = list->oldest; copy; copy = copy->next)
        found += is_free(copy) ? copy->taken : 0;
    return found;
}

struct adsm_copy *adsm_copies_victim(const struct adsm_copies *list)
{
    struct adsm_copy *copy = list->oldest;
    while (copy && !is_free(copy))
        copy = copy->next;
    return copy;
}

/* What each want needs in one copy: its box, or that of all writes which
 * overlap, directly or by others. */
static void want_needs(const struct adsm_need *wants, int count, adsmBox *needs)
{
    bool grown;
    for (int i = 0; i < count; i++)
        needs[i] = wants[i].box;
    do {
        grown = false;
        for (int i = 0; i < count; i++)
            for (int k = 0; k < i; k++) {
                if (!(wants[i].mode & wants[k].mode & ADSM_OUT) ||
                    !adsm_box_meets(&needs[i], &needs[k]) ||
                    adsm_box_equal(&needs[i], &needs[k]) ||
                    ADSM_PLANTED("writes-apart"))
                    continue;
                needs[i] = adsm_box_hull(&needs[i], &needs[k]);
                needs[k] = needs[i];
                grown = true;
            }
    } while (grown);
}

/* Is it read, by itself or by a write that must have the same copy? */
static bool want_reads(const struct adsm_need *wants, const adsmBox *needs,
                       int count, int i)
{
    for (int k = 0; k < count; k++)
        if ((wants[k].mode & ADSM_IN) &&
            (k == i || ((wants[i].mode & wants[k].mode & ADSM_OUT) &&
                        adsm_box_equal(&needs[i], &needs[k]))))
            return true;
    return false;
}

/* The copy on `accel` that has all of `need`; of several, that which lacks least
 * of what is read, and of these the largest: what is written there need not be
 * copied when somebody reads it with its surroundings. */
static struct adsm_copy *want_present(const struct adsm_held *held,
                                      const struct adsm_accel *accel,
                                      const adsmBox *need, bool reads)
{
    struct adsm_copy *best = NULL;
    size_t least = 0, largest = 0;
    for (uint32_t i = ADSM_HOLDER_HOME; i < held->top; i++) {
        struct adsm_copy *copy = held->copies[i];
        if (!copy || copy->accel != accel ||
            !(ADSM_PLANTED("part-is-present")
                  ? adsm_box_meets(need, &copy->box)
                  : adsm_box_within(need, &copy->box)))
            continue;
        size_t lacks = reads ? adsm_map_bytes_without(&held->map, need, i) : 0;
        size_t bytes = adsm_box_bytes(&copy->box);
        if (best && (lacks > least || (lacks == least && bytes <= largest)))
            continue;
        best = copy;
        least = lacks;
        largest = bytes;
    }
    return best;
}

/* May the members of two new copies share one? */
static bool want_fits(const struct adsm_need *wants, const adsmBox *needs,
                      int count, adsmBox *fresh, int a, int b)
{
    adsmBox *members = fresh + 2 * count;
    adsmBox hull = adsm_box_hull(&fresh[a], &fresh[b]);
    int n = 0;
    for (int i = 0; i < count; i++)
        if (!wants[i].copy && (wants[i].fresh == a || wants[i].fresh == b))
            members[n++] = needs[i];
    return adsm_box_bytes(&hull) * 100 <=
           adsm_box_union_bytes(members, n) * (100 + WANT_SLACK);
}

/* New copy `b` becomes part of `a`, and the last one takes its number. */
static void want_share(struct adsm_need *wants, int count, adsmBox *fresh,
                       int a, int b, int last)
{
    fresh[a] = adsm_box_hull(&fresh[a], &fresh[b]);
    fresh[b] = fresh[last];
    for (int i = 0; i < count; i++) {
        if (wants[i].copy)
            continue;
        if (wants[i].fresh == b)
            wants[i].fresh = (uint8_t)a;
        else if (wants[i].fresh == last)
            wants[i].fresh = (uint8_t)b;
    }
}

static int want_cluster(struct adsm_need *wants, const adsmBox *needs,
                        int count, adsmBox *fresh, int n)
{
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++)
            if (want_fits(wants, needs, count, fresh, a, b)) {
                want_share(wants, count, fresh, a, b, --n);
                a = -1; /* the larger one may fit others now */
                break;
            }
    return n;
}

/* The new copy of a write that overlaps this one. */
static int want_same(const struct adsm_need *wants, const adsmBox *needs, int i)
{
    for (int k = 0; k < i; k++)
        if ((wants[i].mode & wants[k].mode & ADSM_OUT) &&
            adsm_box_equal(&needs[i], &needs[k]))
            return wants[k].fresh;
    return -1;
}

int adsm_plan_choose(const struct adsm_held *held,
                     const struct adsm_accel *accel, bool reuse,
                     struct adsm_need *wants, int count, adsmBox *fresh)
{
    adsmBox *needs = fresh + count;
    int n = 0;
    assert(count <= ADSM_WANTS);
    want_needs(wants, count, needs);
    for (int i = 0; i < count; i++) {
        struct adsm_need *want = &wants[i];
        bool reads = want_reads(wants, needs, count, i);
        want->copy = reuse ? want_present(held, accel, &needs[i], reads) : NULL;
        if (want->copy)
            continue;
        int same = want_same(wants, needs, i);
        want->fresh = (uint8_t)(same < 0 ? n : same);
        if (same < 0)
            fresh[n++] = needs[i];
    }
    return reuse ? want_cluster(wants, needs, count, fresh, n) : n;
}
