/*
 * What the report says of device memory is true: random copies, sets, kernels
 * and frees beside a model that has each byte, who wrote it, and whether what
 * that one wrote was ever read. The model's kernels read all that they may, and
 * write some of what they may.
 *
 * report_find is this file's: whatever is found is looked up in the model.
 */
#include "common/suite.h"
#include "interpose/report/hash.h"
#include "interpose/report/memory.h"

#include <string.h>

enum {
    MEMORIES = 5,
    BYTES = 48,
    OPERATIONS = 300000,
    SPACE = 0x100000, /* between memories: no argument reaches another */
    CONTENTS = 3      /* few, so that the same come again */
};

static struct {
    bool lives, used;
    uint8_t byte[BYTES];
    uint32_t owner[BYTES];
} memory[MEMORIES];

/* Of what an operation wrote into a memory: was anything read of it? Was it said
 * that nothing ever is? */
static bool was_read[OPERATIONS][MEMORIES], is_said[OPERATIONS][MEMORIES];
static unsigned found[REPORT_KINDS];
static uint32_t operation;
/* Of the copy that is under way. */
static struct {
    unsigned memory, at, bytes;
    uint8_t byte[BYTES];
} sent;
static unsigned freed; /* the memory that is, or MEMORIES */

static struct report_site the_site;

struct report_site *report_site_at(uint32_t number)
{
    (void)number;
    return &the_site;
}

uint32_t report_sites_count(void)
{
    return 0;
}

void report_sum_add(struct report_sum *sum, uint64_t bytes, uint64_t ns,
                    bool timed)
{
    (void)sum, (void)bytes, (void)ns, (void)timed;
}

/* Nothing that the operation wrote was read, in any memory that it is said of:
 * in the one that is freed, or was written to. */
static bool is_unread(uint32_t site)
{
    unsigned m = freed < MEMORIES ? freed : sent.memory;
    is_said[site][m] = true;
    return !was_read[site][m];
}

static bool is_there(void)
{
    return memcmp(memory[sent.memory].byte + sent.at, sent.byte, sent.bytes) ==
           0;
}

static bool is_anywhere(void)
{
    for (unsigned m = 0; m < MEMORIES; m++)
        for (unsigned at = 0; at + sent.bytes <= BYTES; at++)
            if (memory[m].lives &&
                memcmp(memory[m].byte + at, sent.byte, sent.bytes) == 0)
                return true;
    return false;
}

void report_find(enum report_kind kind, const struct report_cost *cost,
                 uint32_t other)
{
    (void)other;
    found[kind]++;
    switch (kind) {
    case REPORT_DUPLICATE:
        ck_assert_msg(is_there(), "operation %u", operation);
        break;
    case REPORT_ROUND_TRIP:
        ck_assert_msg(is_anywhere(), "operation %u", operation);
        break;
    case REPORT_OVERWRITTEN:
    case REPORT_FREED:
    case REPORT_DEAD_WRITE:
        ck_assert_msg(is_unread(cost->site), "operation %u: of %u, kind %u",
                      operation, cost->site, kind);
        break;
    case REPORT_UNUSED:
        ck_assert_msg(!memory[freed].used, "operation %u", operation);
        break;
    default:
        break;
    }
}

/* ---- the model -------------------------------------------------------------- */

static uint64_t seed = 88172645463325252u;

static unsigned draw(unsigned below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed % below);
}

static uint64_t address(unsigned m, unsigned at)
{
    return UINT64_C(0x7000000000) + (uint64_t)m * SPACE + at;
}

static void model_write(unsigned m, unsigned at, uint8_t value)
{
    memory[m].byte[at] = value;
    memory[m].owner[at] = operation;
}

static void model_read(unsigned m, unsigned at, unsigned bytes)
{
    for (unsigned i = at; i < at + bytes; i++) {
        uint32_t owner = memory[m].owner[i];
        was_read[owner][m] = true;
        ck_assert_msg(!is_said[owner][m], "operation %u: of %u", operation,
                      owner);
    }
    memory[m].used = true;
}

