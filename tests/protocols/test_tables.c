/*
 * Each cell of the three protocol tables against Fig. 6 of the ADSM paper and
 * the text of its section 4.3, written down here a second time as sentences:
 * "state event: transfer -> next". The events that the paper does not draw
 * (annotations, bulk and device-side operations) follow from what the states
 * mean and are marked so.
 */
#include "common/suite.h"
#include "protocols/dirty_queue.h"
#include "protocols/protocol.h"

#include <string.h>

struct line {
    enum adsm_state state;
    enum adsm_event event;
    const char *transfer; /* "", "fetch", "flush", "changes" */
    enum adsm_state next;
};

/* Fig. 6(b): lazy-update; rolling-update adds the dotted line (WRITE_BACK). */
static const struct line fig_6b[] = {
    /* "Memory protection hardware is configured to trigger a page fault on any
     * access to shared data structures in invalid state ... the object is
     * transferred ... updated to read-only, on a read access, or to dirty on a
     * write access." */
    {ADSM_INVALID, ADSM_READ_FAULT, "fetch", ADSM_READ_ONLY},
    {ADSM_INVALID, ADSM_WRITE_FAULT, "fetch", ADSM_DIRTY},
    /* "If the CPU writes to any part of a read-only data structure, the
     * structure is marked as dirty" */
    {ADSM_READ_ONLY, ADSM_READ_FAULT, "", ADSM_READ_ONLY},
    {ADSM_READ_ONLY, ADSM_WRITE_FAULT, "", ADSM_DIRTY},
    {ADSM_DIRTY, ADSM_READ_FAULT, "", ADSM_DIRTY},
    {ADSM_DIRTY, ADSM_WRITE_FAULT, "", ADSM_DIRTY},
    /* "On a kernel invocation all shared data structures are invalidated and
     * those in the dirty state are transferred" */
    {ADSM_INVALID, ADSM_CALL, "", ADSM_INVALID},
    {ADSM_READ_ONLY, ADSM_CALL, "", ADSM_INVALID},
    {ADSM_DIRTY, ADSM_CALL, "flush", ADSM_INVALID},
    /* "On kernel return no data transfer is done" */
    {ADSM_INVALID, ADSM_RETURN, "", ADSM_INVALID},
    {ADSM_READ_ONLY, ADSM_RETURN, "", ADSM_READ_ONLY},
    {ADSM_DIRTY, ADSM_RETURN, "", ADSM_DIRTY},
    /* "the oldest block is asynchronously transferred ... and the block is
     * marked as read-only (dotted line in Figure 6(b))" */
    {ADSM_INVALID, ADSM_WRITE_BACK, "", ADSM_INVALID},
    {ADSM_READ_ONLY, ADSM_WRITE_BACK, "", ADSM_READ_ONLY},
    {ADSM_DIRTY, ADSM_WRITE_BACK, "flush", ADSM_READ_ONLY},
    /* "annotate each kernel call with the objects that the kernel will write
     * to, then the objects can remain in read-only ... state" */
    {ADSM_INVALID, ADSM_CALL_IN, "", ADSM_INVALID},
    {ADSM_READ_ONLY, ADSM_CALL_IN, "", ADSM_READ_ONLY},
    {ADSM_DIRTY, ADSM_CALL_IN, "flush", ADSM_READ_ONLY},
    /* Beyond the paper: a block that every call finds written stays open. */
    {ADSM_INVALID, ADSM_CALL_KEPT, "", ADSM_INVALID},
    {ADSM_READ_ONLY, ADSM_CALL_KEPT, "", ADSM_READ_ONLY},
    {ADSM_DIRTY, ADSM_CALL_KEPT, "changes", ADSM_DIRTY},
    /* An object that is overwritten needs no transfer at all. */
    {ADSM_INVALID, ADSM_CALL_OUT, "", ADSM_INVALID},
    {ADSM_READ_ONLY, ADSM_CALL_OUT, "", ADSM_INVALID},
    {ADSM_DIRTY, ADSM_CALL_OUT, "", ADSM_INVALID},
    /* Section 4.4: bulk operations without faults. */
    {ADSM_INVALID, ADSM_BULK_READ, "fetch", ADSM_READ_ONLY},
    {ADSM_READ_ONLY, ADSM_BULK_READ, "", ADSM_READ_ONLY},
    {ADSM_DIRTY, ADSM_BULK_READ, "", ADSM_DIRTY},
    {ADSM_INVALID, ADSM_BULK_OVERWRITE, "", ADSM_DIRTY},
    {ADSM_READ_ONLY, ADSM_BULK_OVERWRITE, "", ADSM_DIRTY},
    {ADSM_DIRTY, ADSM_BULK_OVERWRITE, "", ADSM_DIRTY},
    {ADSM_INVALID, ADSM_DEVICE_READ, "", ADSM_INVALID},
    {ADSM_READ_ONLY, ADSM_DEVICE_READ, "", ADSM_READ_ONLY},
    {ADSM_DIRTY, ADSM_DEVICE_READ, "flush", ADSM_READ_ONLY},
    {ADSM_INVALID, ADSM_DEVICE_WRITE, "", ADSM_INVALID},
    {ADSM_READ_ONLY, ADSM_DEVICE_WRITE, "", ADSM_INVALID},
    {ADSM_DIRTY, ADSM_DEVICE_WRITE, "", ADSM_INVALID},
    /* A call over several devices: who has which bytes is noted elsewhere. */
    {ADSM_INVALID, ADSM_PART_READ, "", ADSM_INVALID},
    {ADSM_READ_ONLY, ADSM_PART_READ, "", ADSM_READ_ONLY},
    {ADSM_DIRTY, ADSM_PART_READ, "", ADSM_READ_ONLY},
    {ADSM_INVALID, ADSM_PART_WRITE, "", ADSM_INVALID},
    {ADSM_READ_ONLY, ADSM_PART_WRITE, "", ADSM_INVALID},
    {ADSM_DIRTY, ADSM_PART_WRITE, "", ADSM_INVALID},
    /* Beyond the paper: what an access is expected to want comes before it. */
    {ADSM_INVALID, ADSM_FETCH_AHEAD, "fetch", ADSM_READ_ONLY},
    {ADSM_READ_ONLY, ADSM_FETCH_AHEAD, "", ADSM_READ_ONLY},
    {ADSM_DIRTY, ADSM_FETCH_AHEAD, "", ADSM_DIRTY},
    /* A lost device: the program goes on with what the host has. */
    {ADSM_INVALID, ADSM_GIVEN_UP, "", ADSM_DIRTY},
    {ADSM_READ_ONLY, ADSM_GIVEN_UP, "", ADSM_DIRTY},
    {ADSM_DIRTY, ADSM_GIVEN_UP, "", ADSM_DIRTY},
};

