/*
 * Defect 2: a memcpy between two objects whose ends are not aligned with each
 * other corrupted 30 of 75 cases. Defect 12: a device set of odd size lost a
 * byte, and bulk operations over more than one object forgot their offset.
 */
#include "preloaded.h"

#include <stdlib.h>

enum { BYTES = 1 << 20 };

static const size_t offsets[] = {0, 1, 4095, 4096, 65537};
static const size_t sizes[] = {1, 4095, 65536, 262145, 900001};

/* What the two sides look like before: who wrote them last. */
enum state { BY_DEVICE, BY_CPU, HALF_HALF, STATES };

static uint8_t pattern(size_t i, unsigned seed)
{
    return (uint8_t)(i * 31 + (i >> 9) + seed);
}

/* An object and the reference with the same content. */
static uint8_t *make(uint8_t *reference, unsigned seed, enum state state)
{
    uint8_t *object = device_bytes(BYTES, 0);
    for (size_t i = 0; i < BYTES; i++)
        reference[i] = pattern(i, seed);
    must(cuMemcpyHtoD((CUdeviceptr)object, reference, BYTES));
    size_t own = state == BY_CPU ? BYTES : state == HALF_HALF ? BYTES / 2 : 0;
    for (size_t i = 0; i < own; i++)
        ((volatile uint8_t *)object)[i] = reference[i] ^= 0x55;
    return object;
}

static void check_same(const uint8_t *object, const uint8_t *reference)
{
    static uint8_t seen[BYTES];
    for (size_t i = 0; i < BYTES; i++)
        if (((const volatile uint8_t *)object)[i] != reference[i])
            ck_abort_msg("byte %zu on the CPU: %d, not %d", i, object[i],
                         reference[i]);
    must(cuMemcpyDtoH(seen, (CUdeviceptr)object, BYTES));
    for (size_t i = 0; i < BYTES; i++)
        if (seen[i] != reference[i])
            ck_abort_msg("byte %zu on the device: %d, not %d", i, seen[i],
                         reference[i]);
}

static void copy_case(size_t to_at, size_t from_at, size_t bytes,
                      enum state state)
{
    static uint8_t to_ref[BYTES], from_ref[BYTES];
    uint8_t *to = make(to_ref, 1, state);
    uint8_t *from = make(from_ref, 2, (state + 1) % STATES);
    void *got = memcpy(to + to_at, from + from_at, bytes);
    ck_assert_ptr_eq(got, to + to_at);
    for (size_t i = 0; i < bytes; i++)
        to_ref[to_at + i] = from_ref[from_at + i];
    check_same(to, to_ref);
    check_same(from, from_ref);
    must(cuMemFree((CUdeviceptr)to));
    must(cuMemFree((CUdeviceptr)from));
}

START_TEST(defect_02_misaligned_copy_between_objects_is_exact)
{
    int cases = 0;
    device_start();
    for (size_t t = 0; t < 5; t++)
        for (size_t f = 0; f < 5; f++)
            for (size_t s = 0; s < 5; s++, cases++)
                copy_case(offsets[t], offsets[f], sizes[s],
                          (enum state)(cases % STATES));
    ck_assert_int_ge(cases, 75);
}
END_TEST

START_TEST(defect_02_overlapping_move_inside_an_object_is_exact)
{
    static uint8_t reference[BYTES];
    device_start();
    for (int state = 0; state < STATES; state++) {
        uint8_t *object = make(reference, 3, (enum state)state);
        memmove(object + 70001, object + 5, 600000);
        for (size_t i = 600000; i-- > 0;)
            reference[70001 + i] = reference[5 + i];
        check_same(object, reference);
        memmove(object, object + 4097, 900000);
        for (size_t i = 0; i < 900000; i++)
            reference[i] = reference[4097 + i];
        check_same(object, reference);
    }
}
END_TEST

START_TEST(defect_12_device_set_of_odd_size_sets_every_byte)
{
    static uint8_t reference[BYTES];
    static const size_t odd[] = {1, 3, 4097, 65535, 300001};
    device_start();
    for (int state = 0; state < STATES; state++) {
        uint8_t *object = make(reference, 4, (enum state)state);
        for (size_t i = 0; i < 5; i++) {
            size_t at = offsets[i] + 1;
            must(cuMemsetD8((CUdeviceptr)object + at, 0xa0 + i, odd[i]));
            for (size_t k = 0; k < odd[i]; k++)
                reference[at + k] = (uint8_t)(0xa0 + i);
            check_same(object, reference);
            memset(object + at + 7, (int)i, odd[i]);
            for (size_t k = 0; k < odd[i]; k++)
                reference[at + 7 + k] = (uint8_t)i;
            check_same(object, reference);
        }
    }
}
END_TEST

START_TEST(defect_12_bulk_over_two_objects_keeps_its_offset)
{
    enum { HALF = 2 << 20, TRIES = 16 };
    uint8_t *object[TRIES], *low = NULL;
    device_start();
    for (int i = 0; i < TRIES && !low; i++) {
        object[i] = device_bytes(HALF, 1);
        for (int k = 0; k < i && !low; k++) {
            if (object[i] + HALF == object[k])
                low = object[i];
            else if (object[k] + HALF == object[i])
                low = object[k];
        }
    }
    if (!low)
        return; /* no two objects are neighbours here */
    uint8_t *plain = malloc(2 * HALF);
    for (size_t i = 0; i < 2 * HALF; i++)
        plain[i] = pattern(i, 9);
    memcpy(low + 100001, plain, HALF + 50001);
    memset(low + HALF - 3, 7, 5);
    for (size_t i = 0; i < HALF + 50001; i++) {
        size_t at = 100001 + i;
        int want = at >= HALF - 3 && at < HALF + 2 ? 7 : plain[i];
        ck_assert_int_eq(((volatile uint8_t *)low)[at], want);
    }
    ck_assert_int_eq(low[100000], 1);
    ck_assert_int_eq(low[100001 + HALF + 50001], 1);
    memcpy(plain, low + HALF - 10, 20);
    ck_assert_int_eq(memcmp(plain, low + HALF - 10, 20), 0);
    ck_assert_int_eq(memcmp(low, low + 1, HALF) != 0, 1);
    free(plain);
}
END_TEST

SUITE_MAIN("regress-interpose-bulk", 120,
           defect_02_misaligned_copy_between_objects_is_exact,
           defect_02_overlapping_move_inside_an_object_is_exact,
           defect_12_device_set_of_odd_size_sets_every_byte,
           defect_12_bulk_over_two_objects_keeps_its_offset)