static void model_write_some(unsigned m, unsigned at, unsigned bytes)
{
    for (unsigned i = at; i < at + bytes; i++)
        if (draw(2))
            model_write(m, i, (uint8_t)draw(256));
    memory[m].used = true;
}

static struct report_cost cost_of(enum report_way way, unsigned bytes)
{
    return (struct report_cost){operation, way, bytes, 1, true};
}

/* ---- operations -------------------------------------------------------------- */

/* Often all of it, or a half: copies of the same range are what is found. */
static void draw_range(unsigned *at, unsigned *bytes)
{
    switch (draw(3)) {
    case 0:
        *at = 0;
        *bytes = BYTES;
        break;
    case 1:
        *at = BYTES / 2 * draw(2);
        *bytes = BYTES / 2;
        break;
    default:
        *at = draw(BYTES);
        *bytes = 1 + draw(BYTES - *at);
    }
}

static void come(unsigned m)
{
    struct report_cost cost = cost_of(REPORT_ALLOC, BYTES);
    memory[m].lives = true;
    memory[m].used = false;
    for (unsigned i = 0; i < BYTES; i++)
        model_write(m, i, (uint8_t)draw(256));
    report_memory_came(address(m, 0), BYTES, &cost);
}

static void go(unsigned m)
{
    freed = m;
    ck_assert_uint_ne(report_memory_goes(address(m, 0), operation), 0);
    freed = MEMORIES;
    memory[m].lives = false;
}

static void upload(unsigned m, unsigned at, unsigned bytes, const char *host)
{
    struct report_cost cost = cost_of(REPORT_UP, bytes);
    uint64_t hash = report_hash(host, bytes), there;
    /* What is known to be there stays the older one's. */
    bool writes =
        !report_memory_is_known(address(m, at), bytes, &there) || there != hash;
    sent.bytes = bytes;
    memcpy(sent.byte, host, bytes);
    report_memory_uploaded(address(m, at), host, hash, &cost);
    for (unsigned i = 0; writes && i < bytes; i++)
        model_write(m, at + i, (uint8_t)host[i]);
    memory[m].used = true;
}

static void launch(unsigned m, unsigned at, unsigned bytes)
{
    unsigned other = draw(MEMORIES);
    struct report_cost cost = cost_of(REPORT_LAUNCH, 0);
    struct report_use uses[] = {
        {address(m, at), address(m, at) + bytes - 1, .writes = true},
        {address(other, 3), address(other, 20), .reads = true},
        {address(other, 24), address(other, 24), true, draw(2), true},
    };
    unsigned count = 1 + draw(3);
    report_memory_launched(uses, count, &cost);
    if (count > 1 && memory[other].lives)
        model_read(other, 3, 18);
    if (count > 2 && memory[other].lives)
        model_read(other, 0, BYTES);
    model_write_some(m, at, bytes);
    if (count > 2 && uses[2].writes && memory[other].lives)
        model_write_some(other, 0, BYTES);
}

static void unknown(void)
{
    report_memory_unknown();
    for (unsigned m = 0; m < MEMORIES; m++)
        if (memory[m].lives) {
            model_read(m, 0, BYTES);
            model_write_some(m, 0, BYTES);
        }
}

static void download(unsigned m, unsigned at, unsigned bytes, char *host)
{
    struct report_cost cost = cost_of(REPORT_DOWN, bytes);
    memcpy(host, memory[m].byte + at, bytes);
    report_memory_read(address(m, at), bytes);
    model_read(m, at, bytes);
    report_memory_learnt(address(m, at), host, report_hash(host, bytes), &cost);
}

static void step(void)
{
    static char host[CONTENTS + 2][BYTES];
    unsigned m = draw(MEMORIES), at, bytes;
    struct report_cost cost;
    sent.memory = m;
    draw_range(&at, &bytes);
    sent.at = at;
    for (unsigned i = 0; i < CONTENTS; i++)
        memset(host[i], (int)i, BYTES);
    if (!memory[m].lives) {
        come(m);
        return;
    }
    switch (draw(16)) {
    case 0:
        go(m);
        return;
    case 1:
        unknown();
        return;
    case 2:
    case 3:
        launch(m, at, bytes);
        return;
    case 4:
    case 5:
    case 6:
        download(m, at, bytes, host[CONTENTS + draw(2)]);
        return;
    case 7:
        report_memory_read(address(m, at), bytes);
        model_read(m, at, bytes);
        return;
    case 8:
        report_memory_blurred(address(m, at), bytes);
        model_write_some(m, at, bytes);
        return;
    case 9:
        cost = cost_of(REPORT_SET, bytes);
        report_memory_overwritten(address(m, at), &cost);
        for (unsigned i = at; i < at + bytes; i++)
            model_write(m, i, 9);
        memory[m].used = true;
        return;
    default:
        upload(m, at, bytes, host[draw(CONTENTS + 2)]);
    }
}

