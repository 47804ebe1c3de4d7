/*
 * Sparse blocks: what is sent of them, what raises a signal, and how they become
 * dense and sparse again. Wants ADSM_FAULT_ENGINE=async, ADSM_PROTOCOL=rolling
 * and the default blocks.
 */
#include "pair.h"

#include "accel/fence.h"
#include "mm/doors/boundary.h"
#include "mm/doors/bulk.h"
#include "mm/doors/loan.h"
#include "mm/doors/turn.h"
#include "mm/state/coherence.h"
#include "mm/state/mapping.h"
#include "mm/watch/sparse.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define BLOCK ((uint32_t)256 << 10)

enum { BYTES = 16 << 20 };

START_TEST(scattered_stores_send_their_pages)
{
    struct pair pair = begin(BYTES);
    /* Of each block one page, of every second one two that touch. */
    for (uint32_t at = 5 * PAGE; at < BYTES; at += 2 * BLOCK) {
        store(&pair, at + 3, 1);
        store(&pair, at + BLOCK + PAGE - 1, 2);
        store(&pair, at + BLOCK + PAGE, 3);
    }
    ck_assert_uint_eq(sent_pages(&pair), BYTES / BLOCK / 2 * 3);
    ck_assert_uint_eq(sent_pages(&pair), 0);
    end(&pair);
}
END_TEST

START_TEST(stores_behind_a_call_raise_no_signal)
{
    struct pair pair = begin(BYTES);
    for (uint32_t round = 0; round < 10; round++) {
        for (uint32_t at = 0; at < BYTES; at += BLOCK)
            store(&pair, at + (at / BLOCK * 7 + round) % 64 * PAGE, 9);
        ck_assert_uint_eq(sent_pages(&pair), BYTES / BLOCK);
        ck_assert_uint_eq(count(ADSM_STAT_faults_write), BYTES / BLOCK);
    }
    end(&pair);
}
END_TEST

START_TEST(page_written_again_is_sent_again)
{
    struct pair pair = begin(BYTES);
    for (uint8_t round = 1; round < 10; round++) {
        store(&pair, 5 * BLOCK, round);
        ck_assert_uint_eq(sent_pages(&pair), 1);
    }
    ck_assert_uint_eq(count(ADSM_STAT_faults_write), 1);
    end(&pair);
}
END_TEST

/* What a kernel may write goes away from the host, and only pages before. */
START_TEST(call_that_writes_gets_the_pages)
{
    struct pair pair = begin(BYTES);
    store(&pair, 3 * BLOCK + 7, 1);
    store(&pair, 9 * BLOCK + 7, 2);
    uint64_t before = count(ADSM_STAT_bytes_up);
    mix(&pair, true, 0);
    ck_assert_uint_eq(count(ADSM_STAT_bytes_up) - before, 2 * PAGE);
    ck_assert(!is_watched(&pair, 3 * BLOCK));
    ck_assert_uint_eq(pair.in[3 * BLOCK + 7], 1);
    store(&pair, 3 * BLOCK + 8, 5);
    ck_assert_uint_eq(sent_pages(&pair), 1);
    end(&pair);
}
END_TEST

START_TEST(copy_by_the_device_gets_the_pages)
{
    struct pair pair = begin(BYTES);
    store(&pair, 3 * BLOCK + 7, 1);
    uint64_t before = count(ADSM_STAT_bytes_up);
    struct adsm_object *object = adsm_index_find(pair.in);
    must(adsm_boundary_device_read(pair.in, BYTES,
                                   adsm_accel_launch_stream(object->home)));
    ck_assert_uint_eq(count(ADSM_STAT_bytes_up) - before, PAGE);
    ck_assert(is_watched(&pair, 3 * BLOCK));
    end(&pair);
}
END_TEST

