/* Rounds, and what is remembered of them; see ahead.h. */
#include "mm/watch/ahead.h"

#include "base/option.h"
#include "base/stats.h"
#include "mm/object/gate.h"
#include "mm/watch/ahead_table.h"

#include <stdlib.h>
#include <string.h>

enum { KERNELS = 4, WRONG_MOST = 6 };
/* Less takes no longer to fetch than to wake the thread, and half as long as the
 * fault that finds it missing. */
enum { LITTLE_BYTES = 32 << 10, SPAN_MOST = 64 };

/* Launched last, by gate. */
static _Atomic(const void *) launched[ADSM_GATES];

bool adsm_ahead_follows_returns(void)
{
    return adsm_options_get()->fetch_ahead == ADSM_OPT_FETCH_AHEAD_AUTO ||
           adsm_options_get()->fetch_ahead == ADSM_OPT_FETCH_AHEAD_EARLY;
}

static bool is_wanted(const struct adsm_protocol *protocol)
{
    const struct adsm_cell *cell =
        &protocol->cell[ADSM_FETCH_AHEAD][ADSM_INVALID];
    return adsm_ahead_follows_returns() && cell->next != ADSM_INVALID;
}

void adsm_ahead_init(struct adsm_object *object,
                     const struct adsm_protocol *protocol)
{
    uint32_t words = (object->block_count + 63) / 64;
    object->ahead = NULL;
    if (!is_wanted(protocol))
        return;
    struct adsm_ahead *a = calloc(1, sizeof *a + 2 * words * sizeof *a->bits +
                                         object->block_count);
    if (a) {
        a->words = words;
        a->parts = (_Atomic uint8_t *)(a->bits + 2 * words);
    }
    object->ahead = a;
}

void adsm_ahead_free(struct adsm_object *object)
{
    struct adsm_ahead *a = object->ahead;
    if (!a)
        return;
    adsm_ahead_delist(object);
    for (uint32_t k = 0; a->memory && k < KERNELS; k++)
        free(a->memory[k].set);
    free(a->memory);
    free(a);
    object->ahead = NULL;
}

void adsm_ahead_called(uint32_t gates, const void *kernel)
{
    for (; gates; gates &= gates - 1)
        atomic_store_explicit(&launched[__builtin_ctz(gates)], kernel,
                              memory_order_relaxed);
}

/* ---- bits ---------------------------------------------------------------- */

/* Relaxed throughout: who holds the block, or the lock exclusively, is alone
 * with its bits; others only count. */

static _Atomic uint64_t *used_of(struct adsm_ahead *a, uint32_t i)
{
    return &a->bits[i / 64];
}

static _Atomic uint64_t *unseen_of(struct adsm_ahead *a, uint32_t i)
{
    return &a->bits[a->words + i / 64];
}

static void set(_Atomic uint64_t *word, uint32_t i)
{
    atomic_fetch_or_explicit(word, UINT64_C(1) << i % 64, memory_order_relaxed);
}

/* Return: it was set */
static bool clear(_Atomic uint64_t *word, uint32_t i)
{
    uint64_t bit = UINT64_C(1) << i % 64;
    return (atomic_load_explicit(word, memory_order_relaxed) & bit) &&
           (atomic_fetch_and_explicit(word, ~bit, memory_order_relaxed) & bit);
}

/* Return: how many of [first, first + count) came ahead and were not accessed,
 * until now */
static uint32_t clear_unseen(struct adsm_ahead *a, uint32_t first,
                             uint32_t count)
{
    uint32_t n = 0;
    for (uint32_t i = first;
         i < first + count &&
         atomic_load_explicit(&a->unseen, memory_order_relaxed) > n;
         i++)
        n += clear(unseen_of(a, i), i);
    if (n > 0)
        atomic_fetch_sub_explicit(&a->unseen, n, memory_order_relaxed);
    return n;
}

/* ---- in a round ---------------------------------------------------------- */

/* Whose round it is, or would be if it began now. */
static const void *kernel_of(const struct adsm_object *object)
{
    const struct adsm_ahead *a = object->ahead;
    /* Acquire: who sees that it has begun sees whose it is. */
    return atomic_load_explicit(&a->begun, memory_order_acquire)
               ? atomic_load_explicit(&a->kernel, memory_order_relaxed)
               : atomic_load_explicit(&launched[atomic_load(&object->gate)],
                                      memory_order_relaxed);
}

static void begin(struct adsm_object *object)
{
    struct adsm_ahead *a = object->ahead;
    atomic_store_explicit(&a->kernel, kernel_of(object), memory_order_relaxed);
    atomic_store_explicit(&a->begun, true, memory_order_release);
}