/* Fig. 6(a): batch-update knows two states. */
static const struct line fig_6a[] = {
    /* "On a kernel invocation the CPU invalidates all shared objects ... even
     * if they have not been modified"; annotations change nothing. */
    {ADSM_DIRTY, ADSM_CALL, "flush", ADSM_INVALID},
    {ADSM_DIRTY, ADSM_CALL_IN, "flush", ADSM_INVALID},
    {ADSM_DIRTY, ADSM_CALL_KEPT, "flush", ADSM_INVALID},
    {ADSM_DIRTY, ADSM_CALL_OUT, "flush", ADSM_INVALID},
    {ADSM_INVALID, ADSM_CALL, "", ADSM_INVALID},
    {ADSM_INVALID, ADSM_CALL_IN, "", ADSM_INVALID},
    {ADSM_INVALID, ADSM_CALL_KEPT, "", ADSM_INVALID},
    {ADSM_INVALID, ADSM_CALL_OUT, "", ADSM_INVALID},
    /* "On method return all shared objects are transferred from accelerator
     * memory to system memory and marked as dirty" */
    {ADSM_INVALID, ADSM_RETURN, "fetch", ADSM_DIRTY},
    {ADSM_DIRTY, ADSM_RETURN, "", ADSM_DIRTY},
    /* "does not require detection of accesses" */
    {ADSM_DIRTY, ADSM_READ_FAULT, "", ADSM_DIRTY},
    {ADSM_DIRTY, ADSM_WRITE_FAULT, "", ADSM_DIRTY},
    /* Beyond the paper: an access before the return fetches early. */
    {ADSM_INVALID, ADSM_READ_FAULT, "fetch", ADSM_DIRTY},
    {ADSM_INVALID, ADSM_WRITE_FAULT, "fetch", ADSM_DIRTY},
    {ADSM_INVALID, ADSM_BULK_READ, "fetch", ADSM_DIRTY},
    {ADSM_DIRTY, ADSM_BULK_READ, "", ADSM_DIRTY},
    {ADSM_INVALID, ADSM_BULK_OVERWRITE, "", ADSM_DIRTY},
    {ADSM_DIRTY, ADSM_BULK_OVERWRITE, "", ADSM_DIRTY},
    {ADSM_INVALID, ADSM_DEVICE_READ, "", ADSM_INVALID},
    {ADSM_DIRTY, ADSM_DEVICE_READ, "flush", ADSM_READ_ONLY},
    {ADSM_INVALID, ADSM_DEVICE_WRITE, "", ADSM_INVALID},
    {ADSM_DIRTY, ADSM_DEVICE_WRITE, "", ADSM_INVALID},
    {ADSM_INVALID, ADSM_WRITE_BACK, "", ADSM_INVALID},
    {ADSM_DIRTY, ADSM_PART_READ, "", ADSM_READ_ONLY},
    {ADSM_INVALID, ADSM_PART_READ, "", ADSM_INVALID},
    {ADSM_DIRTY, ADSM_PART_WRITE, "", ADSM_INVALID},
    {ADSM_INVALID, ADSM_PART_WRITE, "", ADSM_INVALID},
    {ADSM_INVALID, ADSM_FETCH_AHEAD, "", ADSM_INVALID},
    {ADSM_DIRTY, ADSM_FETCH_AHEAD, "", ADSM_DIRTY},
    {ADSM_INVALID, ADSM_GIVEN_UP, "", ADSM_DIRTY},
    {ADSM_DIRTY, ADSM_GIVEN_UP, "", ADSM_DIRTY},
    /* READ_ONLY, from where all goes on as the figure has it. */
    {ADSM_READ_ONLY, ADSM_CALL, "flush", ADSM_INVALID},
    {ADSM_READ_ONLY, ADSM_RETURN, "", ADSM_DIRTY},
    {ADSM_READ_ONLY, ADSM_READ_FAULT, "", ADSM_DIRTY},
    {ADSM_READ_ONLY, ADSM_WRITE_FAULT, "", ADSM_DIRTY},
};

