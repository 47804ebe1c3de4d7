/*
 * Calls, returns and loans: what a mode releases and when, and that neither a
 * refused launch nor a transfer that ends early loses a byte.
 */
#include "small/fixture.h"

#include "mm/doors/boundary.h"
#include "mm/doors/loan.h"
#include "mm/object/gate.h"
#include "mm/object/index.h"
#include "range/spread.h"

#include <pthread.h>

enum { BLOCKS = 3, BYTES = BLOCKS * PAGE };

static struct adsm_accel *accel;
static struct adsm_object *object;

/* All of it stored by the host, while the device has something else. */
static void objects_up(void)
{
    struct adsm_loan loan;
    accel = up("rolling", 1);
    object = new_object(accel, BYTES, ADSM_INVALID);
    memset(on_device(object), 'd', BYTES);
    must(adsm_loan_begin(object->host, BYTES, ADSM_WRITE, &loan));
    memset(loan.address, 'h', BYTES);
    must(adsm_loan_end(&loan, BYTES));
}

static struct adsm_call call_of(struct adsm_use *use, adsmMode mode)
{
    *use = adsm_use_of(object, object->host, BYTES, mode);
    return (struct adsm_call){.accel = accel,
                              .stream = adsm_accel_launch_stream(accel),
                              .rest = ADSM_REST_UNUSED,
                              .uses = use,
                              .use_count = 1};
}

static bool is_open(void)
{
    uint32_t gate = adsm_gate_of(accel);
    bool open = adsm_gate_try_enter(gate);
    if (open)
        adsm_gate_leave(gate);
    return open;
}

static uint8_t on_host(size_t at)
{
    struct adsm_loan loan;
    must(adsm_loan_begin(object->host + at, 1, ADSM_READ, &loan));
    return *(uint8_t *)loan.address;
}

START_TEST(mode_says_what_is_sent_and_what_the_host_keeps)
{
    static const struct {
        adsmMode mode;
        enum adsm_state before, after;
        uint8_t device;
    } of[] = {{ADSM_IN, ADSM_READ_ONLY, ADSM_READ_ONLY, 'h'},
              {ADSM_INOUT, ADSM_INVALID, ADSM_INVALID, 'h'},
              {ADSM_OUT, ADSM_DIRTY, ADSM_INVALID, 'd'}};
    struct adsm_use use;
    objects_up();
    struct adsm_call call = call_of(&use, of[_i].mode);
    must(adsm_boundary_call(&call));
    ck_assert(!is_open());
    ck_assert_int_eq(adsm_block_state(object, 1), of[_i].before);
    must(adsm_boundary_called(&call));
    ck_assert(is_open());
    ck_assert_int_eq(adsm_block_state(object, 1), of[_i].after);
    /* The work that was noted comes behind what the call has sent. */
    must(adsm_fence_wait(object->work));
    ck_assert_int_eq(on_device(object)[PAGE], of[_i].device);
    ck_assert_int_eq(on_host(PAGE), of[_i].device);
    free_object(object);
}
END_TEST

/* Of 12 pages those at 1, 2, 4, 5 and 7, 8, 10, 11; the last row ends with the
 * use. */
START_TEST(rows_of_a_use_leave_what_lies_between)
{
    static const char sent[] = ".ww.ww.ww.w.";
    const struct adsm_rows rows = {PAGE + 8, 2, {{6 * PAGE, 2}, {3 * PAGE, 2}}};
    struct adsm_use use;
    struct adsm_loan loan;
    accel = up("rolling", 1);
    object = new_object(accel, 12 * PAGE, ADSM_INVALID);
    memset(on_device(object), 'd', 12 * PAGE);
    must(adsm_loan_begin(object->host, 12 * PAGE, ADSM_WRITE, &loan));
    memset(loan.address, 'h', 12 * PAGE);
    must(adsm_loan_end(&loan, 12 * PAGE));
    struct adsm_call call = call_of(&use, ADSM_INOUT);
    use.at = object->host + PAGE;
    use.bytes = 10 * PAGE;
    use.rows = &rows;
    must(adsm_boundary_call(&call));
    must(adsm_boundary_called(&call));
    must(adsm_fence_wait(object->work));
    for (uint32_t i = 0; i < 12; i++) {
        bool is_sent = sent[i] == 'w';
        ck_assert_int_eq(adsm_block_state(object, i),
                         is_sent ? ADSM_INVALID : ADSM_DIRTY);
        ck_assert_int_eq(on_device(object)[i * PAGE], is_sent ? 'h' : 'd');
    }
    free_object(object);
}
END_TEST