void adsm_ahead_bring(struct adsm_object *object, uint32_t first,
                      uint32_t count)
{
    struct adsm_ahead *a = object->ahead;
    for (uint32_t i = first; i < first + count; i++)
        set(unseen_of(a, i), i);
    atomic_fetch_add_explicit(&a->unseen, count, memory_order_relaxed);
    atomic_fetch_add_explicit(&a->brought, count, memory_order_relaxed);
    ADSM_COUNT(ahead, count);
    ADSM_COUNT(bytes_ahead, (count - 1) * object->block_bytes +
                                adsm_block_bytes(object, first + count - 1));
}

void adsm_ahead_failed(struct adsm_object *object, uint32_t first,
                       uint32_t count)
{
    (void)clear_unseen(object->ahead, first, count);
    atomic_fetch_sub_explicit(&object->ahead->brought, count,
                              memory_order_relaxed);
}

static void count_hits(struct adsm_ahead *a, uint32_t hits)
{
    if (hits == 0)
        return;
    atomic_fetch_add_explicit(&a->hits, hits, memory_order_relaxed);
    ADSM_COUNT(ahead_hits, hits);
}

void adsm_ahead_touched(struct adsm_object *object, uint32_t first,
                        uint32_t count)
{
    struct adsm_ahead *a = object->ahead;
    bool brings = false;
    if (!a)
        return;
    for (uint32_t i = first; i < first + count; i++)
        if (adsm_block_state(object, i) == ADSM_INVALID ||
            adsm_ahead_is_unseen(object, i)) {
            set(used_of(a, i), i);
            brings = true;
        }
    if (!brings)
        return;
    begin(object);
    count_hits(a, clear_unseen(a, first, count));
}

void adsm_ahead_read(const struct adsm_object *object, uint32_t i)
{
    struct adsm_ahead *a = object->ahead;
    if (!adsm_ahead_is_unseen(object, i))
        return;
    set(used_of(a, i), i);
    count_hits(a, clear_unseen(a, i, 1));
}

void adsm_ahead_left(struct adsm_object *object, uint32_t first, uint32_t count)
{
    struct adsm_ahead *a = object->ahead;
    uint32_t misses = a ? clear_unseen(a, first, count) : 0;
    if (misses > 0)
        ADSM_COUNT(ahead_misses, misses);
}

bool adsm_ahead_takes_part(struct adsm_object *object, uint32_t i, size_t bytes)
{
    /* A transfer costs about as much as so many bytes more of another. */
    enum { WORTH_BYTES = 128 << 10, SHARE = 16 };
    struct adsm_ahead *a = object->ahead;
    size_t most = object->block_bytes / WORTH_BYTES;
    if (!a || object->holders || bytes > object->block_bytes / SHARE ||
        (i > 0 && adsm_block_state(object, i - 1) != ADSM_INVALID))
        return false;
    uint8_t times = atomic_load_explicit(&a->parts[i], memory_order_relaxed);
    if (times >= most || times == UINT8_MAX)
        return false;
    atomic_store_explicit(&a->parts[i], times + 1, memory_order_relaxed);
    begin(object);
    ADSM_COUNT(fetched_parts, 1);
    return true;
}

/* ---- its end ------------------------------------------------------------- */

static struct adsm_ahead_memory *find_of(const struct adsm_object *object,
                                         const void *kernel)
{
    const struct adsm_ahead *a = object->ahead;
    for (uint32_t k = 0; a->memory && k < KERNELS; k++)
        if (a->memory[k].set && a->memory[k].kernel == kernel)
            return &a->memory[k];
    return NULL;
}

static struct adsm_ahead_memory *find(const struct adsm_object *object)
{
    return find_of(object, kernel_of(object));
}

static bool is_in(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> i % 64 & 1;
}

const struct adsm_ahead_memory *
adsm_ahead_memory_of(const struct adsm_object *object)
{
    return find(object);
}

/* That of the round's kernel, or the one that was made first. */
static struct adsm_ahead_memory *find_or_make(struct adsm_object *object)
{
    struct adsm_ahead *a = object->ahead;
    struct adsm_ahead_memory *m = find(object);
    if (m)
        return m;
    if (!a->memory)
        a->memory = calloc(KERNELS, sizeof *a->memory);
    if (!a->memory)
        return NULL;
    m = &a->memory[a->next++ % KERNELS];
    uint64_t *words = m->set ? m->set : calloc(a->words, sizeof *words);
    if (!words)
        return NULL;
    memset(words, 0, a->words * sizeof *words);
    *m = (struct adsm_ahead_memory){.kernel = kernel_of(object), .set = words};
    return m;
}

/* Nothing came ahead: would half of what was expected have been wanted? */
static bool would_be_right(const struct adsm_ahead_memory *m,
                           const struct adsm_ahead *a)
{
    int expected = 0, wanted = 0;
    for (uint32_t w = 0; w < a->words; w++) {
        uint64_t used = atomic_load_explicit(&a->bits[w], memory_order_relaxed);
        expected += __builtin_popcountll(m->set[w]);
        wanted += __builtin_popcountll(m->set[w] & used);
    }
    return expected > 0 && 2 * wanted >= expected;
}

