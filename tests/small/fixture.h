/*
 * What the unit tests on the small accelerator share: the runtime up on it, and
 * what the host and the device have of an object. Each case is a process of its
 * own.
 */
#ifndef TESTS_SMALL_FIXTURE_H
#define TESTS_SMALL_FIXTURE_H

#include "adsm.h"
#include "common/must.h"
#include "init.h"
#include "mm/heap/life.h"
#include "mm/object/object.h"
#include "mm/state/coherence.h"
#include "small/device.h"

#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

/** The runtime under a protocol, with blocks of a page, and so many devices. */
static inline struct adsm_accel *up(const char *protocol, int devices)
{
    struct adsm_accel *accel = NULL;
    setenv("ADSM_PROTOCOL", protocol, 1);
    setenv("ADSM_BLOCK_SIZE", "4K", 0);
    setenv("ADSM_ROLLING_SIZE", "1000", 0);
    small_begin(devices);
    must(adsm_init());
    must(adsm_accel_open(0, &accel));
    return accel;
}

static inline struct adsm_object *
new_object(struct adsm_accel *accel, size_t bytes, enum adsm_state first)
{
    struct adsm_object *object = NULL;
    must(adsm_object_create(accel, bytes, bytes, first, &adsm_kind_plain,
                            &object));
    return object;
}

static inline void free_object(struct adsm_object *object)
{
    must(adsm_object_destroy(object, atomic_load(&object->generation)));
}

/** What the device has of it, now. */
static inline uint8_t *on_device(const struct adsm_object *object)
{
    return small_at(object->device);
}

/* The system, asked to take or to store a byte, minds the protection. */
static inline bool may_read(const uint8_t *at)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    bool readable = write(ends[1], at, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return readable;
}

static inline bool may_write(uint8_t *at, uint8_t value)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], &value, 1), 1);
    bool writable = read(ends[0], at, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return writable;
}

#endif