START_TEST(block_written_through_is_closed_and_learnt)
{
    struct pair pair = begin(BYTES);
    uint64_t faults = 0;
    for (uint32_t round = 0; round < 20; round++) {
        for (uint32_t at = 5 * BLOCK; at < 6 * BLOCK; at++)
            store(&pair, at, (uint8_t)(round + 1));
        faults++;
        ck_assert_uint_eq(count(ADSM_STAT_faults_write), faults);
        ck_assert_uint_eq(sent_pages(&pair), BLOCK / PAGE);
        ck_assert(!is_watched(&pair, 5 * BLOCK));
    }
    /* Watched the first time, not the next seven, once more, and not for 63. */
    ck_assert_uint_eq(count(ADSM_STAT_watches), 2);
    end(&pair);
}
END_TEST

START_TEST(array_written_in_order_is_watched_nowhere)
{
    struct pair pair = begin(BYTES);
    for (uint32_t round = 1; round < 4; round++) {
        memset(pair.want, (int)round, BYTES);
        for (uint32_t at = 0; at < BYTES; at++)
            pair.in[at] = (uint8_t)round;
        call(&pair);
    }
    /* As under sigsegv, whose second round has two more. */
    ck_assert_uint_eq(count(ADSM_STAT_faults_write), 3 * (4 + 7) + 2);
    ck_assert_uint_eq(count(ADSM_STAT_watches), 1);
    end(&pair);
}
END_TEST

START_TEST(sparse_object_becomes_dense_and_sparse_again)
{
    struct pair pair = begin(BYTES);
    for (uint32_t at = 0; at < BYTES; at += BLOCK)
        store(&pair, at, 1);
    call(&pair);
    for (uint32_t at = 0; at < BYTES; at++)
        store(&pair, at, 2);
    ck_assert_uint_eq(sent_pages(&pair), BYTES / PAGE);
    ck_assert_uint_eq(sent_pages(&pair), 0);
    ck_assert(!is_watched(&pair, 0) && !is_watched(&pair, BYTES - 1));
    uint64_t faults = count(ADSM_STAT_faults_write);
    for (uint32_t at = 0; at < BYTES; at++)
        store(&pair, at, 3);
    ck_assert_uint_eq(count(ADSM_STAT_faults_write) - faults, 4 + 7);
    call(&pair);
    for (uint32_t round = 0; round < 9; round++) {
        for (uint32_t at = 0; at < BYTES; at += BLOCK)
            store(&pair, at, (uint8_t)round);
        call(&pair);
    }
    store(&pair, 40 * BLOCK, 99);
    ck_assert_uint_eq(sent_pages(&pair), 1);
    end(&pair);
}
END_TEST

START_TEST(block_that_nobody_writes_is_closed)
{
    struct pair pair = begin(BYTES);
    store(&pair, 5 * BLOCK, 1);
    for (int k = 0; k < 100; k++)
        call(&pair);
    ck_assert(!is_watched(&pair, 5 * BLOCK));
    ck_assert_uint_eq(count(ADSM_STAT_faults_write), 1);
    store(&pair, 5 * BLOCK, 2);
    ck_assert_uint_eq(count(ADSM_STAT_faults_write), 2);
    ck_assert_uint_eq(sent_pages(&pair), 1);
    end(&pair);
}
END_TEST

/* Through the shadow, which the kernel does not note by itself. */
START_TEST(bulk_copy_and_loan_are_sent)
{
    struct pair pair = begin(BYTES);
    store(&pair, 5 * BLOCK, 1);
    call(&pair);
    must(adsm_bulk_set(pair.in + 5 * BLOCK + 9 * PAGE + 1, 7, PAGE));
    memset(pair.want + 5 * BLOCK + 9 * PAGE + 1, 7, PAGE);
    ck_assert_uint_eq(sent_pages(&pair), 2);
    ck_assert(is_watched(&pair, 5 * BLOCK));
    must(adsm_bulk_set(pair.in + 5 * BLOCK - 1, 8, BLOCK + 2));
    memset(pair.want + 5 * BLOCK - 1, 8, BLOCK + 2);
    call(&pair);
    end(&pair);
}
END_TEST