static const char *transfer_of(const struct adsm_cell *cell)
{
    switch (cell->actions & ~ADSM_DO_QUEUE) {
    case 0:
        return "";
    case ADSM_DO_FETCH:
        return "fetch";
    case ADSM_DO_FLUSH:
        return "flush";
    case ADSM_DO_SEND_CHANGES:
        return "changes";
    }
    return "several";
}

static void check_lines(const struct adsm_protocol *protocol,
                        const struct line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct line *line = &lines[i];
        const struct adsm_cell *cell =
            &protocol->cell[line->event][line->state];
        ck_assert_msg(strcmp(transfer_of(cell), line->transfer) == 0 &&
                          cell->next == line->next,
                      "%s: %s %s: '%s' -> %s, the figure says '%s' -> %s",
                      protocol->name, adsm_state_name(line->state),
                      adsm_event_name(line->event), transfer_of(cell),
                      adsm_state_name(cell->next), line->transfer,
                      adsm_state_name(line->next));
    }
}

START_TEST(lazy_table_equals_figure_6b)
{
    ck_assert_int_eq(sizeof fig_6b / sizeof *fig_6b, ADSM_STATES * ADSM_EVENTS);
    check_lines(&adsm_protocol_lazy, fig_6b, sizeof fig_6b / sizeof *fig_6b);
}
END_TEST

START_TEST(rolling_table_equals_figure_6b)
{
    check_lines(&adsm_protocol_rolling, fig_6b, sizeof fig_6b / sizeof *fig_6b);
}
END_TEST

START_TEST(batch_table_equals_figure_6a)
{
    check_lines(&adsm_protocol_batch, fig_6a, sizeof fig_6a / sizeof *fig_6a);
}
END_TEST

