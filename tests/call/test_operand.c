/*
 * What a part reads and writes of an array, against a model that looks at every
 * index and every element; which cuts are refused, against one that looks at
 * every byte; and the sentence of each bad argument. Needs no device.
 */
#include "common/draw.h"
#include "common/suite.h"
#include "range/box.h"
#include "call/detail.h"
#include "call/operand.h"

#include <string.h>

static struct adsm_split_part parts[ADSM_SPLIT_PARTS];
static struct adsm_object *const object = (struct adsm_object *)parts;
/* ---- random calls ----------------------------------------------------------- */

static struct adsm_operand_memory memory_of(size_t elem, adsmBox shape,
                                            size_t origin)
{
    struct adsm_operand_memory memory = {.array = {.object = object,
                                                   .origin = origin,
                                                   .elem = elem,
                                                   .shape = shape},
                                         .bytes = elem};
    for (int d = 0; d < shape.nd; d++)
        memory.bytes *= (size_t)shape.hi[d];
    memory.array.shape.hi[shape.nd - 1] *= (long)elem;
    return memory;
}

static adsmBox random_range(void)
{
    adsmBox range = {.nd = 1 + (int)below(3)};
    for (int d = 0; d < range.nd; d++) {
        range.lo[d] = below(2) ? below(4) : 0;
        range.hi[d] = range.lo[d] + 1 + below(8);
    }
    return range;
}

/* An array that is large enough for its range. */
static adsmArg random_arg(const adsmBox *range, adsmBox *shape)
{
    adsmArg arg = {.mode = 1 + (int)below(3),
                   .how = (uint8_t)below(3),
                   .edge = (uint8_t)below(4),
                   .elem = 1 + (size_t)below(5),
                   .extra = "pad"};
    *shape = (adsmBox){.nd = 1 + (int)below(3)};
    for (int d = 0; d < shape->nd; d++) {
        arg.follow[d] = (int8_t)(below(3) ? 0 : below(range->nd + 2) - 1);
        int e = arg.follow[d] ? arg.follow[d] - 1 : d;
        bool none = arg.follow[d] < 0 || e >= range->nd;
        arg.per[d] = below(3) ? 0 : below(5);
        long per = arg.per[d] ? arg.per[d] : 1;
        shape->hi[d] = (none ? 1 : (range->hi[e] + per - 1) / per) + below(3);
        arg.radius[d] = below(2) ? 0 : (int)below(12);
    }
    return arg;
}

static bool next(const adsmBox *box, long at[3])
{
    for (int d = box->nd - 1; d >= 0; d--) {
        if (++at[d] < box->hi[d])
            return true;
        at[d] = box->lo[d];
    }
    return false;
}

/* What is seen of an array, in elements, as the box around it. */
struct seen {
    bool any;
    adsmBox box;
};

static void see(struct seen *seen, int nd, const long lo[3], const long hi[3])
{
    for (int d = 0; d < nd; d++) {
        if (!seen->any || lo[d] < seen->box.lo[d])
            seen->box.lo[d] = lo[d];
        if (!seen->any || hi[d] > seen->box.hi[d])
            seen->box.hi[d] = hi[d];
    }
    seen->any = true;
    seen->box.nd = nd;
}

/* What the kernel's thread for index `at` touches: its element, or those that
 * a stencil of this radius reads, one arm of a cross after the other. */
static void touch(const adsmArg *arg, const adsmBox *range,
                  const adsmBox *shape, const long at[3], struct seen *own,
                  struct seen *near)
{
    long lo[3], hi[3];
    for (int d = 0; d < shape->nd; d++) {
        int e = arg->follow[d] ? arg->follow[d] - 1 : d;
        bool whole =
            arg->how == ADSM_WHOLE || arg->follow[d] < 0 || e >= range->nd;
        long i = whole ? 0 : at[e] / (arg->per[d] ? arg->per[d] : 1);
        lo[d] = i;
        hi[d] = whole ? shape->hi[d] : i + 1;
    }
    see(own, shape->nd, lo, hi);
    see(near, shape->nd, lo, hi);
    for (int d = 0; arg->how == ADSM_NEAR && d < shape->nd; d++) {
        long arm_lo[3], arm_hi[3];
        memcpy(arm_lo, lo, sizeof lo);
        memcpy(arm_hi, hi, sizeof hi);
        arm_lo[d] -= arg->radius[d];
        arm_hi[d] += arg->radius[d];
        see(near, shape->nd, arm_lo, arm_hi);
    }
}