/* By the kernel, into the open block as it is. */
START_TEST(system_call_into_an_open_block_is_sent)
{
    struct pair pair = begin(BYTES);
    store(&pair, 5 * BLOCK, 1);
    call(&pair);
    int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(read(fd, pair.in + 5 * BLOCK + 20 * PAGE, 100), 100);
    close(fd);
    memset(pair.want + 5 * BLOCK + 20 * PAGE, 0, 100);
    ck_assert_uint_eq(sent_pages(&pair), 1);
    end(&pair);
}
END_TEST

/* A host function of a stream reads a file into it: through the shadow, and no
 * loan ends behind it. */
START_TEST(system_call_of_a_host_function_is_sent)
{
    struct pair pair = begin(BYTES);
    struct adsm_object *object = adsm_index_find(pair.in);
    struct adsm_turn turn = {.accel = object->home};
    struct adsm_loan loan;
    store(&pair, 5 * BLOCK, 1);
    call(&pair);
    ck_assert(is_watched(&pair, 5 * BLOCK));
    must(adsm_turn_start());
    adsm_turn_submit(&turn);
    adsm_turn_submitted(&turn, adsm_accel_launch_stream(object->home), false,
                        true);
    adsm_turn_begin(&turn);
    must(adsm_loan_begin(pair.in + 5 * BLOCK + 20 * PAGE, 100, ADSM_WRITE,
                         &loan));
    memset(loan.address, 7, 100);
    must(adsm_loan_end(&loan, 100));
    adsm_turn_end();
    memset(pair.want + 5 * BLOCK + 20 * PAGE, 7, 100);
    end(&pair);
}
END_TEST

START_TEST(object_taken_from_its_address_loses_nothing)
{
    struct pair pair = begin(BYTES);
    store(&pair, 5 * BLOCK, 1);
    call(&pair);
    store(&pair, 5 * BLOCK + PAGE, 2);
    struct adsm_object *object = adsm_index_find(pair.in);
    adsm_rwlock_acquire(&object->lock);
    must(adsm_mapping_take(object));
    adsm_rwlock_release(&object->lock);
    ck_assert(!is_watched(&pair, 5 * BLOCK));
    store(&pair, 5 * BLOCK + 2 * PAGE, 3);
    ck_assert_uint_eq(sent_pages(&pair), BLOCK / PAGE);
    end(&pair);
}
END_TEST

START_TEST(closed_descriptors_cost_pages_not_bytes)
{
    struct pair pair = begin(BYTES);
    struct adsm_object *object = adsm_index_find(pair.in);
    store(&pair, 5 * BLOCK, 1);
    call(&pair);
    ck_assert(is_watched(&pair, 5 * BLOCK));
    for (int fd = 1024; fd < 1100; fd++)
        close(fd);
    store(&pair, 5 * BLOCK + PAGE, 2);
    store(&pair, 9 * BLOCK, 3);
    ck_assert_uint_eq(sent_pages(&pair), 2 * BLOCK / PAGE);
    ck_assert_uint_eq(atomic_load(&object->watched), 0);
    end(&pair);
}
END_TEST

SUITE_MAIN("sparse", 120, scattered_stores_send_their_pages,
           stores_behind_a_call_raise_no_signal,
           page_written_again_is_sent_again, call_that_writes_gets_the_pages,
           copy_by_the_device_gets_the_pages,
           block_written_through_is_closed_and_learnt,
           array_written_in_order_is_watched_nowhere,
           sparse_object_becomes_dense_and_sparse_again,
           block_that_nobody_writes_is_closed, bulk_copy_and_loan_are_sent,
           system_call_into_an_open_block_is_sent,
           system_call_of_a_host_function_is_sent,
           object_taken_from_its_address_loses_nothing,
           closed_descriptors_cost_pages_not_bytes)
