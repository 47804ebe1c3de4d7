/*
 * Objects: what their creation takes it gives back, whichever call of the back
 * end fails; walks over them; and what every protocol does to a block on every
 * event.
 */
#include "small/fixture.h"

#include "base/stats.h"
#include "mm/doors/loan.h"
#include "mm/heap/heap.h"
#include "mm/heap/life.h"
#include "mm/heap/slab.h"
#include "mm/object/index.h"
#include "mm/object/list.h"

#include <pthread.h>
#include <time.h>

enum { BLOCKS = 4, BYTES = BLOCKS * PAGE - 100 };

static size_t host_mappings(void)
{
    char line[512];
    size_t count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof line, maps))
        count += strstr(line, "rw-s") != NULL;
    fclose(maps);
    return count;
}

/* Fetch a block, store into it, and send it. Return: did all of it work? */
static bool use(struct adsm_object *object)
{
    struct adsm_loan loan;
    if (adsm_loan_begin(object->host, 1, ADSM_WRITE, &loan) != ADSM_OK)
        return false;
    *(uint8_t *)loan.address = 7;
    if (adsm_loan_end(&loan, 1) != ADSM_OK)
        return false;
    adsm_rwlock_acquire(&object->lock);
    int rc = adsm_coherence_apply(object, 0, 1, ADSM_CALL, ADSM_CAUSE(call));
    adsm_rwlock_release(&object->lock);
    return rc == ADSM_OK;
}

/* Once the driver has refused to page-lock memory it is asked again when some
 * is let go of: another object, in use all the while, sees to that. */
START_TEST(object_leaves_nothing_behind_whichever_call_fails)
{
    struct adsm_accel *accel = up("rolling", 1);
    free_object(new_object(accel, BYTES, ADSM_READ_ONLY));
    size_t mappings = host_mappings();
    unsigned n = 0;
    for (bool failed = true; failed;) {
        struct adsm_object *other = new_object(accel, BYTES, ADSM_INVALID);
        struct adsm_object *object = NULL;
        ck_assert(use(other));
        small_fail(NULL, ++n, ADSM_E_NOMEM);
        if (adsm_object_create(accel, BYTES, BYTES, ADSM_INVALID,
                               &adsm_kind_plain, &object) == ADSM_OK) {
            bool used = use(object);
            failed = small_has_failed();
            ck_assert(used || failed);
            int rc =
                adsm_object_destroy(object, atomic_load(&object->generation));
            (void)rc; /* may be the call that fails */
        }
        failed = small_has_failed();
        free_object(other);
        ck_assert_uint_eq(small.used[0], 0);
        ck_assert_uint_eq(small.pinned, 0);
        ck_assert_uint_eq(host_mappings(), mappings);
    }
    ck_assert_uint_gt(n, 4);
}
END_TEST

START_TEST(object_is_freed_once_and_its_address_is_nobodys_then)
{
    struct adsm_accel *accel = up("rolling", 1);
    struct adsm_object *object = new_object(accel, BYTES, ADSM_READ_ONLY);
    uint32_t generation = atomic_load(&object->generation);
    uint8_t *host = object->host;
    ck_assert_ptr_eq(adsm_index_find(host), object);
    must(adsm_object_destroy(object, generation));
    ck_assert_ptr_null(adsm_index_find(host));
    ck_assert_int_eq(adsm_object_destroy(object, generation),
                     ADSM_E_NOT_SHARED);
}
END_TEST

/* ---- walks ------------------------------------------------------------------------ */

static int count(struct adsm_object *object, void *counted)
{
    ck_assert(atomic_load(&object->live));
    ++*(unsigned *)counted;
    return ADSM_OK;
}

/* More than a walk has room for at first. */
START_TEST(walk_visits_the_objects_of_a_home_or_all_or_those_that_are_near)
{
    enum { FIRST = 300, SECOND = 400, NEAR = 7 };
    struct adsm_accel *accel[2] = {up("rolling", 2)};
    must(adsm_accel_open(1, &accel[1]));
    for (int i = 0; i < FIRST + SECOND; i++)
        (void)new_object(accel[i >= FIRST], 1,
                         i % 100 < NEAR ? ADSM_READ_ONLY : ADSM_INVALID);
    for (int near = 0; near < 2; near++) {
        unsigned counted[3] = {0};
        must(adsm_object_each(accel[0], near, count, &counted[0]));
        must(adsm_object_each(accel[1], near, count, &counted[1]));
        must(adsm_object_each(NULL, near, count, &counted[2]));
        ck_assert_uint_eq(counted[0], near ? 3 * NEAR : FIRST);
        ck_assert_uint_eq(counted[1], near ? 4 * NEAR : SECOND);
        ck_assert_uint_eq(counted[2], counted[0] + counted[1]);
    }
    for (int i = 0; i < 2; i++)
        adsm_heap_forget(accel[i]);
}
END_TEST

static void *walk(void *accel)
{
    unsigned counted = 0;
    must(adsm_object_each(accel, false, count, &counted));
    ck_assert_uint_eq(counted, 1);
    return NULL;
}

