/* Launches remembered; see plan.h. */
#include "interpose/device/plan.h"

#include "base/cell.h"
#include "base/system.h"
#include "mm/object/index.h"

#include <string.h>
#include <sys/mman.h>

enum {
    PLACES_LOG2 = 8,
    VALUES = DEVICE_PLAN_ARGUMENT_BYTES / sizeof(uint64_t),
};

/* Which launch it is, but for its arguments, and how much of these there is. */
enum { KERNEL, AGE, OBJECTS, GEOMETRY, BYTES = GEOMETRY + 3, HEAD };

/* A use, which is of the call's own device and has no rows. */
enum { OBJECT, GENERATION, AT, SIZE, USE };

struct place {
    adsm_cell cell;
    _Atomic uint64_t head[HEAD], values[VALUES];
    _Atomic uint64_t home, use_count, uses[DEVICE_PLAN_USES][USE];
};

/* Mapped for the first that is noted: most programs have none. */
static struct place *_Atomic table;

static struct place *place_of(const struct device_plan_key *key)
{
    struct place *places = atomic_load_explicit(&table, memory_order_acquire);
    return places && key->bytes ? &places[key->place] : NULL;
}

static struct place *provide(const struct device_plan_key *key)
{
    enum { BYTES_OF_ALL = sizeof(struct place) << PLACES_LOG2 };
    struct place *none = NULL, *made;
    if (atomic_load(&table))
        return place_of(key);
    made = adsm_system_mmap(NULL, BYTES_OF_ALL, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made != MAP_FAILED &&
        !atomic_compare_exchange_strong(&table, &none, made))
        adsm_system_munmap(made, BYTES_OF_ALL);
    return place_of(key);
}

static void fill_head(uint64_t head[HEAD], const struct device_launch *launch,
                      const struct device_plan_key *key)
{
    const unsigned *grid = launch->geometry->grid;
    const unsigned *block = launch->geometry->block;
    head[KERNEL] = launch->kernel;
    head[AGE] = launch->age;
    head[OBJECTS] = key->objects;
    for (int i = 0; i < 3; i++)
        head[GEOMETRY + i] = (uint64_t)grid[i] << 32 | block[i];
    head[BYTES] = key->bytes;
}

static size_t words_of(const struct device_plan_key *key)
{
    return (key->bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

/* Words with the same bytes are the same, whatever was there before. */
void device_plan_key(const struct device_launch *launch,
                     struct device_plan_key *key)
{
    uint8_t *values = (uint8_t *)key->values;
    uint64_t sum = launch->kernel;
    key->bytes =
        device_arguments_gather(launch->arguments, values, sizeof key->values);
    if (key->bytes % sizeof(uint64_t))
        memset(values + key->bytes, 0,
               sizeof(uint64_t) - key->bytes % sizeof(uint64_t));
    for (size_t i = 0; i < words_of(key); i++)
        sum = (sum << 7 | sum >> 57) ^ key->values[i];
    key->place = adsm_cell_of(sum, PLACES_LOG2);
}

static struct adsm_use use_of(const struct place *place, size_t i,
                              struct adsm_accel *home)
{
    uint64_t words[USE];
    adsm_cell_read(place->uses[i], words, USE);
    return (struct adsm_use){.object =
                                 (struct adsm_object *)(uintptr_t)words[OBJECT],
                             .home = home,
                             .generation = (uint32_t)words[GENERATION],
                             .mode = (adsmMode)(words[GENERATION] >> 32),
                             .at = (const uint8_t *)(uintptr_t)words[AT],
                             .bytes = (size_t)words[SIZE]};
}

static bool read_uses(const struct place *place, struct adsm_call *call,
                      struct device_told *told)
{
    uint64_t home, count;
    adsm_cell_read(&place->home, &home, 1);
    adsm_cell_read(&place->use_count, &count, 1);
    if (home != (uintptr_t)call->accel || count > DEVICE_PLAN_USES)
        return false;
    for (size_t i = 0; i < count; i++)
        told->uses[i] = use_of(place, i, call->accel);
    call->use_count = (size_t)count;
    return true;
}

/* Begin to read what was noted of a launch; the key says how many objects there
 * are in any case. Return: false: nothing was. */
static bool look_for(const struct place *place,
                     const struct device_launch *launch,
                     struct device_plan_key *key, uint32_t *version)
{
    uint64_t head[HEAD];
    key->objects = adsm_index_count();
    if (!place || !adsm_cell_begin(&place->cell, version))
        return false;
    fill_head(head, launch, key);
    return adsm_cell_has(place->head, head, HEAD) &&
           adsm_cell_has(place->values, key->values, words_of(key));
}

bool device_plan_is_bare(const struct device_launch *launch,
                         struct device_plan_key *key)
{
    const struct place *place = place_of(key);
    uint32_t version;
    return place &&
           atomic_load_explicit(&place->use_count, memory_order_relaxed) == 0 &&
           look_for(place, launch, key, &version) &&
           atomic_load_explicit(&place->use_count, memory_order_acquire) == 0 &&
           adsm_cell_is(&place->cell, version);
}

bool device_plan_recall(struct adsm_call *call,
                        const struct device_launch *launch,
                        struct device_plan_key *key, struct device_told *told)
{
    const struct place *place = place_of(key);
    uint32_t version;
    if (!look_for(place, launch, key, &version))
        return false;
    if (!read_uses(place, call, told) || !adsm_cell_is(&place->cell, version)) {
        call->use_count = 0;
        return false;
    }
    call->rest = ADSM_REST_UNTOUCHED;
    call->uses = told->uses;
    return true;
}

/* What a place has no words for. */
static bool has_room(const struct adsm_call *call)
{
    bool has = call->use_count <= DEVICE_PLAN_USES;
    for (size_t i = 0; has && i < call->use_count; i++)
        has = !call->uses[i].rows;
    return has;
}

void device_plan_note(const struct adsm_call *call,
                      const struct device_launch *launch,
                      const struct device_plan_key *key)
{
    uint64_t head[HEAD];
    if (key->bytes == 0 || call->rest != ADSM_REST_UNTOUCHED || !has_room(call))
        return;
    struct place *place = provide(key);
    if (!place || !adsm_cell_take(&place->cell))
        return;
    fill_head(head, launch, key);
    adsm_cell_write(place->head, head, HEAD);
    adsm_cell_write(place->values, key->values, words_of(key));
    adsm_cell_write(&place->home, &(uint64_t){(uintptr_t)call->accel}, 1);
    adsm_cell_write(&place->use_count, &(uint64_t){call->use_count}, 1);
    for (size_t i = 0; i < call->use_count; i++) {
        const struct adsm_use *use = &call->uses[i];
        const uint64_t words[USE] = {
            (uintptr_t)use->object, (uint64_t)use->mode << 32 | use->generation,
            (uintptr_t)use->at, use->bytes};
        adsm_cell_write(place->uses[i], words, USE);
    }
    adsm_cell_give(&place->cell);
}
