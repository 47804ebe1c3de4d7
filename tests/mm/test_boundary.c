/*
 * Calls at the boundary: what is said about an object is about that object, and
 * not about the next one in its place; and who waits while a call is made.
 */
#include "accel/fence.h"
#include "fixture.h"
#include "mm/doors/boundary.h"
#include "mm/object/index.h"
#include "mm/state/coherence.h"
#include "os/vm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 2 << 20 };

static void up(void)
{
    /* Nothing is written back early. */
    setenv("ADSM_ROLLING_SIZE", "60000", 1);
    setenv("ADSM_BLOCK_SIZE", "64K", 1);
    (void)fixture_up();
}

static bool all_are(const uint8_t *p, uint8_t value)
{
    for (size_t i = 0; i < BYTES; i++)
        if (p[i] != value)
            return false;
    return true;
}

static struct adsm_use use_of(uint8_t *p, adsmMode mode)
{
    struct adsm_object *object = adsm_index_acquire(p);
    ck_assert_ptr_nonnull(object);
    struct adsm_use use =
        adsm_use_of(object, object->host, object->bytes, mode);
    adsm_rwlock_release_shared(&object->lock);
    return use;
}

static struct adsm_call call_of(const struct adsm_use *uses, size_t count)
{
    return (struct adsm_call){.accel = uses->home,
                              .stream = adsm_accel_launch_stream(uses->home),
                              .rest = ADSM_REST_UNUSED,
                              .uses = uses,
                              .use_count = count};
}

/* An object in the place of another of which `*old` is a use. */
static uint8_t *next_owner(adsmMode mode, struct adsm_use *old)
{
    up();
    uint8_t *p = adsmAlloc(BYTES);
    *old = use_of(p, mode);
    must(adsmFree(p));
    uint8_t *next = adsmAlloc(BYTES);
    ck_assert_ptr_eq(adsm_index_find(next), old->object);
    memset(next, 7, BYTES);
    return next;
}

START_TEST(call_that_names_a_freed_object_is_refused)
{
    static const adsmMode modes[] = {ADSM_IN, ADSM_INOUT};
    for (size_t i = 0; i < 2; i++) {
        struct adsm_use old;
        uint8_t *next = next_owner(modes[i], &old);
        struct adsm_call call = call_of(&old, 1);
        ck_assert_int_eq(adsm_boundary_call(&call), ADSM_E_NOT_SHARED);
        ck_assert_int_eq(adsm_block_state(old.object, 0), ADSM_DIRTY);
        must(adsmFree(next));
    }
}
END_TEST

START_TEST(refused_call_leaves_the_others_it_names_usable)
{
    struct adsm_use uses[2];
    uint8_t *next = next_owner(ADSM_INOUT, &uses[1]);
    uint8_t *other = adsmAlloc(BYTES);
    memset(other, 5, BYTES);
    uses[0] = use_of(other, ADSM_INOUT);
    struct adsm_call call = call_of(uses, 2);
    ck_assert_int_eq(adsm_boundary_call(&call), ADSM_E_NOT_SHARED);
    ck_assert(all_are(other, 5) && all_are(next, 7));
    must(adsmFree(other));
    must(adsmFree(next));
}
END_TEST

/* Dropped when the call is enqueued, by which time it was freed. */
START_TEST(object_freed_while_the_call_is_made_costs_the_next_owner_nothing)
{
    struct adsm_use old;
    uint8_t *next = next_owner(ADSM_OUT, &old);
    struct adsm_fence before = old.object->work;
    struct adsm_call call = call_of(&old, 1);
    if (adsm_boundary_call(&call) == ADSM_OK)
        must(adsm_boundary_called(&call));
    ck_assert_uint_eq(old.object->work.seq, before.seq);
    ck_assert_int_eq(adsm_block_state(old.object, 0), ADSM_DIRTY);
    ck_assert(all_are(next, 7));
    must(adsmFree(next));
}
END_TEST