static void check_box(const adsmBox *box, const struct seen *seen,
                      const adsmBox *clip, size_t elem)
{
    for (int d = 0; d < box->nd; d++) {
        long unit = d == box->nd - 1 ? (long)elem : 1;
        long lo = seen->box.lo[d], hi = seen->box.hi[d];
        if (clip && lo < 0)
            lo = 0;
        if (clip && hi > clip->hi[d])
            hi = clip->hi[d];
        ck_assert_int_eq(box->lo[d], lo * unit);
        ck_assert_int_eq(box->hi[d], hi * unit);
    }
}

START_TEST(random_boxes_are_those_that_their_indices_touch)
{
    int cases[3][4] = {{0}};
    for (int turn = 0; turn < 5000; turn++) {
        adsmBox range = random_range(), shape;
        struct adsm_operand_call call = {"k", range, true, NULL};
        adsmArg arg = random_arg(&range, &shape);
        size_t elem = arg.elem;
        struct adsm_operand_memory memory = memory_of(elem, shape, 64);
        struct adsm_operand operand;
        if (below(2))
            arg.elem = 0; /* adsmShape says it */
        int rc = adsm_operand_make(&call, 0, &arg, 24, &memory, &operand);
        ck_assert_msg(rc == ADSM_OK, "%s", adsm_detail_text());
        adsmBox part = range;
        for (int d = 0; d < range.nd; d++) {
            part.lo[d] += below(range.hi[d] - range.lo[d]);
            part.hi[d] = part.lo[d] + 1 + below(range.hi[d] - part.lo[d]);
        }
        struct seen own = {0}, near = {0};
        long at[3] = {part.lo[0], part.lo[1], part.lo[2]};
        do
            touch(&arg, &range, &shape, at, &own, &near);
        while (next(&part, at));
        struct adsm_want want;
        struct adsm_split_part some = {.box = part, .count = 1};
        ck_assert_int_eq(adsm_operand_want(&operand, &some, &want), 1);
        cases[arg.how][arg.edge]++;
        if (arg.mode & ADSM_IN)
            check_box(&want.read, &near, &shape, elem);
        else
            ck_assert(adsm_box_is_empty(&want.read));
        if (arg.mode & ADSM_OUT)
            check_box(&want.write, &own, NULL, elem);
        else
            ck_assert(adsm_box_is_empty(&want.write));
        bool edges = arg.how == ADSM_NEAR && arg.edge != ADSM_EDGE_NONE;
        check_box(&want.around, &near, edges ? NULL : &shape, elem);
        ck_assert(want.edge == (edges ? arg.edge : ADSM_EDGE_NONE));
        ck_assert((want.pad != NULL) == (edges && arg.edge == ADSM_EDGE_PAD));
        ck_assert(!want.rows && want.array.origin == 64);
    }
    for (int i = 0; i < 12; i++)
        ck_assert_int_gt(cases[i / 4][i % 4], 50);
}
END_TEST

/* ---- cuts --------------------------------------------------------------------- */

enum { OBJECT = 4096 };

/* Which part has written each byte, 1 and up. Return: whether two have. */
static bool write_all(const struct adsm_operand *operands, int count, int n)
{
    static int writer[OBJECT];
    memset(writer, 0, sizeof writer);
    for (int p = 0; p < n; p++)
        for (int i = 0; i < count; i++) {
            struct adsm_want want;
            adsm_operand_want(&operands[i], &parts[p], &want);
            if (adsm_box_is_empty(&want.write))
                continue;
            const adsmBox *shape = &want.array.shape;
            long at[3] = {want.write.lo[0], want.write.lo[1], want.write.lo[2]};
            do {
                size_t byte = 0;
                for (int d = 0; d < shape->nd; d++)
                    byte = byte * (size_t)shape->hi[d] + (size_t)at[d];
                byte += want.array.origin;
                if (writer[byte] && writer[byte] != p + 1)
                    return true;
                writer[byte] = p + 1;
            } while (next(&want.write, at));
        }
    return false;
}

/* Where pointers have what they need, a cut is refused if and only if two parts
 * write one byte. */
