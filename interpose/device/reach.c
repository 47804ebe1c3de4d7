/* From places of pointers to uses of objects; see reach.h. */
#include "interpose/device/reach.h"

#include "base/option.h"
#include "mm/heap/life.h"
#include "mm/object/host.h"
#include "mm/object/index.h"
#include "mm/object/list.h"
#include "mm/state/coherence.h"

#include <string.h>

/* As mm/doors/boundary.c has it. */
enum { BEHIND_BYTES = 64 << 10 };

/* No address lies that low, or that high: sizes and strides. */
static bool is_small(uint64_t value)
{
    return value < UINT64_C(1) << 32 || value > -(UINT64_C(1) << 32);
}

/* Return: false: nobody knows where the arguments are */
static bool value_at(const struct device_arguments *a,
                     const struct sc_place *place, uint64_t *value)
{
    const char *from = device_arguments_at(a, place);
    if (from)
        memcpy(value, from, sizeof *value);
    return from != NULL;
}

/* What a kernel uses that writes through `at`. Return: of how many bytes a block
 * is; 0: nothing is shared there */
static size_t use_at(const uint8_t *at, struct adsm_use *use)
{
    struct adsm_object *object = adsm_index_acquire(at);
    if (!object)
        return 0;
    size_t left = object->bytes - (size_t)(at - object->host);
    size_t block = object->block_bytes;
    *use = adsm_use_of(object, at, left, ADSM_INOUT);
    adsm_rwlock_release_shared(&object->lock);
    return block;
}

/* Where the arguments in these places point, a use each at most. Return: false:
 * somewhere that is not known */
static bool uses_of(const struct device_arguments *a,
                    const struct sc_reach *reach, uint32_t places,
                    struct adsm_use *uses, size_t *count)
{
    uint64_t value;
    *count = 0;
    for (unsigned i = 0; i < reach->place_count; i++) {
        if (!(places >> i & 1))
            continue;
        if (!value_at(a, &reach->place[i], &value))
            return false;
        if (is_small(value))
            continue;
        if (!use_at((const uint8_t *)(uintptr_t)value, &uses[*count]))
            return false;
        ++*count;
    }
    return true;
}

/* Arrays that are passed less some elements begin behind where arguments point:
 * those are added. Return: how many uses there are then */
static size_t add_behind(struct adsm_use *uses, size_t count)
{
    size_t all = count;
    for (size_t i = 0; i < count; i++)
        if (uses[i].bytes <= BEHIND_BYTES &&
            use_at(uses[i].at + BEHIND_BYTES, &uses[all]))
            all++;
    return all;
}

/* ---- ranges -------------------------------------------------------------- */

enum { PAGE = 4096, GAPS_MOST = 64 };

struct names {
    struct adsm_use *uses;
    size_t count;
    adsmMode mode;
    struct adsm_rows *rows; /* of those uses that have some */
    size_t row_count;
};

/* [at, end) as far as it lies in one object. Return: where that ends; NULL:
 * nothing is shared there, or there is no room */
static const uint8_t *name_from(struct names *names, const uint8_t *at,
                                const uint8_t *end)
{
    struct adsm_use *use = &names->uses[names->count];
    if (names->count == DEVICE_REACH_MOST || !use_at(at, use))
        return NULL;
    if (use->bytes > (size_t)(end - at))
        use->bytes = (size_t)(end - at);
    use->mode = names->mode;
    names->count++;
    return at + use->bytes;
}

/* Rows that a block has room between, what is closer being one row. Return:
 * false: there are none, or more than blocks */
static bool rows_of(const struct sc_range *r, size_t block,
                    struct adsm_rows *rows)
{
    uint64_t bytes = r->row, room = (r->last - r->first) / block;
    unsigned strides = r->stride_count;
    for (; strides && r->stride[strides - 1].bytes < bytes + block; strides--)
        bytes +=
            (r->stride[strides - 1].count - 1) * r->stride[strides - 1].bytes;
    *rows = (struct adsm_rows){.bytes = bytes, .stride_count = strides};
    for (unsigned i = 0; i < strides; i++) {
        rows->stride[i].bytes = r->stride[i].bytes;
        rows->stride[i].count = r->stride[i].count;
        room /= r->stride[i].count;
        if (!room)
            return false;
    }
    return strides > 0;
}