START_TEST(no_call_no_return_and_no_access_of_batch_ends_read_only)
{
    static const enum adsm_event figure[] = {
        ADSM_READ_FAULT, ADSM_WRITE_FAULT, ADSM_CALL,
        ADSM_CALL_IN,    ADSM_CALL_KEPT,   ADSM_CALL_OUT,
        ADSM_RETURN,     ADSM_BULK_READ,   ADSM_BULK_OVERWRITE};
    for (size_t k = 0; k < sizeof figure / sizeof *figure; k++)
        for (int s = 0; s < ADSM_STATES; s++)
            ck_assert_int_ne(adsm_protocol_batch.cell[figure[k]][s].next,
                             ADSM_READ_ONLY);
}
END_TEST

/* Of memory that the device shares nothing is read-only but what kernels read,
 * and what is opened was waited for. */
START_TEST(direct_table_closes_what_kernels_use_and_opens_all)
{
    char why[ADSM_PROTOCOL_WHY];
    ck_assert_msg(adsm_protocol_check(&adsm_protocol_direct, why), "%s", why);
    for (int e = 0; e < ADSM_EVENTS; e++) {
        const struct adsm_cell *cell = adsm_protocol_direct.cell[e];
        bool reads = e == ADSM_CALL_IN || e == ADSM_CALL_KEPT ||
                     e == ADSM_DEVICE_READ || e == ADSM_WRITE_BACK ||
                     e == ADSM_PART_READ;
        ck_assert_int_ne(cell[ADSM_INVALID].next, ADSM_READ_ONLY);
        ck_assert_int_eq(cell[ADSM_DIRTY].next == ADSM_READ_ONLY, reads);
    }
}
END_TEST

START_TEST(only_rolling_queues_and_exactly_what_becomes_dirty)
{
    const struct adsm_protocol *all[] = {
        &adsm_protocol_batch, &adsm_protocol_lazy, &adsm_protocol_rolling};
    for (int p = 0; p < 3; p++)
        for (int s = 0; s < ADSM_STATES; s++)
            for (int e = 0; e < ADSM_EVENTS; e++) {
                const struct adsm_cell *cell = &all[p]->cell[e][s];
                bool becomes = s != ADSM_DIRTY && cell->next == ADSM_DIRTY;
                bool queues = cell->actions & ADSM_DO_QUEUE;
                ck_assert_int_eq(queues,
                                 becomes && all[p] == &adsm_protocol_rolling);
            }
}
END_TEST

static const struct adsm_protocol *const protocols[] = {
#define ONE(option, constant, word, name, help) &adsm_protocol_##name,
    ADSM_WORDS_PROTOCOL(ONE)
#undef ONE
};
enum { PROTOCOLS = sizeof protocols / sizeof *protocols };

START_TEST(every_protocol_keeps_the_rules)
{
    char why[ADSM_PROTOCOL_WHY];
    for (int p = 0; p < PROTOCOLS; p++) {
        bool sound = adsm_protocol_check(protocols[p], why);
        ck_assert_msg(sound, "%s: %s", protocols[p]->name, why);
        ck_assert_ptr_eq(adsm_protocol_sound(protocols[p], why), protocols[p]);
        ck_assert_str_eq(why, "");
    }
}
END_TEST