START_TEST(cuts_that_write_a_byte_twice_are_refused_and_no_others)
{
    int refused = 0, allowed = 0;
    for (int turn = 0; turn < 20000; turn++) {
        struct adsm_split split = {
            .range = random_range(), .devices = 4, .may = {true, true, true}};
        struct adsm_operand_call call = {"k", split.range, true, NULL};
        struct adsm_operand operands[2];
        int count = 1 + (int)below(2), grid[3];
        for (int i = 0; i < count; i++) {
            adsmBox shape;
            adsmArg arg = random_arg(&split.range, &shape);
            size_t origin = below(2) ? 0 : (size_t)below(300);
            struct adsm_operand_memory memory =
                memory_of(arg.elem, shape, origin);
            while (memory.bytes + origin > OBJECT) {
                arg = random_arg(&split.range, &shape);
                memory = memory_of(arg.elem, shape, origin);
            }
            ck_assert_int_eq(
                adsm_operand_make(&call, i, &arg, 24, &memory, &operands[i]),
                ADSM_OK);
        }
        for (int d = 0; d < 3; d++)
            split.tile[d] = below(2) ? below(5) : 0;
        for (int d = 0; d < 4; d++)
            split.share[d] = 0.25;
        adsm_operand_weigh(operands, count, &split);
        int n = adsm_split_make(&split, parts, grid);
        bool twice = write_all(operands, count, n);
        int rc = adsm_operand_check(&call, operands, count, parts, n, grid);
        ck_assert_int_eq(rc, twice ? ADSM_E_INVALID : ADSM_OK);
        refused += twice;
        allowed += !twice;
    }
    ck_assert_int_gt(refused, 1000);
    ck_assert_int_gt(allowed, 1000);
}
END_TEST

static struct adsm_operand operand_of(adsmArg arg, adsmBox range, adsmBox shape,
                                      size_t parameter)
{
    struct adsm_operand_call call = {"k", range, true, NULL};
    struct adsm_operand_memory memory = memory_of(arg.elem, shape, 0);
    struct adsm_operand operand;
    int rc = adsm_operand_make(&call, 0, &arg, parameter, &memory, &operand);
    ck_assert_msg(rc == ADSM_OK, "%s", adsm_detail_text());
    return operand;
}

static float *const p = (float *)parts;

START_TEST(output_with_an_element_for_many_indices_is_cut_between_elements)
{
    adsmBox range = {1, {10}, {1000}};
    adsmArg sums = adsmOut(p), few = adsmOut(p), in = adsmIn(p);
    sums.per[0] = 64;
    few.per[0] = 24;
    in.per[0] = 7;
    struct adsm_operand operands[3] = {operand_of(sums, range, adsmR1(16), 8),
                                       operand_of(few, range, adsmR1(42), 8),
                                       operand_of(in, range, adsmR1(143), 8)};
    struct adsm_split split = {
        .range = range, .devices = 4, .parts = 4, .align = 128};
    int grid[3];
    adsm_operand_weigh(operands, 3, &split);
    ck_assert_int_eq(split.grain[0], 192);
    int n = adsm_split_make(&split, parts, grid);
    ck_assert_int_eq(n, 3);
    ck_assert_int_eq(parts[1].box.lo[0], 384);
    ck_assert_int_eq(parts[2].box.lo[0], 768);
    struct adsm_want want;
    adsm_operand_want(&operands[0], &parts[1], &want);
    ck_assert_int_eq(want.write.lo[0], 6 * 4);
    ck_assert_int_eq(want.write.hi[0], 12 * 4);
    adsm_operand_want(&operands[2], &parts[1], &want);
    ck_assert_int_eq(want.read.lo[0], 54 * 4);
    ck_assert_int_eq(want.read.hi[0], 110 * 4);
}
END_TEST

START_TEST(pointers_keep_inner_dimensions_from_being_cut)
{
    adsmBox square = adsmR2(100, 100);
    struct adsm_operand operands[2] = {
        operand_of(adsmColumn(p, 1, ADSM_EDGE_NONE), square, square, 16),
        operand_of(adsmOut(p), square, square, 16)};
    struct adsm_split split = {.range = square, .devices = 4};
    adsm_operand_weigh(operands, 2, &split);
    ck_assert(split.may[0] && split.may[1]);
    ck_assert(split.halo[0] > 0 && split.halo[1] == 0);
    operands[1] = operand_of(adsmOut(p), square, square, 8);
    adsm_operand_weigh(operands, 2, &split);
    ck_assert(split.may[0] && !split.may[1]);
}
END_TEST