/* The rows of a range, which lie in one object. */
static bool name_rows(struct names *names, const struct sc_range *r)
{
    struct adsm_use *use = &names->uses[names->count];
    struct adsm_rows *rows = &names->rows[names->row_count];
    uint64_t last = r->last - r->first;
    if (!r->stride_count || names->count == DEVICE_REACH_MOST ||
        names->row_count == DEVICE_ROWS_MOST)
        return false;
    size_t block = use_at((const uint8_t *)(uintptr_t)r->first, use);
    if (!block || last >= use->bytes || !rows_of(r, block, rows))
        return false;
    use->bytes = last + 1;
    use->mode = names->mode;
    use->rows = rows;
    names->count++;
    names->row_count++;
    return true;
}

/* What is shared of a range, whoever it was meant for. Return: false: too much
 * of it is not */
static bool name_range(struct names *names, uint64_t first, uint64_t last)
{
    unsigned gaps = 0;
    for (uint64_t at = first; at <= last;) {
        const uint8_t *behind =
            name_from(names, (const uint8_t *)(uintptr_t)at,
                      (const uint8_t *)(uintptr_t)(last + 1));
        if (!behind && ++gaps > GAPS_MOST)
            return false;
        at = behind ? (uintptr_t)behind : (at | (PAGE - 1)) + 1;
    }
    return true;
}

/* The object around `at`, all of it. Return: where it ends; NULL: none, or there
 * is no room */
static const uint8_t *name_object(struct names *names, const uint8_t *at)
{
    struct adsm_use found;
    if (!use_at(at, &found))
        return NULL;
    const uint8_t *end = found.at + found.bytes;
    const uint8_t *host = found.object->host;
    return host < end ? name_from(names, host, end) : NULL;
}

/* The objects that a pointer leads to: an array that is passed less some
 * elements begins shortly behind it. */
static bool name_target(struct names *names, const uint8_t *pointer)
{
    const uint8_t *at = name_object(names, pointer);
    if (!at)
        return false;
    while (at <= pointer + BEHIND_BYTES) {
        const uint8_t *behind = name_object(names, at);
        at = behind ? behind : at + PAGE - (uintptr_t)at % PAGE;
    }
    return names->count < DEVICE_REACH_MOST;
}

static bool name_targets(struct names *names, const struct sc_reach *reach,
                         uint32_t places, const struct device_arguments *a)
{
    uint64_t value;
    for (unsigned i = 0; i < reach->place_count; i++) {
        if (!(places >> i & 1))
            continue;
        if (!value_at(a, &reach->place[i], &value))
            return false;
        if (!is_small(value) &&
            !name_target(names, (const uint8_t *)(uintptr_t)value))
            return false;
    }
    return true;
}

/* All that the launch touches. Return: false: it may touch more */
static bool name_all(struct names *names, const struct sc_reach *reach,
                     const struct sc_touched *touched,
                     const struct device_arguments *a)
{
    for (unsigned i = 0; i < touched->count; i++) {
        const struct sc_range *r = &touched->range[i];
        size_t before = names->count;
        names->mode = r->writes ? ADSM_INOUT : ADSM_IN;
        if (r->known &&
            (name_rows(names, r) || name_range(names, r->first, r->last)))
            continue;
        names->count = before;
        if (!name_targets(names, reach, r->places, a))
            return false;
    }
    return true;
}

/* Nothing else is touched. Return: false: some of it is another device's */
static bool name_only(struct adsm_call *call, const struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->uses[i].home != call->accel)
            return false;
    call->rest = ADSM_REST_UNTOUCHED;
    call->uses = names->uses;
    call->use_count = names->count;
    return true;
}

/* May a launch leave blocks alone that lie in what it touches? */
static bool has_room(const struct sc_touched *touched)
{
    struct adsm_use use;
    for (unsigned i = 0; i < touched->count; i++) {
        const struct sc_range *r = &touched->range[i];
        if (!r->sparse)
            continue;
        size_t block = use_at((const uint8_t *)(uintptr_t)r->first, &use);
        if (block && (r->last - r->first) / 2 >= block)
            return true;
    }
    return false;
}

/* What the launch touches. Return: false: that is not known */
static bool look(struct adsm_code *code, const struct sc_geometry *geometry,
                 const struct device_arguments *a, struct sc_touched *touched)
{
    uint8_t params[DEVICE_ARGUMENT_BYTES_MOST];
    size_t bytes = device_arguments_gather(a, params, sizeof params);
    return bytes && adsm_code_touched(code, geometry, params, bytes, touched) &&
           (!has_room(touched) ||
            adsm_code_rows(code, geometry, params, bytes, touched));
}

