/*
 * Calls over several devices against flat arrays: whatever call of the back end
 * fails, and whenever work runs, no byte is lost.
 */
#include "small/fixture.h"

#include "mm/doors/boundary.h"
#include "mm/doors/loan.h"
#include "mm/heap/heap.h"
#include "mm/heap/life.h"
#include "mm/object/index.h"
#include "range/spread.h"
#include "range/state.h"

enum { H = 48, W = 512, BYTES = H * W, OBJECTS = 3, DEVICES = 3 };

static struct adsm_accel *accel[DEVICES];
static uint8_t *array[OBJECTS], model[OBJECTS][BYTES];
static unsigned chance;

static unsigned draw(unsigned n)
{
    return (unsigned)rand_r(&chance) % n;
}

/* ---- the kernel --------------------------------------------------------------- */

struct work {
    uint64_t in, out;
    uint32_t in_pitch, out_pitch;
    int16_t lo[2], hi[2];
    uint8_t add;
    bool halo;
};

static void combine(const struct work *w, const uint8_t *in, uint8_t *out)
{
    for (long y = w->lo[0]; y < w->hi[0]; y++)
        for (long x = w->lo[1]; x < w->hi[1]; x++) {
            const uint8_t *at = in + y * (long)w->in_pitch + x;
            unsigned sum = *at * 3u + w->add;
            if (w->halo && y > 0)
                sum += at[-(long)w->in_pitch];
            if (w->halo && y + 1 < H)
                sum += at[w->in_pitch];
            out[y * (long)w->out_pitch + x] = (uint8_t)sum;
        }
}

static void run(const void *argument)
{
    const struct work *w = argument;
    combine(w, small_at((struct adsm_daddr){w->in}),
            small_at((struct adsm_daddr){w->out}));
}

static struct small_kernel kernel = {run, sizeof(struct work)};

/* Return: whether the kernel is enqueued; its fence */
static bool launch(struct adsm_accel *on, struct work *work,
                   struct adsm_fence *fence)
{
    void *values[] = {work};
    adsm_stream stream = adsm_accel_launch_stream(on);
    const struct adsm_launch launch = {.kernel = &kernel,
                                       .grid = {1, 1, 1},
                                       .block = {1, 1, 1},
                                       .stream = stream,
                                       .values = values};
    if (adsm_accel_launch(on, &launch) != ADSM_OK)
        return false;
    while (adsm_fence_record(on, stream, fence) != ADSM_OK)
        continue;
    return true;
}

/* ---- one call in parts ----------------------------------------------------------- */

static struct adsm_want want_of(int object, const adsmBox *read,
                                const adsmBox *write, const adsmBox *around)
{
    struct adsm_object *o = adsm_index_find(array[object]);
    return (struct adsm_want){
        .array = {.object = o,
                  .generation = atomic_load(&o->generation),
                  .elem = 1,
                  .shape = {.nd = 2, .hi = {H, W}}},
        .read = *read,
        .write = *write,
        .around = *around};
}

struct call {
    struct adsm_part part[2];
    struct adsm_want want[2][2];
    struct work work[2];
    int in, out;
};

static void set_part(struct call *call, int p, adsmBox write)
{
    static const adsmBox none = {.nd = 2};
    bool halo = call->in != call->out;
    adsmBox read = write;
    read.lo[0] -= halo && read.lo[0] > 0;
    read.hi[0] += halo && read.hi[0] < H;
    struct adsm_part *part = &call->part[p];
    *part = (struct adsm_part){.accel = accel[draw(DEVICES)],
                               .wants = call->want[p],
                               .count = halo ? 2 : 1};
    call->want[p][0] = want_of(call->in, &read, halo ? &none : &write, &read);
    if (halo)
        call->want[p][1] = want_of(call->out, &none, &write, &write);
    call->work[p] =
        (struct work){.lo = {(int16_t)write.lo[0], (int16_t)write.lo[1]},
                      .hi = {(int16_t)write.hi[0], (int16_t)write.hi[1]},
                      .add = (uint8_t)draw(256),
                      .halo = halo};
}