/* The objects around a use of some bytes are the rest. */
START_TEST(use_of_a_part_leaves_the_other_blocks_to_the_rest)
{
    up();
    uint8_t *p = adsmAlloc(BYTES);
    memset(p, 7, BYTES);
    struct adsm_use use = use_of(p, ADSM_IN);
    size_t block = use.object->block_bytes;
    use.at += block + 100;
    use.bytes = 2 * block - 101;
    struct adsm_call call = call_of(&use, 1);
    must(adsm_boundary_call(&call));
    for (uint32_t i = 0; i < use.object->block_count; i++)
        ck_assert_int_eq(adsm_block_state(use.object, i),
                         i == 1 || i == 2 ? ADSM_READ_ONLY : ADSM_DIRTY);
    must(adsm_boundary_called(&call));
    call.rest = ADSM_REST_USED;
    must(adsm_boundary_call(&call));
    for (uint32_t i = 0; i < use.object->block_count; i++)
        ck_assert_int_eq(adsm_block_state(use.object, i),
                         i == 1 || i == 2 ? ADSM_READ_ONLY : ADSM_INVALID);
    must(adsm_boundary_called(&call));
    must(adsmFree(p));
}
END_TEST

START_TEST(range_that_leaves_its_object_is_refused_and_nothing_is_held)
{
    up();
    uint8_t *p = adsmAlloc(BYTES);
    memset(p, 7, BYTES);
    struct adsm_object *object = adsm_index_find(p);
    adsm_stream stream = adsm_accel_launch_stream(object->home);
    struct adsm_device_write write;
    ck_assert_int_eq(adsm_boundary_device_write(p + 1, object->bytes, stream,
                                                &write, ADSM_CAUSE(own)),
                     ADSM_E_INVALID);
    ck_assert_ptr_null(write.object);
    ck_assert_int_eq(adsm_block_state(object, 0), ADSM_DIRTY);
    ck_assert(!adsm_boundary_is_far(p, object->bytes));
    must(adsm_boundary_device_read(p + BYTES / 2, object->bytes, stream));
    ck_assert_int_eq(adsm_block_state(object, 0), ADSM_DIRTY);
    ck_assert_int_eq(adsm_block_state(object, object->block_count - 1),
                     ADSM_READ_ONLY);
    ck_assert(all_are(p, 7));
    must(adsmFree(p));
    must(adsm_boundary_device_write(p, BYTES, stream, &write, ADSM_CAUSE(own)));
    ck_assert_ptr_null(write.object);
    ck_assert(adsm_boundary_is_far(p, BYTES));
}
END_TEST

/* ---- two devices --------------------------------------------------------- */

/* An object on each device, dirty all over. */
static void up_with_two(uint8_t *p[2])
{
    setenv("SOFTCUDA_DEVICES", "2", 1);
    up();
    for (int i = 0; i < 2; i++) {
        must(adsmDeviceUse(i));
        p[i] = adsmAlloc(BYTES);
        memset(p[i], 7, BYTES);
    }
}

static void call_on(struct adsm_use *use, struct adsm_call *call, uint8_t *p)
{
    *use = use_of(p, ADSM_INOUT);
    *call = call_of(use, 1);
    must(adsm_boundary_call(call));
}

struct toucher {
    volatile uint8_t *p;
    pthread_t thread;
    _Atomic bool done;
};

static void *touch(void *argument)
{
    struct toucher *t = argument;
    for (size_t i = 0; i < BYTES; i += 4096)
        t->p[i]++;
    atomic_store(&t->done, true);
    return NULL;
}

static void touch_start(struct toucher *t, uint8_t *p)
{
    t->p = p;
    atomic_store(&t->done, false);
    ck_assert_int_eq(pthread_create(&t->thread, NULL, touch, t), 0);
}

static bool is_done_within(struct toucher *t, int ms)
{
    for (; ms > 0 && !atomic_load(&t->done); ms--)
        usleep(1000);
    return atomic_load(&t->done);
}

START_TEST(fault_goes_on_while_a_call_on_another_device_is_in_the_driver)
{
    uint8_t *p[2];
    struct adsm_use use[2];
    struct adsm_call call[2];
    up_with_two(p);
    call_on(&use[0], &call[0], p[0]); /* all of it is the device's then */
    must(adsm_boundary_called(&call[0]));
    call_on(&use[1], &call[1], p[1]);
    struct toucher here, there;
    touch_start(&here, p[0]);
    touch_start(&there, p[1]);
    ck_assert(is_done_within(&here, 10000));
    pthread_join(here.thread, NULL);
    ck_assert(!is_done_within(&there, 100));
    must(adsm_boundary_called(&call[1]));
    pthread_join(there.thread, NULL);
    for (int i = 0; i < 2; i++)
        ck_assert(p[i][0] == 8 && p[i][1] == 7);
}
END_TEST

static void *make_call(void *p)
{
    struct adsm_use use;
    struct adsm_call call;
    call_on(&use, &call, p);
    must(adsm_boundary_called(&call));
    return NULL;
}