START_TEST(what_both_sides_of_a_cut_need_counts_as_its_cost)
{
    /* A * B of 10 x 1000 and 1000 x 10: a cut across rows sends B once more. */
    adsmBox range = adsmR2(10, 10);
    adsmArg a = adsmIn(p), b = adsmIn(p);
    a.follow[1] = -1;
    b.follow[0] = -1;
    struct adsm_operand operands[2] = {
        operand_of(a, range, adsmR2(10, 1000), 16),
        operand_of(b, range, adsmR2(1000, 10), 16)};
    struct adsm_split split = {.range = range, .devices = 4};
    adsm_operand_weigh(operands, 2, &split);
    ck_assert_double_eq_tol(split.halo[0], 4000, 1e-9);
    ck_assert_double_eq_tol(split.halo[1], 4000, 1e-9);
    operands[0] = operand_of(adsmAll(p), range, adsmR2(10, 1000), 16);
    memset(split.halo, 0, sizeof split.halo);
    adsm_operand_weigh(operands, 2, &split);
    ck_assert_double_eq_tol(split.halo[0], 4000, 1e-9);
    ck_assert_double_eq_tol(split.halo[1], 0, 1e-9);
}
END_TEST

/* ---- shapes ------------------------------------------------------------------- */

static struct adsm_operand guessed(adsmArg arg, adsmBox range, size_t bytes)
{
    struct adsm_operand_call call = {"k", range, true, NULL};
    struct adsm_operand_memory memory = {.array = {.object = object},
                                         .bytes = bytes};
    struct adsm_operand operand;
    int rc = adsm_operand_make(&call, 0, &arg, 16, &memory, &operand);
    ck_assert_msg(rc == ADSM_OK, "%s", adsm_detail_text());
    return operand;
}

static void check_shape(const struct adsm_operand *operand, int nd, long outer,
                        long inner)
{
    ck_assert_int_eq(operand->array.shape.nd, nd);
    ck_assert_int_eq(operand->array.shape.hi[0], outer);
    ck_assert_int_eq(operand->array.shape.hi[1], inner);
}

START_TEST(array_without_a_shape_has_the_ranges_or_one_dimension)
{
    struct adsm_operand o = guessed(adsmIn(p), adsmR2(10, 20), 800);
    check_shape(&o, 2, 10, 80);
    o = guessed(adsmIn(p), adsmR2(10, 20), 4096);
    check_shape(&o, 2, 10, 80);
    o = guessed(adsmIn(p), adsmR2(10, 20), 44); /* one for each row */
    check_shape(&o, 1, 44, 0);
    o = guessed(adsmAll(p), adsmR2(10, 20), 4096); /* a table */
    check_shape(&o, 1, 4096, 0);
    o = guessed(adsmAll(p), adsmR2(10, 20), 800);
    check_shape(&o, 2, 10, 80);
    o = guessed(adsmHalo(p, 1, ADSM_EDGE_NONE), adsmR1(10), 803);
    check_shape(&o, 1, 800, 0);
    o = guessed(adsmHalo(p, 1, ADSM_EDGE_CLAMP), adsmR1(10), 800);
    check_shape(&o, 1, 40, 0);
}
END_TEST

/* ---- bad arguments -------------------------------------------------------------- */

static void refused(adsmArg arg, adsmBox range, adsmBox shape, size_t bytes,
                    size_t parameter, const char *words)
{
    struct adsm_operand_call call = {"name", range, true, NULL};
    struct adsm_operand_memory memory = {.array = {.object = object},
                                         .bytes = bytes};
    if (shape.nd)
        memory = memory_of(4, shape, 0);
    struct adsm_operand operand;
    ck_assert_int_eq(
        adsm_operand_make(&call, 3, &arg, parameter, &memory, &operand),
        ADSM_E_INVALID);
    ck_assert_msg(strstr(adsm_detail_text(), words) != NULL,
                  "'%s' does not say '%s'", adsm_detail_text(), words);
    ck_assert_ptr_nonnull(strstr(adsm_detail_text(), "argument 3 of kernel"));
    ck_assert_ptr_nonnull(strstr(adsm_detail_text(), "'name'"));
}