START_TEST(what_is_found_is_true)
{
    freed = MEMORIES;
    for (operation = 1; operation < OPERATIONS; operation++)
        step();
    ck_assert_uint_gt(found[REPORT_DUPLICATE], 1000);
    ck_assert_uint_gt(found[REPORT_ROUND_TRIP], 1000);
    ck_assert_uint_gt(found[REPORT_OVERWRITTEN], 1000);
    ck_assert_uint_gt(found[REPORT_FREED], 100);
    ck_assert_uint_gt(found[REPORT_DEAD_WRITE], 100);
    ck_assert_uint_gt(found[REPORT_UNUSED], 10);
}
END_TEST

/* What may be found has to be. */

static void begin(void)
{
    struct report_cost cost = cost_of(REPORT_ALLOC, BYTES);
    memset(found, 0, sizeof found);
    freed = MEMORIES;
    operation = 1;
    memory[0].lives = true;
    sent.memory = 0;
    sent.at = 0;
    report_memory_came(address(0, 0), BYTES, &cost);
}

static void launch_on(bool reads, bool writes)
{
    struct report_cost cost = cost_of(REPORT_LAUNCH, 0);
    report_memory_launched(&(struct report_use){address(0, 0),
                                                address(0, 0) + BYTES - 1,
                                                reads, writes, false},
                           1, &cost);
    operation++;
}

START_TEST(a_kernel_s_result_that_is_overwritten_is_a_dead_write)
{
    char host[BYTES] = {1};
    begin();
    launch_on(false, true);
    upload(0, 0, BYTES, host);
    operation++;
    ck_assert_uint_eq(found[REPORT_DEAD_WRITE], 1);
}
END_TEST

START_TEST(a_kernel_that_may_read_what_it_writes_leaves_no_dead_write)
{
    char host[BYTES] = {1};
    begin();
    launch_on(true, true);
    upload(0, 0, BYTES, host);
    operation++;
    ck_assert_uint_eq(found[REPORT_DEAD_WRITE], 0);
}
END_TEST

START_TEST(what_a_download_tells_replaces_what_a_kernel_changed)
{
    char host[BYTES] = {1};
    begin();
    upload(0, 0, BYTES, host);
    operation++;
    launch_on(true, true);
    download(0, 0, BYTES, host);
    operation++;
    upload(0, 0, BYTES, host);
    operation++;
    ck_assert_uint_eq(found[REPORT_ROUND_TRIP], 1);
    upload(0, 0, BYTES, host);
    operation++;
    ck_assert_uint_eq(found[REPORT_ROUND_TRIP], 2);
    ck_assert_uint_eq(found[REPORT_DUPLICATE], 0);
}
END_TEST

START_TEST(two_halves_over_a_whole_are_no_finding)
{
    char host[BYTES] = {1};
    begin();
    upload(0, 0, BYTES, host);
    operation++;
    sent.at = BYTES / 2;
    upload(0, BYTES / 2, BYTES / 2, host);
    operation++;
    sent.at = 0;
    upload(0, 0, BYTES / 2, host + 3);
    operation++;
    ck_assert_uint_eq(found[REPORT_OVERWRITTEN], 0);
}
END_TEST

SUITE_MAIN("report memory", 60, what_is_found_is_true,
           a_kernel_s_result_that_is_overwritten_is_a_dead_write,
           a_kernel_that_may_read_what_it_writes_leaves_no_dead_write,
           what_a_download_tells_replaces_what_a_kernel_changed,
           two_halves_over_a_whole_are_no_finding)