/* Say what the call touches by ranges. Return: false: that is not known */
static bool tell_ranges(struct adsm_call *call, struct adsm_code *code,
                        const struct sc_reach *reach,
                        const struct sc_geometry *geometry,
                        const struct device_arguments *a,
                        struct device_told *told)
{
    struct sc_touched touched;
    struct names names = {.uses = told->uses, .rows = told->rows};
    return look(code, geometry, a, &touched) &&
           name_all(&names, reach, &touched, a) && name_only(call, &names);
}

/* The same by objects, which costs no look at the launch's numbers. It is as
 * good where the host has no page: nothing is sent, and nothing is taken away.
 * What is only read counts as written, so that no later launch asks for it. */
static bool tell_objects(struct adsm_call *call, const struct sc_reach *reach,
                         const struct device_arguments *a,
                         struct device_told *told)
{
    struct names names = {.uses = told->uses, .mode = ADSM_INOUT};
    return !adsm_object_any_pages() &&
           name_targets(&names, reach, reach->reached, a) &&
           name_only(call, &names);
}

/* ---- objects ------------------------------------------------------------- */

/* Every eight bytes of the arguments that are the address of an object. Return:
 * false: nobody knows where arguments are, or they are too many */
static bool find_pointers(const struct device_arguments *a,
                          struct adsm_use *uses, size_t *count)
{
    const struct device_params *known = &a->known;
    uint64_t value;
    *count = 0;
    for (unsigned i = 0; i < known->count; i++)
        for (unsigned at = 0; at + sizeof value <= known->at[i].bytes;
             at += sizeof value) {
            const struct sc_place place = {
                (uint16_t)i, (uint16_t)at,
                (uint16_t)(known->at[i].offset + at)};
            if (*count == DEVICE_REACH_MOST / 2 || !value_at(a, &place, &value))
                return false;
            *count +=
                !is_small(value) &&
                use_at((const uint8_t *)(uintptr_t)value, &uses[*count]) > 0;
        }
    return known->count > 0;
}

/* What the launch may touch of objects that come and go. */
static bool reach_of(const struct sc_reach *kernel,
                     const struct device_arguments *a, struct adsm_use *uses,
                     size_t *count)
{
    if (kernel && !kernel->reaches_anywhere &&
        uses_of(a, kernel, kernel->reached, uses, count))
        return true;
    return adsm_options_get()->oversubscribe ==
               ADSM_OPT_OVERSUBSCRIBE_ARGUMENTS &&
           find_pointers(a, uses, count);
}

bool device_reach_is_asked(void)
{
    return adsm_options_get()->kernel_writes == ADSM_OPT_KERNEL_WRITES_PTX;
}

/* May a launch be told from what its kernel's code says? Where the host has
 * nothing there is nothing to send or to take away, whatever is touched. */
static bool asks_code(void)
{
    return device_reach_is_asked() && adsm_object_any_near();
}

bool device_reach_matters(void)
{
    return asks_code() || adsm_options_get()->oversubscribe;
}

void device_reach_tell(struct adsm_call *call, struct adsm_code *code,
                       const struct sc_geometry *geometry,
                       const struct device_arguments *a,
                       struct device_told *told)
{
    bool writes = asks_code();
    bool comes_and_goes = adsm_options_get()->oversubscribe;
    const struct sc_reach *k = code ? adsm_code_reach(code) : NULL;
    bool variables = adsm_object_any_variable();
    size_t count;
    /* Programmers whom batch mimics take everything. */
    bool exact = k && writes && !comes_and_goes && !k->reaches_anywhere &&
                 !(variables && k->reaches_own) &&
                 !adsm_coherence_protocol()->acquires;
    if (exact && (tell_objects(call, k, a, told) ||
                  tell_ranges(call, code, k, geometry, a, told)))
        return;
    if (k && writes && !k->writes_anywhere && !(variables && k->writes_own) &&
        uses_of(a, k, k->written, told->uses, &count)) {
        call->rest = ADSM_REST_READ;
        call->uses = told->uses;
        call->use_count = count;
    }
    if (comes_and_goes && reach_of(k, a, told->reach, &count)) {
        call->reach = told->reach;
        call->reach_count = add_behind(told->reach, count);
        call->reach_known = true;
    }
}