static struct call new_call(void)
{
    struct call call = {.in = (int)draw(OBJECTS), .out = (int)draw(OBJECTS)};
    int d = (int)draw(2);
    adsmBox left = {.nd = 2, .hi = {H, W}}, right = left;
    left.lo[0] = (long)draw(H / 3);
    right.lo[0] = left.lo[0];
    left.hi[d] = right.lo[d] = H / 3 + (long)draw(H / 3);
    right.hi[1] -= (long)draw(W / 3);
    set_part(&call, 0, left);
    set_part(&call, 1, right);
    return call;
}

static void launch_part(struct adsm_part *part, struct work *work)
{
    adsm_stream stream = adsm_accel_launch_stream(part->accel);
    size_t in[2], out[2];
    struct adsm_fence fence;
    work->in = adsm_spread_base(&part->wants[0], in).at;
    work->out = adsm_spread_base(&part->wants[part->count - 1], out).at;
    work->in_pitch = (uint32_t)in[0];
    work->out_pitch = (uint32_t)out[0];
    if (adsm_spread_order(part, stream) == ADSM_OK &&
        launch(part->accel, work, &fence))
        adsm_spread_launched(part, fence);
}

/* Make the call, and in the model what was launched. Return: begin's status */
static int make(struct call *call)
{
    static uint8_t before[BYTES];
    int failed;
    for (int p = 0; p < 2; p++)
        call->part[p].wants = call->want[p];
    int rc = adsm_spread_begin(call->part, 2, &failed);
    if (rc != ADSM_OK)
        return rc;
    memcpy(before, model[call->in], BYTES);
    for (int p = 0; p < 2; p++) {
        launch_part(&call->part[p], &call->work[p]);
        struct work w = call->work[p];
        w.in_pitch = w.out_pitch = W;
        if (call->part[p].launched)
            combine(&w, before, model[call->out]);
    }
    adsm_spread_end(call->part, 2);
    return ADSM_OK;
}

/* ---- what else happens to objects ------------------------------------------------- */

static struct adsm_object *lock(int i)
{
    struct adsm_object *object = adsm_index_find(array[i]);
    adsm_rwlock_acquire(&object->lock);
    return object;
}

/* A kernel that knows only the home. */
static void use_at_home(int i)
{
    struct adsm_object *object = adsm_index_find(array[i]);
    if (object->homeless)
        return;
    struct adsm_use use = adsm_use_of(object, array[i], BYTES, ADSM_INOUT);
    struct adsm_call call = {.accel = object->home,
                             .stream = adsm_accel_launch_stream(object->home),
                             .rest = ADSM_REST_UNUSED,
                             .uses = &use,
                             .use_count = 1};
    struct work work = {.in = object->device.at,
                        .out = object->device.at,
                        .in_pitch = W,
                        .out_pitch = W,
                        .hi = {H, W},
                        .add = (uint8_t)draw(256)};
    struct adsm_fence fence;
    if (adsm_boundary_call(&call) != ADSM_OK)
        return;
    if (!launch(call.accel, &work, &fence)) {
        adsm_boundary_call_failed(&call);
        return;
    }
    combine(&work, model[i], model[i]);
    if (adsm_boundary_called(&call) != ADSM_OK)
        must(adsm_accel_synchronize(call.accel));
}

static void write_some(int i)
{
    size_t from = draw(BYTES), bytes = 1 + draw(BYTES / 4);
    struct adsm_loan loan;
    if (from + bytes > BYTES)
        bytes = BYTES - from;
    if (adsm_loan_begin(array[i] + from, bytes, ADSM_WRITE, &loan) != ADSM_OK)
        return;
    int value = (int)draw(256);
    memset(loan.address, value, bytes);
    memset(model[i] + from, value, bytes);
    (void)small_has_failed();
    must(adsm_loan_end(&loan, bytes));
}

/* What the host is told is there, also when the first try failed. */
static void compare(int i)
{
    struct adsm_loan loan;
    int tried = adsm_loan_begin(array[i], BYTES, ADSM_READ, &loan);
    if (tried != ADSM_OK) {
        ck_assert(small_has_failed());
        must(adsm_loan_begin(array[i], BYTES, ADSM_READ, &loan));
    }
    const uint8_t *host = loan.address;
    size_t k = 0;
    while (k < BYTES && host[k] == model[i][k])
        k++;
    ck_assert_msg(k == BYTES, "object %d differs at (%zu, %zu)", i, k / W,
                  k % W);
    must(adsm_loan_end(&loan, BYTES));
    struct adsm_object *object = lock(i);
    ck_assert(adsm_object_is_valid(object));
    ck_assert(!object->holders || adsm_ranged_is_valid(object));
    adsm_rwlock_release(&object->lock);
}

