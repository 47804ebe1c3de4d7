/* Device memory and what is in it; see memory.h. */
#include "interpose/report/memory.h"

#include "interpose/report/hash.h"

#include <stdlib.h>
#include <string.h>

enum {
    MEMORIES_MOST = 65536,
    PARTS_MOST = 256,
    DOWNLOADS = 1024, /* a power of two */
    LATEST = 64,      /* allocations and frees that are remembered */
    MUCH = 1 << 20,   /* memory that is worth being had elsewhere */
    BEHIND = 64 << 10 /* as interpose/device/reach.c has it */
};

struct part {
    uint64_t begin, end, hash;
    struct report_cost cost;
    uint64_t age;
    bool hashed; /* the hash is that of the bytes    */
    bool unread; /* nobody read them since           */
    bool whole;  /* as it came                       */
};

struct memory {
    uint64_t begin, end;
    struct report_cost cost;
    uint64_t age, version;
    uint64_t came, first, last; /* events; first: 0, unused */
    struct part *part;          /* in order, apart          */
    unsigned count, room;
    struct part kernel; /* what the last kernel wrote; empty: none */
    uint64_t read;      /* who wrote what was read, by bit_of */
};

struct download {
    const void *host;
    uint64_t from, bytes, hash;
    uint32_t site;
};

struct event {
    uint64_t when, bytes;
};

static struct {
    struct memory **at; /* by address */
    size_t count, room;
    uint64_t lost;
    uint64_t age;  /* grows with work that is not known     */
    uint64_t aged; /* the event at which it last did        */
    uint64_t now;  /* the number of this event              */
    struct event came[LATEST], went[LATEST];
    unsigned next_came, next_went;
    struct download *download; /* DOWNLOADS of them; NULL: none so far */
} all;

/* ---- look-up ------------------------------------------------------------- */