/* One wrong cell in a table that is right but for it, and what is said. */
static const struct {
    const struct adsm_protocol *of;
    enum adsm_event event;
    enum adsm_state state;
    struct adsm_cell cell;
    const char *said;
} planted[] = {
#define L &adsm_protocol_lazy
#define R &adsm_protocol_rolling
    {L, ADSM_CALL, ADSM_DIRTY, {16, ADSM_INVALID}, "no such action"},
    {L, ADSM_CALL, ADSM_DIRTY, {ADSM_DO_FLUSH, 3}, "no such action or state"},
    {L,
     ADSM_READ_FAULT,
     ADSM_DIRTY,
     {ADSM_DO_FETCH, ADSM_DIRTY},
     "only from INVALID"},
    {L,
     ADSM_RETURN,
     ADSM_INVALID,
     {ADSM_DO_FETCH, ADSM_INVALID},
     "nobody sees it"},
    {L,
     ADSM_WRITE_FAULT,
     ADSM_INVALID,
     {0, ADSM_DIRTY},
     "fetched before it is opened"},
    {L, ADSM_CALL, ADSM_INVALID, {ADSM_DO_FLUSH, ADSM_INVALID}, "no flush"},
    {L,
     ADSM_DEVICE_READ,
     ADSM_DIRTY,
     {ADSM_DO_FLUSH, ADSM_DIRTY},
     "ends closed to writing"},
    {L,
     ADSM_RETURN,
     ADSM_DIRTY,
     {0, ADSM_READ_ONLY},
     "sent before it is closed"},
    {L,
     ADSM_CALL_KEPT,
     ADSM_DIRTY,
     {0, ADSM_DIRTY},
     "the device reads what the host has written"},
    {L, ADSM_CALL, ADSM_READ_ONLY, {0, ADSM_READ_ONLY}, "is old: INVALID"},
    {L,
     ADSM_DEVICE_READ,
     ADSM_INVALID,
     {ADSM_DO_FETCH, ADSM_READ_ONLY},
     "all INVALID are not visited"},
    {L,
     ADSM_WRITE_FAULT,
     ADSM_READ_ONLY,
     {0, ADSM_READ_ONLY},
     "an access is allowed"},
    {L,
     ADSM_FETCH_AHEAD,
     ADSM_INVALID,
     {ADSM_DO_FETCH, ADSM_DIRTY},
     "at most READ_ONLY"},
    {L,
     ADSM_BULK_READ,
     ADSM_DIRTY,
     {ADSM_DO_FLUSH, ADSM_READ_ONLY},
     "close nothing"},
    {L, ADSM_CALL_IN, ADSM_READ_ONLY, {0, ADSM_DIRTY}, "leaves nothing DIRTY"},
    {L,
     ADSM_WRITE_BACK,
     ADSM_DIRTY,
     {ADSM_DO_SEND_CHANGES, ADSM_DIRTY},
     "and by nothing else"},
    {L,
     ADSM_CALL_KEPT,
     ADSM_READ_ONLY,
     {0, ADSM_INVALID},
     "or is what CALL_IN is"},
    {L,
     ADSM_DEVICE_READ,
     ADSM_READ_ONLY,
     {0, ADSM_DIRTY},
     "without a DIRTY block are not visited"},
    {L,
     ADSM_PART_READ,
     ADSM_DIRTY,
     {ADSM_DO_FLUSH, ADSM_READ_ONLY},
     "noted and not acted on"},
    {L,
     ADSM_PART_WRITE,
     ADSM_DIRTY,
     {ADSM_DO_FLUSH, ADSM_INVALID},
     "noted and not acted on"},
    {R,
     ADSM_WRITE_FAULT,
     ADSM_DIRTY,
     {ADSM_DO_QUEUE, ADSM_DIRTY},
     "only what becomes DIRTY"},
    {R, ADSM_GIVEN_UP, ADSM_INVALID, {0, ADSM_DIRTY}, "all or none"},
    {L,
     ADSM_RETURN,
     ADSM_INVALID,
     {ADSM_DO_FETCH, ADSM_READ_ONLY},
     "visited at a return only"},
#undef L
#undef R
};

static void check_refused(const struct adsm_protocol *broken, const char *said)
{
    char why[ADSM_PROTOCOL_WHY];
    ck_assert_msg(!adsm_protocol_check(broken, why), "accepted: %s", said);
    ck_assert_msg(strstr(why, said) != NULL, "'%s' and not '%s'", why, said);
    const struct adsm_protocol *instead = adsm_protocol_sound(broken, why);
    ck_assert_ptr_eq(instead, protocols[0]);
    ck_assert_ptr_nonnull(strstr(why, said));
}

START_TEST(every_rule_refuses_a_table_that_breaks_it)
{
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        struct adsm_protocol broken = *planted[i].of;
        broken.cell[planted[i].event][planted[i].state] = planted[i].cell;
        check_refused(&broken, planted[i].said);
    }
    struct adsm_protocol dirty = adsm_protocol_rolling;
    dirty.first = ADSM_DIRTY;
    check_refused(&dirty, "an object begins");
    struct adsm_protocol no_state = adsm_protocol_lazy;
    no_state.first = ADSM_STATES;
    check_refused(&no_state, "an object begins");
}
END_TEST

START_TEST(the_build_lists_the_protocols_as_the_sources_do)
{
    char words[256] = "";
    for (int p = 0; p < PROTOCOLS; p++) {
        strcat(words, p ? " " : "");
        strcat(words, protocols[p]->name);
    }
    ck_assert_str_eq(words, PROTOCOL_NAMES);
}
END_TEST