START_TEST(bad_arguments_are_told_what_would_be_right)
{
    const adsmBox none = {0}, r1 = adsmR1(10), r2 = adsmR2(10, 20);
    adsmArg arg = adsmIn((void *)p);
    refused(arg, r1, none, 40, 8, "cast it to its elements' type");
    arg = adsmIn(p);
    refused(arg, r1, none, 3, 8, "not even one element");
    refused(arg, r1, none, 36, 8,
            "has 9 elements in dimension 0, the range "
            "goes to 10");
    refused(arg, r1, adsmR1(9), 0, 8, "has 9 elements in dimension 0");
    refused(arg, r2, adsmR2(10, 19), 0, 8, "19 elements in dimension 1");
    refused(arg, r2, adsmR3(10, 20, 2), 0, 16, "adsm_view3");
    refused(adsmIn((double *)p), r1, adsmR1(10), 0, 8,
            "elements of 8 bytes, adsmShape said 4");
    arg.how = 7;
    refused(arg, r1, none, 40, 8, "adsmHalo");
    arg = adsmHalo(p, 1, ADSM_EDGE_PAD);
    refused(arg, r1, none, 40, 8, "adsmPad");
    arg = adsmHalo(p, -1, ADSM_EDGE_NONE);
    refused(arg, r1, none, 40, 8, "has radius -1; 0 or more");
    arg = adsmRow(p, 1, ADSM_EDGE_NONE);
    refused(arg, r1, none, 40, 8, "a radius in dimension 1, its array has 1");
    arg = adsmRow(p, 1, ADSM_EDGE_CLAMP);
    refused(arg, r2, none, 800, 8, "which a pointer cannot reach");
    arg = adsmIn(p);
    arg.follow[0] = 3;
    refused(arg, r2, none, 800, 8,
            "follows dimension 3 of a range that has 1 "
            "to 2");
    arg.follow[0] = 1;
    arg.follow[1] = -1;
    refused(arg, r2, none, 804, 8, "say with adsmShape");
    adsmBox interior = {2, {1, 1}, {9, 19}};
    refused(adsmIn(p), interior, none, 800, 8, "say with adsmShape");
}
END_TEST

/* Rows [2, 4) of 8, and the room there is for them. */
static adsmBox room_of(adsmArg in, adsmBox in_shape, adsmArg out)
{
    adsmBox square = adsmR2(8, 8);
    struct adsm_split_part part = {.box = {2, {2, 0}, {4, 8}}};
    struct adsm_operand pair[] = {operand_of(in, square, in_shape, 8),
                                  operand_of(out, square, square, 8)};
    struct adsm_want want;
    adsm_operand_give_room(pair, 2);
    (void)adsm_operand_want(&pair[1], &part, &want);
    if (out.mode & ADSM_OUT) {
        ck_assert_int_eq(want.write.lo[0], 2);
        ck_assert_int_eq(want.write.hi[0], 4);
    }
    return want.around;
}

START_TEST(output_has_room_for_neighbours_that_an_input_like_it_has)
{
    adsmBox square = adsmR2(8, 8), larger = adsmR2(9, 8), room;
    adsmArg near = adsmColumn(p, 1, ADSM_EDGE_NONE), far = near;
    room = room_of(near, square, adsmOut(p));
    ck_assert_int_eq(room.lo[0], 1);
    ck_assert_int_eq(room.hi[0], 5);
    far.radius[0] = 7; /* of them there are as many as the array has */
    room = room_of(far, square, adsmOut(p));
    ck_assert_int_eq(room.lo[0], 0);
    ck_assert_int_eq(room.hi[0], 8);
    const struct {
        adsmArg in;
        adsmBox shape;
        adsmArg out;
    } others[] = {
        {near, larger, adsmOut(p)},
        {near, square, adsmInOut(p)},
        {near, square, adsmIn(p)},
        {adsmAll(p), square, adsmOut(p)},
        {adsmColumn(p, 1, ADSM_EDGE_CLAMP), square, adsmOut(p)},
    };
    for (int i = 0; i < 5; i++) {
        room = room_of(others[i].in, others[i].shape, others[i].out);
        ck_assert_int_eq(room.lo[0], 2);
        ck_assert_int_eq(room.hi[0], 4);
    }
}
END_TEST

START_TEST(cut_that_a_pointer_forbids_is_refused)
{
    adsmBox square = adsmR2(8, 8);
    struct adsm_operand_call call = {"name", square, true, NULL};
    struct adsm_operand operand = operand_of(adsmIn(p), square, square, 8);
    int grid[3] = {1, 2, 1};
    ck_assert_int_eq(adsm_operand_check(&call, &operand, 1, parts, 0, grid),
                     ADSM_E_INVALID);
    ck_assert_ptr_nonnull(strstr(adsm_detail_text(), "adsm_view2"));
}
END_TEST

SUITE_MAIN("operand", 60, random_boxes_are_those_that_their_indices_touch,
           cuts_that_write_a_byte_twice_are_refused_and_no_others,
           output_with_an_element_for_many_indices_is_cut_between_elements,
           pointers_keep_inner_dimensions_from_being_cut,
           what_both_sides_of_a_cut_need_counts_as_its_cost,
           array_without_a_shape_has_the_ranges_or_one_dimension,
           output_has_room_for_neighbours_that_an_input_like_it_has,
           bad_arguments_are_told_what_would_be_right,
           cut_that_a_pointer_forbids_is_refused)