static int let_another_walk(struct adsm_object *object, void *accel)
{
    pthread_t thread;
    struct timespec end;
    ck_assert_int_eq(pthread_create(&thread, NULL, walk, accel), 0);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 5;
    ck_assert_int_eq(pthread_timedjoin_np(thread, NULL, &end), 0);
    (void)object;
    return ADSM_OK;
}

/* A visit may wait for its device. */
START_TEST(walks_over_the_objects_of_two_homes_do_not_wait_for_each_other)
{
    struct adsm_accel *accel[2] = {up("rolling", 2)};
    must(adsm_accel_open(1, &accel[1]));
    for (int i = 0; i < 2; i++)
        (void)new_object(accel[i], 1, ADSM_INVALID);
    must(adsm_object_each(accel[0], false, let_another_walk, accel[1]));
    must(adsm_object_each(accel[1], false, let_another_walk, accel[0]));
    for (int i = 0; i < 2; i++)
        adsm_heap_forget(accel[i]);
}
END_TEST

/* ---- every protocol, event and state -------------------------------------------- */

static const char *const protocols[] = {"batch", "lazy", "rolling"};

/* An object of one block in a state, the host's bytes and the device's apart
 * where the state says that they may be. */
static struct adsm_object *in_state(struct adsm_accel *accel,
                                    enum adsm_state state)
{
    struct adsm_object *object = new_object(accel, PAGE, ADSM_INVALID);
    memset(on_device(object), 'd', PAGE);
    if (state == ADSM_INVALID)
        return object;
    adsm_rwlock_acquire(&object->lock);
    must(adsm_coherence_apply(object, 0, 1, ADSM_BULK_READ, ADSM_CAUSE(call)));
    if (state == ADSM_DIRTY)
        must(adsm_coherence_apply(object, 0, 1, ADSM_WRITE_FAULT,
                                  ADSM_CAUSE(call)));
    else if (adsm_block_state(object, 0) == ADSM_DIRTY)
        must(adsm_coherence_apply(object, 0, 1, ADSM_PART_READ,
                                  ADSM_CAUSE(call)));
    adsm_rwlock_release(&object->lock);
    ck_assert_int_eq(adsm_block_state(object, 0), state);
    memset(object->shadow.shadow, state == ADSM_DIRTY ? 'h' : 'd', PAGE);
    small_run();
    return object;
}

/* The table's cell, done: the state, what moved, and what the CPU may do. */
static void check_cell(struct adsm_accel *accel, enum adsm_event event,
                       enum adsm_state state)
{
    const struct adsm_protocol *protocol = adsm_coherence_protocol();
    const struct adsm_cell *cell = &protocol->cell[event][state];
    if (event == ADSM_CALL_KEPT) /* needs a twin: tests/mm/test_twin.c */
        return;
    struct adsm_object *object = in_state(accel, state);
    uint64_t up_before = adsm_stats_get(ADSM_STAT_bytes_up);
    uint64_t down_before = adsm_stats_get(ADSM_STAT_bytes_down);
    adsm_rwlock_acquire(&object->lock);
    must(adsm_coherence_apply(object, 0, 1, event, ADSM_CAUSE(call)));
    ck_assert(adsm_object_is_valid(object));
    adsm_rwlock_release(&object->lock);
    ck_assert_msg(adsm_block_state(object, 0) == cell->next, "%s: %s on %s",
                  protocol->name, adsm_event_name(event),
                  adsm_state_name(state));
    bool fetches = cell->actions & ADSM_DO_FETCH;
    bool flushes = cell->actions & ADSM_DO_FLUSH;
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_down) - down_before,
                      fetches ? PAGE : 0);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_up) - up_before,
                      flushes ? PAGE : 0);
    small_run();
    ck_assert_int_eq(*on_device(object),
                     flushes && state == ADSM_DIRTY ? 'h' : 'd');
    if (fetches)
        ck_assert_int_eq(*object->shadow.shadow, 'd');
    if (atomic_load(&object->backed)) {
        ck_assert_int_eq(may_read(object->host), cell->next != ADSM_INVALID);
        ck_assert_int_eq(may_write(object->host, 'w'),
                         cell->next == ADSM_DIRTY);
    }
    free_object(object);
}

START_TEST(event_does_to_a_block_what_its_protocol_says)
{
    struct adsm_accel *accel = up(protocols[_i], 1);
    for (int e = 0; e < ADSM_EVENTS; e++)
        for (int s = 0; s < ADSM_STATES; s++)
            check_cell(accel, (enum adsm_event)e, (enum adsm_state)s);
    ck_assert_uint_eq(small.used[0], 0);
}
END_TEST