START_TEST(those_of_whole_objects_are_the_ones_that_tests_run_once)
{
    char words[256] = "";
    for (int p = 0; p < PROTOCOLS; p++) {
        if (protocols[p]->granularity != ADSM_BY_OBJECT)
            continue;
        strcat(words, *words ? " " : "");
        strcat(words, protocols[p]->name);
    }
    ck_assert_str_eq(words, BY_OBJECT);
}
END_TEST

START_TEST(each_word_of_the_option_is_the_protocol_of_that_name)
{
#define IS(option, constant, word, table, help)                                \
    ck_assert_str_eq(adsm_protocol_of(ADSM_OPT_PROTOCOL_##constant)->name,     \
                     word);
    ADSM_WORDS_PROTOCOL(IS)
#undef IS
}
END_TEST

START_TEST(unknown_states_and_events_have_no_name)
{
    ck_assert_str_eq(adsm_state_name(ADSM_STATES), "?");
    ck_assert_str_eq(adsm_event_name(ADSM_EVENTS), "?");
}
END_TEST

START_TEST(queue_returns_the_oldest_first_across_the_wrap)
{
    struct adsm_dirty_entry ring[4];
    struct adsm_dirty_queue queue;
    struct adsm_dirty_entry entry;
    adsm_dirty_queue_init(&queue, ring, 4);
    for (uint32_t i = 0; i < 100; i++) {
        ck_assert(adsm_dirty_queue_push(
            &queue, (struct adsm_dirty_entry){&queue, 1, i}));
        if (i >= 2) {
            ck_assert(adsm_dirty_queue_pop(&queue, &entry));
            ck_assert_uint_eq(entry.block, i - 2);
        }
    }
}
END_TEST

START_TEST(full_queue_refuses_and_empty_queue_has_nothing)
{
    struct adsm_dirty_entry ring[2];
    struct adsm_dirty_queue queue;
    struct adsm_dirty_entry entry = {&queue, 1, 7};
    adsm_dirty_queue_init(&queue, ring, 2);
    ck_assert(!adsm_dirty_queue_pop(&queue, &entry));
    ck_assert(adsm_dirty_queue_push(&queue, entry));
    ck_assert(adsm_dirty_queue_push(&queue, entry));
    ck_assert(!adsm_dirty_queue_push(&queue, entry));
    ck_assert_uint_eq(queue.count, 2);
}
END_TEST

START_TEST(run_is_extended_by_the_next_block_of_the_same_object_only)
{
    struct adsm_dirty_entry ring[8], entry;
    struct adsm_dirty_queue queue;
    int a, b;
    adsm_dirty_queue_init(&queue, ring, 8);
    adsm_dirty_queue_push(&queue, (struct adsm_dirty_entry){&a, 1, 0});
    adsm_dirty_queue_push(&queue, (struct adsm_dirty_entry){&a, 1, 1});
    adsm_dirty_queue_push(&queue, (struct adsm_dirty_entry){&b, 1, 2});
    ck_assert(adsm_dirty_queue_pop(&queue, &entry));
    ck_assert(adsm_dirty_queue_pop_next(&queue, &a, 1, 1));
    ck_assert(!adsm_dirty_queue_pop_next(&queue, &a, 1, 2));
    ck_assert(!adsm_dirty_queue_pop_next(&queue, &b, 2, 2));
    ck_assert(adsm_dirty_queue_pop_next(&queue, &b, 1, 2));
    ck_assert(!adsm_dirty_queue_pop_next(&queue, &b, 1, 3));
}
END_TEST

SUITE_MAIN("protocols", 10, lazy_table_equals_figure_6b,
           rolling_table_equals_figure_6b, batch_table_equals_figure_6a,
           no_call_no_return_and_no_access_of_batch_ends_read_only,
           direct_table_closes_what_kernels_use_and_opens_all,
           only_rolling_queues_and_exactly_what_becomes_dirty,
           every_protocol_keeps_the_rules,
           every_rule_refuses_a_table_that_breaks_it,
           the_build_lists_the_protocols_as_the_sources_do,
           those_of_whole_objects_are_the_ones_that_tests_run_once,
           each_word_of_the_option_is_the_protocol_of_that_name,
           unknown_states_and_events_have_no_name,
           queue_returns_the_oldest_first_across_the_wrap,
           full_queue_refuses_and_empty_queue_has_nothing,
           run_is_extended_by_the_next_block_of_the_same_object_only)