/* All that came was wanted: so it will be, some times. */
static void trust(struct adsm_ahead_memory *m, bool all)
{
    uint32_t more = m->span ? 2 * m->span : 1;
    m->span = !all ? 0 : more < SPAN_MOST ? more : SPAN_MOST;
    m->left = m->span;
}

/* Was what came ahead worth it? Of what came open nobody knows. */
static void judge(struct adsm_ahead_memory *m, const struct adsm_ahead *a,
                  uint32_t brought, uint32_t hits, bool asked)
{
    if (brought == 0) {
        m->skip -= m->skip > 0 && !asked && would_be_right(m, a);
        return;
    }
    trust(m, hits == brought);
    if (2 * hits >= brought) {
        m->wrong = 0;
    } else {
        m->skip = UINT32_C(1) << m->wrong;
        m->wrong += m->wrong < WRONG_MOST;
    }
}

/* What the CPU brought in the round; a round in which it brought nothing says
 * nothing about the next. */
static bool remember(struct adsm_ahead_memory *m, const struct adsm_ahead *a)
{
    uint32_t blocks = 0;
    for (uint32_t w = 0; w < a->words; w++)
        blocks += (uint32_t)__builtin_popcountll(
            atomic_load_explicit(&a->bits[w], memory_order_relaxed));
    if (blocks == 0)
        return false;
    for (uint32_t w = 0; w < a->words; w++)
        m->set[w] = atomic_load_explicit(&a->bits[w], memory_order_relaxed);
    m->blocks = blocks;
    return true;
}

static void end_round(struct adsm_object *object)
{
    struct adsm_ahead *a = object->ahead;
    uint32_t brought = atomic_exchange(&a->brought, 0);
    uint32_t hits = atomic_exchange(&a->hits, 0);
    bool asked = atomic_exchange(&a->asked, false);
    struct adsm_ahead_memory *m = find_or_make(object);
    if (m) {
        judge(m, a, brought, hits, asked);
        if (remember(m, a) && a->place == 0)
            adsm_ahead_enlist(object);
    }
    atomic_store(&a->begun, false);
}

void adsm_ahead_taken(struct adsm_object *object, uint32_t first,
                      uint32_t count)
{
    struct adsm_ahead *a = object->ahead;
    if (!a)
        return;
    if (a->place > 0)
        adsm_ahead_expect(object);
    if (!atomic_load(&a->begun))
        return;
    end_round(object);
    for (uint32_t i = first; i < first + count; i++)
        (void)clear(used_of(a, i), i);
    memset((void *)&a->parts[first], 0, count);
}

/* ---- the next ------------------------------------------------------------ */

/* What is remembered of the round's kernel, if it shall come now, and the round
 * is begun for it; once a round. */
static struct adsm_ahead_memory *claim(struct adsm_object *object)
{
    struct adsm_ahead *a = object->ahead;
    if (!a || a->place == 0 || !object->home ||
        atomic_load_explicit(&a->asked, memory_order_relaxed))
        return NULL;
    struct adsm_ahead_memory *m = find(object);
    if (!m || m->skip > 0 || atomic_exchange(&a->asked, true))
        return NULL;
    begin(object);
    return m;
}

void adsm_ahead_want(struct adsm_object *object)
{
    const struct adsm_ahead_memory *m = claim(object);
    /* Of one block there is no rest. */
    if (m && m->blocks > 1)
        adsm_ahead_post(object);
}

static bool is_little(const struct adsm_object *object,
                      const struct adsm_ahead_memory *m)
{
    return m->blocks <= LITTLE_BYTES / object->block_bytes;
}

uint32_t adsm_ahead_next(const struct adsm_object *object, const void *kernel,
                         uint32_t *first)
{
    const struct adsm_ahead_memory *m = find_of(object, kernel);
    if (!m || m->skip > 0 || m->blocks == 0 || !is_little(object, m))
        return 0;
    uint32_t i = 0, n = 0;
    while (i < object->block_count && !is_in(m->set, i))
        i++;
    while (i + n < object->block_count && is_in(m->set, i + n))
        n++;
    *first = i;
    return n == m->blocks ? n : 0;
}

enum adsm_ahead_way adsm_ahead_ask(struct adsm_object *object)
{
    struct adsm_ahead_memory *m = claim(object);
    if (!m)
        return ADSM_AHEAD_NOT;
    if (!is_little(object, m))
        return ADSM_AHEAD_THREAD;
    adsm_ahead_table[object->ahead->place - 1].little = m->kernel;
    /* Whoever claims a round is alone with this. */
    if (m->left == 0)
        return ADSM_AHEAD_HERE;
    m->left--;
    return ADSM_AHEAD_OPEN;
}