START_TEST(launch_that_is_refused_loses_nothing_of_the_host)
{
    struct adsm_use use;
    objects_up();
    struct adsm_call call = call_of(&use, (adsmMode)(_i + 1));
    must(adsm_boundary_call(&call));
    adsm_boundary_call_failed(&call);
    ck_assert(is_open());
    for (size_t at = 0; at < BYTES; at += PAGE)
        ck_assert_int_eq(on_host(at), 'h');
    free_object(object);
}
END_TEST

START_TEST(call_that_cannot_release_opens_the_gates_and_loses_nothing)
{
    struct adsm_use use;
    objects_up();
    struct adsm_call call = call_of(&use, ADSM_INOUT);
    small_fail("copy_up", 1, ADSM_E_NOMEM);
    ck_assert_int_eq(adsm_boundary_call(&call), ADSM_E_NOMEM);
    ck_assert(is_open());
    ck_assert_int_eq(adsm_block_state(object, 0), ADSM_DIRTY);
    ck_assert_int_eq(on_host(PAGE), 'h');
    free_object(object);
}
END_TEST

/* Of three blocks that only the device has, half of the second is written. */
START_TEST(transfer_that_ends_early_leaves_the_rest_as_the_device_has_it)
{
    struct adsm_loan loan;
    accel = up("rolling", 1);
    object = new_object(accel, BYTES, ADSM_INVALID);
    memset(on_device(object), 'd', BYTES);
    must(adsm_loan_begin(object->host, BYTES, ADSM_WRITE, &loan));
    memset(loan.address, 'h', PAGE + PAGE / 2);
    for (uint32_t i = 0; i < BLOCKS; i++)
        ck_assert(adsm_block_is_held(object, i));
    must(adsm_loan_end(&loan, PAGE + PAGE / 2));
    for (uint32_t i = 0; i < BLOCKS; i++)
        ck_assert(!adsm_block_is_held(object, i));
    ck_assert_int_eq(adsm_block_state(object, 2), ADSM_INVALID);
    ck_assert_int_eq(on_host(PAGE + PAGE / 2 - 1), 'h');
    ck_assert_int_eq(on_host(PAGE + PAGE / 2), 'd');
    ck_assert_int_eq(on_host(2 * PAGE), 'd');
    free_object(object);
}
END_TEST

START_TEST(loan_that_cannot_begin_holds_nothing)
{
    struct adsm_loan loan;
    accel = up("rolling", 1);
    object = new_object(accel, BYTES, ADSM_INVALID);
    small_fail("copy_down_now", 1, ADSM_E_NOMEM);
    ck_assert_int_eq(adsm_loan_begin(object->host + 1, 10, ADSM_WRITE, &loan),
                     ADSM_E_NOMEM);
    ck_assert(!adsm_block_is_held(object, 0));
    ck_assert(is_open());
    free_object(object);
}
END_TEST

static void *come_back(void *unused)
{
    must(adsm_boundary_return(accel));
    return unused;
}

/* As a call of another thread has closed it. Without a home, or with one. */
START_TEST(return_leaves_what_a_call_is_about_to_write)
{
    void *host;
    pthread_t thread;
    accel = up("batch", 1);
    must(adsm_spread_alloc(accel, BYTES, &host));
    object =
        _i == 0 ? adsm_index_find(host) : new_object(accel, BYTES, ADSM_DIRTY);
    uint32_t gates = UINT32_C(1) << atomic_load(&object->gate);
    adsm_gate_close(gates);
    adsm_rwlock_acquire(&object->lock);
    must(adsm_coherence_apply_all(object, 0, object->block_count,
                                  ADSM_PART_WRITE, ADSM_CAUSE(call)));
    adsm_rwlock_release(&object->lock);
    ck_assert_int_eq(pthread_create(&thread, NULL, come_back, NULL), 0);
    for (int i = 0; i < 50; i++) {
        usleep(500);
        ck_assert_int_eq(adsm_block_state(object, 0), ADSM_INVALID);
    }
    adsm_gate_open(gates);
    pthread_join(thread, NULL);
    ck_assert_int_eq(adsm_block_state(object, 0), ADSM_DIRTY);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("boundary");
    TCase *tcase = tcase_create("boundary");
    tcase_add_loop_test(tcase, mode_says_what_is_sent_and_what_the_host_keeps,
                        0, 3);
    tcase_add_test(tcase, rows_of_a_use_leave_what_lies_between);
    tcase_add_loop_test(tcase, launch_that_is_refused_loses_nothing_of_the_host,
                        0, 3);
    tcase_add_test(tcase,
                   call_that_cannot_release_opens_the_gates_and_loses_nothing);
    tcase_add_test(
        tcase, transfer_that_ends_early_leaves_the_rest_as_the_device_has_it);
    tcase_add_test(tcase, loan_that_cannot_begin_holds_nothing);
    tcase_add_loop_test(tcase, return_leaves_what_a_call_is_about_to_write, 0,
                        2);
    suite_add_tcase(suite, tcase);
    return suite_finish(suite);
}