START_TEST(call_on_one_device_is_made_during_that_on_another)
{
    uint8_t *p[2];
    struct adsm_use use;
    struct adsm_call call;
    pthread_t thread;
    up_with_two(p);
    call_on(&use, &call, p[1]);
    pthread_create(&thread, NULL, make_call, p[0]);
    pthread_join(thread, NULL);
    must(adsm_boundary_called(&call));
    ck_assert(all_are(p[0], 7) && all_are(p[1], 7));
}
END_TEST

/* A call closes the gates of all that it names, wherever that lives. */
START_TEST(object_of_another_device_waits_for_the_call_that_names_it)
{
    uint8_t *p[2];
    up_with_two(p);
    struct adsm_use uses[2] = {use_of(p[1], ADSM_IN), use_of(p[0], ADSM_IN)};
    struct adsm_call call = call_of(uses, 2);
    must(adsm_boundary_call(&call));
    struct toucher there;
    touch_start(&there, p[0]);
    ck_assert(!is_done_within(&there, 100));
    adsm_boundary_call_failed(&call);
    pthread_join(there.thread, NULL);
    ck_assert(p[0][0] == 8 && p[1][0] == 7);
}
END_TEST

/* The queue of dirty blocks is everybody's: its oldest are those of the call. */
START_TEST(early_write_back_passes_over_the_blocks_of_a_call_being_made)
{
    uint8_t *p[2];
    struct adsm_use use;
    struct adsm_call call;
    setenv("SOFTCUDA_DEVICES", "2", 1);
    setenv("ADSM_ROLLING_SIZE", "4", 1);
    setenv("ADSM_ROLLING_LEARN", "0", 1);
    setenv("ADSM_BLOCK_SIZE", "64K", 1);
    (void)fixture_up();
    for (int i = 0; i < 2; i++) {
        must(adsmDeviceUse(i));
        p[i] = adsmAlloc(BYTES);
    }
    memset(p[1], 7, 3 * 65536);
    use = use_of(p[1], ADSM_OUT);
    call = call_of(&use, 1);
    must(adsm_boundary_call(&call)); /* leaves them dirty until it is made */
    struct toucher here;
    touch_start(&here, p[0]);
    ck_assert(is_done_within(&here, 10000));
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_int_eq(adsm_block_state(use.object, i), ADSM_DIRTY);
    adsm_boundary_call_failed(&call);
    pthread_join(here.thread, NULL);
    ck_assert(p[1][0] == 7 && p[1][3 * 65536 - 1] == 7);
}
END_TEST

/* What the device reads and the host may read already is closed to nobody. */
START_TEST(blocks_that_stay_as_they_are_are_not_protected_anew)
{
    up();
    uint8_t *p = adsmAlloc(BYTES);
    struct adsm_accel *accel = adsm_index_find(p)->home;
    adsm_stream stream = adsm_accel_launch_stream(accel);
    if (adsm_fault_range_is_lasting())
        return; /* userfaultfd: no change of protection is counted */
    uint64_t closings = adsm_vm_closings();
    memset(p, 3, BYTES);
    must(adsm_boundary_device_read(p, BYTES, stream));
    ck_assert_int_eq(adsm_block_state(adsm_index_find(p), 5), ADSM_READ_ONLY);
    ck_assert_uint_gt(adsm_vm_closings(), closings);
    p[0] = 4;
    closings = adsm_vm_closings();
    must(adsm_boundary_device_read(p + BYTES / 2, BYTES / 2, stream));
    ck_assert_uint_eq(adsm_vm_closings(), closings);
    must(adsm_boundary_device_read(p, BYTES, stream));
    ck_assert_uint_gt(adsm_vm_closings(), closings);
    must(adsmFree(p));
}
END_TEST

SUITE_MAIN("boundary", 60, call_that_names_a_freed_object_is_refused,
           blocks_that_stay_as_they_are_are_not_protected_anew,
           refused_call_leaves_the_others_it_names_usable,
           object_freed_while_the_call_is_made_costs_the_next_owner_nothing,
           use_of_a_part_leaves_the_other_blocks_to_the_rest,
           range_that_leaves_its_object_is_refused_and_nothing_is_held,
           fault_goes_on_while_a_call_on_another_device_is_in_the_driver,
           call_on_one_device_is_made_during_that_on_another,
           object_of_another_device_waits_for_the_call_that_names_it,
           early_write_back_passes_over_the_blocks_of_a_call_being_made)