/* How many begin at or before `at`. */
static size_t before(uint64_t at)
{
    size_t low = 0, high = all.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (all.at[middle]->begin <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct memory *find(uint64_t at)
{
    size_t i = before(at);
    return i && at < all.at[i - 1]->end ? all.at[i - 1] : NULL;
}

/* ---- parts --------------------------------------------------------------- */

static bool is_unread(const struct part *p)
{
    return p->unread && p->age == all.age;
}

static bool is_hashed(const struct part *p)
{
    return p->hashed && p->age == all.age;
}

/* A bit for a call site, which others may have as well. */
static uint64_t bit_of(uint32_t site)
{
    return UINT64_C(1) << site % 64;
}

/* Nobody has read the part, and nobody will. What a kernel or a set leaves
 * behind at the end, and was read at other times, is no fault. */
static void judge(const struct memory *m, const struct part *p, bool freed,
                  uint32_t other)
{
    if (!is_unread(p) || !p->whole)
        return;
    if (p->cost.way != REPORT_UP) {
        if (!(m->read & bit_of(p->cost.site)))
            report_find(REPORT_DEAD_WRITE, &p->cost, other);
    } else
        report_find(freed ? REPORT_FREED : REPORT_OVERWRITTEN, &p->cost, other);
}

/* The first part that ends behind `at`. */
static unsigned part_behind(const struct memory *m, uint64_t at)
{
    unsigned low = 0, high = m->count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (m->part[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The part of just that range. */
static struct part *part_of(const struct memory *m, uint64_t at, uint64_t bytes)
{
    unsigned i = part_behind(m, at);
    struct part *p = &m->part[i];
    return i < m->count && p->begin == at && p->end == at + bytes ? p : NULL;
}

/* Room for two more. Without it all that is known goes. */
static bool has_room(struct memory *m)
{
    if (m->count + 2 <= m->room)
        return true;
    unsigned room = m->room ? 2 * m->room : 4;
    struct part *more =
        room <= PARTS_MOST ? realloc(m->part, room * sizeof *more) : NULL;
    if (!more) {
        m->count = 0;
        return m->room >= 2;
    }
    m->part = more;
    m->room = room;
    return true;
}

static void insert(struct memory *m, unsigned i, const struct part *p)
{
    memmove(&m->part[i + 1], &m->part[i], (m->count - i) * sizeof *p);
    m->part[i] = *p;
    m->count++;
}

static void cut(struct part *p, uint64_t begin, uint64_t end)
{
    p->begin = begin;
    p->end = end;
    p->whole = p->hashed = false;
}

/* Take [begin, end) out of the parts. `judged`: what is all in it was
 * overwritten, by a call at `other`. Return: where it lay */
static unsigned clear(struct memory *m, uint64_t begin, uint64_t end,
                      bool judged, uint32_t other)
{
    unsigned i = part_behind(m, begin), last = i;
    if (i < m->count && m->part[i].begin < begin) {
        struct part rest = m->part[i];
        cut(&m->part[i], m->part[i].begin, begin);
        i++;
        if (rest.end > begin) {
            rest.begin = begin;
            rest.whole = false;
            insert(m, i, &rest);
        }
    }
    for (last = i; last < m->count && m->part[last].end <= end; last++)
        if (judged)
            judge(m, &m->part[last], false, other);
    if (last < m->count && m->part[last].begin < end)
        cut(&m->part[last], end, m->part[last].end);
    memmove(&m->part[i], &m->part[last], (m->count - last) * sizeof *m->part);
    m->count -= last - i;
    return i;
}

/* All of [begin, end) was written, or its bytes became known. */
static void put(struct memory *m, const struct part *p, bool judged)
{
    if (has_room(m))
        insert(m, clear(m, p->begin, p->end, judged, p->cost.site), p);
}

/* What the last kernel wrote is judged, or read. */
static void kernel_overwritten(struct memory *m, uint64_t begin, uint64_t end,
                               uint32_t other)
{
    struct part *k = &m->kernel;
    if (k->end && begin <= k->begin && k->end <= end) {
        judge(m, k, false, other);
        k->end = 0;
    }
}

static void read_part(struct memory *m, struct part *p)
{
    if (p->unread)
        m->read |= bit_of(p->cost.site);
    p->unread = false;
}

static void read_parts(struct memory *m, uint64_t begin, uint64_t end)
{
    struct part *k = &m->kernel;
    for (unsigned i = part_behind(m, begin);
         i < m->count && m->part[i].begin < end; i++)
        read_part(m, &m->part[i]);
    if (k->end && begin < k->end && k->begin < end)
        read_part(m, k);
}

static void blur_parts(struct memory *m, uint64_t begin, uint64_t end)
{
    for (unsigned i = part_behind(m, begin);
         i < m->count && m->part[i].begin < end; i++)
        m->part[i].hashed = false;
    m->version++;
}

/* ---- coming and going ---------------------------------------------------- */

static void remember(struct event *list, unsigned *next, uint64_t bytes)
{
    list[*next % LATEST] = (struct event){all.now, bytes};
    (*next)++;
}

/* Is there one behind an event, of at least or at most so many bytes? */
static bool is_between(const struct event *list, uint64_t begin, uint64_t end,
                       uint64_t least, uint64_t most)
{
    for (unsigned i = 0; i < LATEST; i++)
        if (list[i].when > begin && list[i].when < end &&
            list[i].bytes >= least && list[i].bytes <= most)
            return true;
    return false;
}

/* The memory is used, for the first time maybe. */
static void touch(struct memory *m)
{
    m->last = all.now;
    if (m->first)
        return;
    m->first = all.now;
    uint64_t bytes = m->end - m->begin;
    if (m->age == all.age && bytes >= MUCH &&
        is_between(all.went, m->came, all.now, bytes, UINT64_MAX))
        report_find(REPORT_EARLY, &m->cost, 0);
}

static void take_out(size_t i)
{
    free(all.at[i]->part);
    free(all.at[i]);
    all.count--;
    memmove(&all.at[i], &all.at[i + 1], (all.count - i) * sizeof *all.at);
}

/* Work that is not known may have used it. */
static uint64_t last_use(const struct memory *m)
{
    return m->age != all.age && all.aged > m->last ? all.aged : m->last;
}

/* It is gone, or as good as gone. `other`: freed there; 0: never */
static void end(struct memory *m, uint32_t other)
{
    for (unsigned i = 0; i < m->count; i++)
        judge(m, &m->part[i], true, other);
    if (m->kernel.end)
        judge(m, &m->kernel, true, other);
    if (!m->first && m->age == all.age)
        report_find(REPORT_UNUSED, &m->cost, other);
    else if (other && is_between(all.came, last_use(m), all.now, MUCH,
                                 m->end - m->begin))
        report_find(REPORT_LATE,
                    &(struct report_cost){.site = other,
                                          .way = REPORT_FREE,
                                          .bytes = m->end - m->begin,
                                          .timed = true},
                    m->cost.site);
}

/* Addresses that come anew while they are here belonged to a context that is
 * gone, and nobody freed them. */
static void forget_old(uint64_t begin, uint64_t stop)
{
    size_t i = before(begin);
    if (i && all.at[i - 1]->end > begin)
        i--;
    while (i < all.count && all.at[i]->begin < stop) {
        end(all.at[i], 0);
        report_find(REPORT_LEAK, &all.at[i]->cost, 0);
        take_out(i);
    }
}

static bool has_place(void)
{
    if (all.count < all.room)
        return true;
    size_t room = all.room ? 2 * all.room : 64;
    struct memory **more =
        room <= MEMORIES_MOST ? realloc(all.at, room * sizeof *more) : NULL;
    if (!more)
        return false;
    all.at = more;
    all.room = room;
    return true;
}

/* The same size again where it was freed before, and nothing of it lives. */
static void note_repeat(const struct report_cost *cost)
{
    struct report_site *site = report_site_at(cost->site);
    if (site->was_freed && !site->live && site->last_bytes == cost->bytes) {
        site->repeats++;
        site->repeated_ns += cost->ns;
    }
    site->last_bytes = cost->bytes;
    site->live++;
}

void report_memory_came(uint64_t begin, uint64_t bytes,
                        const struct report_cost *cost)
{
    all.now++;
    forget_old(begin, begin + bytes);
    remember(all.came, &all.next_came, bytes);
    struct memory *m = has_place() ? calloc(1, sizeof *m) : NULL;
    if (!m) {
        all.lost++;
        return;
    }
    *m = (struct memory){.begin = begin,
                         .end = begin + bytes,
                         .cost = *cost,
                         .age = all.age,
                         .version = 1,
                         .came = all.now};
    size_t i = before(begin);
    memmove(&all.at[i + 1], &all.at[i], (all.count - i) * sizeof *all.at);
    all.at[i] = m;
    all.count++;
    note_repeat(cost);
}

uint32_t report_memory_goes(uint64_t begin, uint32_t site)
{
    all.now++;
    struct memory *m = find(begin);
    if (!m || m->begin != begin)
        return 0;
    uint32_t from = m->cost.site;
    report_site_at(from)->was_freed = true;
    report_site_at(from)->live--;
    end(m, site);
    remember(all.went, &all.next_went, m->end - m->begin);
    take_out(before(begin) - 1);
    return from;
}

/* ---- copies and sets ------------------------------------------------------ */

/* What the last download to that place brought, if it is still kept. */
static struct download *download_of(const void *host, uint64_t bytes)
{
    static struct download none;
    uint64_t key = report_mix((uintptr_t)host, bytes);
    if (!all.download)
        all.download = calloc(DOWNLOADS, sizeof *all.download);
    none = (struct download){.host = NULL};
    return all.download ? &all.download[key % DOWNLOADS] : &none;
}

/* Came the bytes down from another place, where they still are? */
static uint32_t came_down(const void *host, uint64_t bytes, uint64_t hash)
{
    const struct download *d = download_of(host, bytes);
    uint64_t there;
    return d->host == host && d->bytes == bytes && d->hash == hash &&
                   report_memory_is_known(d->from, bytes, &there) &&
                   there == hash
               ? d->site
               : 0;
}

void report_memory_uploaded(uint64_t to, const void *host, uint64_t hash,
                            const struct report_cost *cost)
{
    all.now++;
    struct memory *m = find(to);
    if (!m || to + cost->bytes > m->end)
        return;
    touch(m);
    struct part *p = part_of(m, to, cost->bytes);
    if (p && is_hashed(p) && p->hash == hash) {
        report_find(p->cost.way == REPORT_DOWN ? REPORT_ROUND_TRIP
                                               : REPORT_DUPLICATE,
                    cost, p->cost.site);
        return;
    }
    uint32_t from = came_down(host, cost->bytes, hash);
    if (from)
        report_find(REPORT_ROUND_TRIP, cost, from);
    kernel_overwritten(m, to, to + cost->bytes, cost->site);
    put(m,
        &(struct part){.begin = to,
                       .end = to + cost->bytes,
                       .hash = hash,
                       .cost = *cost,
                       .age = all.age,
                       .hashed = true,
                       .unread = !from,
                       .whole = true},
        true);
    m->version++;
}

void report_memory_overwritten(uint64_t to, const struct report_cost *cost)
{
    all.now++;
    struct memory *m = find(to);
    if (!m || to + cost->bytes > m->end)
        return;
    touch(m);
    kernel_overwritten(m, to, to + cost->bytes, cost->site);
    put(m,
        &(struct part){.begin = to,
                       .end = to + cost->bytes,
                       .cost = *cost,
                       .age = all.age,
                       .unread = true,
                       .whole = true},
        true);
    m->version++;
}

/* All that lies in a range is used. */
static void use_range(uint64_t at, uint64_t bytes,
                      void (*use)(struct memory *memory, uint64_t begin,
                                  uint64_t end))
{
    all.now++;
    size_t i = before(at);
    if (i && all.at[i - 1]->end > at)
        i--;
    for (; i < all.count && all.at[i]->begin < at + bytes; i++) {
        touch(all.at[i]);
        use(all.at[i], at, at + bytes);
    }
}

void report_memory_read(uint64_t at, uint64_t bytes)
{
    use_range(at, bytes, read_parts);
}

void report_memory_blurred(uint64_t at, uint64_t bytes)
{
    use_range(at, bytes, blur_parts);
}

bool report_memory_is_known(uint64_t at, uint64_t bytes, uint64_t *hash)
{
    struct memory *m = find(at);
    struct part *p = m ? part_of(m, at, bytes) : NULL;
    if (!p || !is_hashed(p))
        return false;
    *hash = p->hash;
    return true;
}

uint64_t report_memory_version(uint64_t at)
{
    struct memory *m = find(at);
    return m ? report_mix(all.age, m->version) | 1 : 0;
}

void report_memory_learnt(uint64_t from, const void *host, uint64_t hash,
                          const struct report_cost *cost)
{
    struct memory *m = find(from);
    *download_of(host, cost->bytes) =
        (struct download){host, from, cost->bytes, hash, cost->site};
    if (!m || from + cost->bytes > m->end)
        return;
    struct part *p = part_of(m, from, cost->bytes);
    if (p && is_hashed(p))
        return;
    put(m,
        &(struct part){.begin = from,
                       .end = from + cost->bytes,
                       .hash = hash,
                       .cost = *cost,
                       .age = all.age,
                       .hashed = true,
                       .whole = true},
        false);
}

uint32_t report_memory_is_there(uint64_t from, const void *host, uint64_t bytes,
                                uint64_t *hash)
{
    const struct download *d = download_of(host, bytes);
    return d->host == host && d->bytes == bytes && d->from == from &&
                   report_memory_is_known(from, bytes, hash) && d->hash == *hash
               ? d->site
               : 0;
}

void report_memory_moved(uint64_t at, unsigned down, uint64_t bytes,
                         uint64_t ns, bool timed)
{
    struct memory *m = find(at);
    if (m)
        report_sum_add(&report_site_at(m->cost.site)->moved[down], bytes, ns,
                       timed);
}

/* ---- launches ------------------------------------------------------------- */

typedef void visit_fn(struct memory *m, const struct report_use *use,
                      const struct report_cost *cost);

/* What a use may mean: arrays passed less some elements begin behind it. */
static void visit(const struct report_use *use, visit_fn *each,
                  const struct report_cost *cost)
{
    uint64_t last = use->whole ? use->first + BEHIND : use->last;
    size_t i = before(use->first);
    if (i && all.at[i - 1]->end > use->first)
        i--;
    for (; i < all.count && all.at[i]->begin <= last; i++) {
        touch(all.at[i]);
        each(all.at[i], use, cost);
    }
}

static void visit_read(struct memory *m, const struct report_use *use,
                       const struct report_cost *cost)
{
    (void)cost;
    read_parts(m, use->whole ? m->begin : use->first,
               use->whole ? m->end : use->last + 1);
}

/* Only a range that lies in the memory, and is not read as well, says that the
 * kernel writes there: others may be wider than what it does. */
static void visit_write(struct memory *m, const struct report_use *use,
                        const struct report_cost *cost)
{
    bool inside = !use->whole && !use->reads && use->first >= m->begin &&
                  use->last < m->end;
    blur_parts(m, use->whole ? m->begin : use->first,
               use->whole ? m->end : use->last + 1);
    m->kernel = (struct part){.begin = use->first,
                              .end = inside ? use->last + 1 : 0,
                              .cost = *cost,
                              .age = all.age,
                              .unread = true,
                              .whole = true};
    m->kernel.cost.bytes = use->last + 1 - use->first;
}

void report_memory_launched(const struct report_use *uses, unsigned count,
                            const struct report_cost *cost)
{
    all.now++;
    for (unsigned i = 0; i < count; i++)
        if (uses[i].reads)
            visit(&uses[i], visit_read, cost);
    for (unsigned i = 0; i < count; i++)
        if (uses[i].writes)
            visit(&uses[i], visit_write, cost);
}

void report_memory_unknown(void)
{
    all.age++;
    all.aged = ++all.now;
}

/* ---- the end --------------------------------------------------------------- */

static void find_repeats(void)
{
    enum { LEAST = 2 };
    for (uint32_t i = 0; i < report_sites_count(); i++) {
        const struct report_site *site = report_site_at(i);
        for (uint64_t n = 0; site->repeats >= LEAST && n < site->repeats; n++)
            report_find(REPORT_REPEATED,
                        &(struct report_cost){.site = i,
                                              .way = REPORT_ALLOC,
                                              .bytes = site->last_bytes,
                                              .ns = n ? 0 : site->repeated_ns,
                                              .timed = true},
                        0);
    }
}

void report_memory_end(void)
{
    all.now++;
    for (size_t i = 0; i < all.count; i++) {
        end(all.at[i], 0);
        report_find(REPORT_LEAK, &all.at[i]->cost, 0);
    }
    find_repeats();
}

uint64_t report_memory_lost(void)
{
    return all.lost;
}