/* A step that fails leaves state, protection and bytes, and the next one works. */
START_TEST(event_that_fails_leaves_the_block_as_it_was)
{
    struct adsm_accel *accel = up(protocols[_i], 1);
    for (int e = 0; e < ADSM_EVENTS; e++)
        for (int s = 0; s < ADSM_STATES; s++)
            for (unsigned n = 1; e != ADSM_CALL_KEPT; n++) {
                struct adsm_object *object =
                    in_state(accel, (enum adsm_state)s);
                bool open = may_write(object->host, s == ADSM_DIRTY ? 'h' : 0);
                adsm_rwlock_acquire(&object->lock);
                small_fail(NULL, n, ADSM_E_NOMEM);
                int rc = adsm_coherence_apply(object, 0, 1, (enum adsm_event)e,
                                              ADSM_CAUSE(call));
                bool failed = small_has_failed();
                if (rc != ADSM_OK) {
                    ck_assert_int_eq(adsm_block_state(object, 0), s);
                    ck_assert_int_eq(may_write(object->host, 'h'), open);
                    must(adsm_coherence_apply(object, 0, 1, (enum adsm_event)e,
                                              ADSM_CAUSE(call)));
                }
                ck_assert(adsm_object_is_valid(object));
                adsm_rwlock_release(&object->lock);
                free_object(object);
                if (!failed)
                    break;
            }
}
END_TEST

/* ---- blocks and early write-backs ------------------------------------------------- */

START_TEST(held_block_is_held_once_and_a_run_ends_where_the_state_does)
{
    struct adsm_accel *accel = up("rolling", 1);
    struct adsm_object *object = new_object(accel, BYTES, ADSM_INVALID);
    adsm_rwlock_acquire_shared(&object->lock);
    ck_assert(adsm_block_try_hold(object, 1));
    ck_assert(!adsm_block_try_hold(object, 1));
    must(
        adsm_coherence_apply(object, 1, 1, ADSM_WRITE_FAULT, ADSM_CAUSE(call)));
    ck_assert(!adsm_block_try_hold(object, 1));
    adsm_block_release(object, 1, 1);
    ck_assert(!adsm_block_is_held(object, 1));
    ck_assert_uint_eq(adsm_block_run(object, 0, BLOCKS), 1);
    ck_assert_uint_eq(adsm_block_run(object, 2, BLOCKS - 2), BLOCKS - 2);
    adsm_rwlock_release_shared(&object->lock);
    free_object(object);
}
END_TEST

static void store(struct adsm_object *object, uint32_t i)
{
    struct adsm_loan loan;
    must(adsm_loan_begin(object->host + i * PAGE, 1, ADSM_WRITE, &loan));
    *(uint8_t *)loan.address = 'h';
    must(adsm_loan_end(&loan, 1));
}

static void check_states(const struct adsm_object *object, const char *states)
{
    for (uint32_t i = 0; i < BLOCKS; i++)
        ck_assert_msg(adsm_block_state(object, i) ==
                          (states[i] == 'd' ? ADSM_DIRTY : ADSM_READ_ONLY),
                      "block %u", i);
}

START_TEST(oldest_block_is_written_back_and_one_that_cannot_be_stays)
{
    setenv("ADSM_ROLLING_SIZE", "2", 1);
    setenv("ADSM_ROLLING_LEARN", "0", 1);
    struct adsm_accel *accel = up("rolling", 1);
    struct adsm_object *object = new_object(accel, BYTES, ADSM_READ_ONLY);
    store(object, 2);
    store(object, 0);
    check_states(object, "drdr");
    store(object, 1);
    check_states(object, "ddrr");
    small_fail("copy_up", 1, ADSM_E_NOMEM);
    store(object, 3);
    ck_assert(small_has_failed());
    check_states(object, "ddrd");
    store(object, 2);
    ck_assert_uint_eq(atomic_load(&object->dirty), 2);
    ck_assert_int_eq(adsm_block_state(object, 2), ADSM_DIRTY);
    /* The one that could not be sent is the oldest by now. */
    ck_assert_int_eq(adsm_block_state(object, 0), ADSM_DIRTY);
    store(object, 1);
    ck_assert_int_eq(adsm_block_state(object, 0), ADSM_READ_ONLY);
    small_run();
    ck_assert_int_eq(on_device(object)[PAGE], 'h');
    free_object(object);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("object");
    TCase *tcase = tcase_create("object");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, object_leaves_nothing_behind_whichever_call_fails);
    tcase_add_test(tcase, object_is_freed_once_and_its_address_is_nobodys_then);
    tcase_add_test(
        tcase, walk_visits_the_objects_of_a_home_or_all_or_those_that_are_near);
    tcase_add_test(
        tcase, walks_over_the_objects_of_two_homes_do_not_wait_for_each_other);
    tcase_add_loop_test(tcase, event_does_to_a_block_what_its_protocol_says, 0,
                        3);
    tcase_add_loop_test(tcase, event_that_fails_leaves_the_block_as_it_was, 0,
                        3);
    tcase_add_test(tcase,
                   held_block_is_held_once_and_a_run_ends_where_the_state_does);
    tcase_add_test(tcase,
                   oldest_block_is_written_back_and_one_that_cannot_be_stays);
    suite_add_tcase(suite, tcase);
    return suite_finish(suite);
}