static void objects_up(unsigned seed, enum small_pace pace)
{
    chance = seed;
    setenv("ADSM_SLAB_MAX", "4K", 1);
    accel[0] = up(seed % 2 ? "rolling" : "lazy", DEVICES);
    for (int d = 1; d < DEVICES; d++)
        must(adsm_accel_open(d, &accel[d]));
    for (int i = 0; i < OBJECTS; i++) {
        void *at;
        must(adsm_heap_alloc(accel[i], BYTES,
                             i == 2 ? &adsm_kind_homeless : &adsm_kind_plain,
                             &at));
        array[i] = at;
        struct adsm_loan loan;
        must(adsm_loan_begin(at, BYTES, ADSM_WRITE, &loan));
        for (size_t k = 0; k < BYTES; k++)
            model[i][k] = ((uint8_t *)loan.address)[k] = (uint8_t)draw(256);
        must(adsm_loan_end(&loan, BYTES));
    }
    small.pace = pace;
}

static void objects_down(void)
{
    (void)small_has_failed();
    for (int i = 0; i < OBJECTS; i++) {
        compare(i);
        must(adsm_heap_free(array[i]));
    }
    for (int d = 0; d < DEVICES; d++)
        adsm_accel_forget(accel[d]);
    for (int d = 0; d < DEVICES; d++)
        ck_assert_uint_eq(small.used[d], 0);
    ck_assert_uint_eq(small.pinned, 0);
}

/* ---- cases ------------------------------------------------------------------------- */

static const int statuses[] = {ADSM_E_NOMEM, ADSM_E_LIMIT, ADSM_E_DEVICE,
                               ADSM_E_DEVICE_NOMEM};

/* Each call of the back end within a call in parts fails once. */
START_TEST(call_in_parts_loses_no_byte_whichever_call_fails)
{
    objects_up(1, SMALL_LATE);
    for (size_t s = 0; s < sizeof statuses / sizeof *statuses; s++)
        for (unsigned n = 1;; n++) {
            for (int i = 0; i < OBJECTS; i++)
                write_some(i);
            struct call call = new_call();
            small_fail(NULL, n, statuses[s]);
            (void)make(&call);
            bool failed = small_has_failed();
            for (int i = 0; i < OBJECTS; i++)
                compare(i);
            if (!failed && n > 100)
                break;
        }
    objects_down();
}
END_TEST

static void live(unsigned seed, int steps, enum small_pace pace, bool fails)
{
    objects_up(seed, pace);
    small.apart = seed % 3 == 0;
    small.by_rows = seed % 5 == 0;
    for (int d = 0; d < DEVICES; d++)
        if (seed % 4 != 0)
            small.memory[d] = 2 * BYTES + 192 * 1024;
    for (int step = 0; step < steps; step++) {
        int i = (int)draw(OBJECTS);
        if (fails)
            small_fail(NULL, 1 + draw(30), statuses[draw(4)]);
        struct call call = new_call();
        switch (draw(8)) {
        case 0:
            use_at_home(i);
            break;
        case 1:
        case 2:
            write_some(i);
            break;
        case 3:
            compare(i);
            break;
        default:
            (void)make(&call);
            break;
        }
    }
    objects_down();
}

START_TEST(any_course_of_calls_ends_with_the_bytes_of_flat_arrays)
{
    live((unsigned)_i + 1, 400, (enum small_pace)(_i % 3), false);
}
END_TEST

START_TEST(any_course_of_calls_and_failures_loses_no_byte)
{
    live((unsigned)_i + 1, 400, (enum small_pace)(_i % 3), true);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spread");
    TCase *tcase = tcase_create("spread");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, call_in_parts_loses_no_byte_whichever_call_fails);
    tcase_add_loop_test(
        tcase, any_course_of_calls_ends_with_the_bytes_of_flat_arrays, 0, 30);
    tcase_add_loop_test(tcase, any_course_of_calls_and_failures_loses_no_byte,
                        0, 60);
    suite_add_tcase(suite, tcase);
    return suite_finish(suite);
}
