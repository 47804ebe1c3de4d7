/*
 * System calls that nobody stands before, on shared memory that is closed to
 * the CPU: under the engine uffd each has the result it has on ordinary memory,
 * and what it wrote is there for the CPU and goes to the device.
 *
 * Blocks of a page, of which one may be dirty at a time; the memory handed to a
 * call begins before the end of a block.
 */
#include "engine/calls.h"
#include "mm/fixture.h"
#include "mm/object/block.h"

#include <sys/mman.h>

enum { BYTES = 16 * PAGE, AT = 3 * PAGE - 24 };

static uint8_t *shared, *plain, *elsewhere;
static struct fixture fixture;

static void start(void)
{
    fixture = fixture_up();
    calls_start();
    shared = adsmAlloc(BYTES);
    elsewhere = adsmAlloc(PAGE);
    plain = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(shared != NULL && elsewhere != NULL && plain != MAP_FAILED);
}

/* What is shared goes to the device, and only the device has it. */
static void to_the_device(void)
{
    struct adsm_object *object = adsm_index_find(shared);
    device_fill(fixture.fill, elsewhere, PAGE, 1);
    for (uint32_t i = 0; i < object->block_count; i++)
        ck_assert_int_eq(adsm_block_state(object, i), ADSM_INVALID);
}

static void put_image(uint8_t *to, const struct system_call *c)
{
    for (uint32_t i = 0; i < BYTES; i++)
        to[i] = filled(i, 3);
    if (c->content)
        memcpy(to + AT, c->content, c->bytes);
}

static void must_be_same(const struct system_call *c, const uint8_t *expected,
                         const char *when)
{
    size_t i = 0;
    while (i < BYTES && shared[i] == expected[i])
        i++;
    ck_assert_msg(i == BYTES, "%s, %s: byte %zu: %d, not %d", c->name, when, i,
                  shared[i], expected[i]);
}

/* Outside of what it may write, nothing has changed; the rest is as the CPU
 * sees it, from here on. */
static void take_over(const struct system_call *c)
{
    if (c->kind == LOOSE)
        memcpy(plain + AT, shared + AT, c->bytes);
}

static void check_call(const struct system_call *c)
{
    put_image(plain, c);
    put_image(shared, c);
    to_the_device();
    long on_plain = c->make(plain + AT);
    long on_shared = c->make(shared + AT);
    ck_assert_msg(on_shared == on_plain, "%s: %ld, not %ld", c->name, on_shared,
                  on_plain);
    take_over(c);
    must_be_same(c, plain, "as the CPU sees it");
    to_the_device();
    must_be_same(c, plain, "as it came back");
}

START_TEST(calls_nobody_stands_before_work_on_closed_blocks)
{
    start();
    for (size_t i = 0; i < system_calls_count; i++)
        check_call(&system_calls[i]);
}
END_TEST

SUITE_MAIN("engine calls", 60, calls_nobody_stands_before_work_on_closed_blocks)
