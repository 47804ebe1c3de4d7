/*
 * Model test of the rules of holders, without a device: random uses of arrays
 * by calls on several devices and by the CPU, against one array that has
 * nothing to keep coherent.
 *
 *   range_model <operations> <seed> [<planted fault>]
 *
 * Each byte of an array, of its host memory and of each copy is a stamp. Moves
 * that are planned are done here at once; a call compares what its parts read
 * with the stamps that all writes in their order have left, and gives what it
 * writes new ones. After each operation every holder of a byte must have its
 * newest stamp. Sources of moves are checked against the order of the rules,
 * byte by byte. Allocations, launches and moves fail at random.
 *
 * Exit status 0: all equal; 1: a difference; with a planted fault the other way
 * round. 2: anything else went wrong.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>

const char *model_plant;
struct device devices[DEVICES];
struct object objects[OBJECTS];
struct adsm_moves moves;
static uint64_t random_state;
uint32_t stamp;
long operation, counted[N_ALL];
bool peers[DEVICES][DEVICES], memory_fails;
size_t memory_bytes;
static bool reuse;

uint32_t draw(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % below);
}

_Noreturn void stop(const char *what, const struct object *o, size_t at)
{
    printf("operation %ld: %s: object %d (%d-D, %zu bytes) at %zu\n", operation,
           what, (int)(o - objects), o->whole.nd, o->bytes, at);
    exit(model_plant ? 0 : 1);
}

void require(bool is_true, const char *what, const struct object *o)
{
    if (!is_true)
        stop(what, o, 0);
}

void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

/* The rules get memory that grows from here. */
void *__wrap_realloc(void *old, size_t bytes)
{
    return memory_fails ? NULL : __real_realloc(old, bytes);
}

/* ---- calls ---------------------------------------------------------------- */

struct need { /* a box of one part of the call */
    int object, part;
    adsmBox box;
    uint8_t mode;
    struct copy *copy;
};

static struct call {
    struct need needs[PARTS * ARGS * 2];
    int count, parts;
    int device[PARTS];
} call;

static void add_need(int object, int part, const adsmBox *box, int mode)
{
    struct need *need = &call.needs[call.count++];
    *need = (struct need){object, part, *box, (uint8_t)mode, NULL};
}

/* One part's boxes for a reader: its own and what is around it; beyond an edge
 * the other side as a box of its own. */
static void add_reads(int object, int part, const adsmBox *own, int radius,
                      bool wrap)
{
    const adsmBox *whole = &objects[object].whole;
    adsmBox box = *own;
    for (int d = 0; d < own->nd; d++) {
        box.lo[d] = box.lo[d] - radius > 0 ? box.lo[d] - radius : 0;
        box.hi[d] += radius;
        if (box.hi[d] > whole->hi[d])
            box.hi[d] = whole->hi[d];
    }
    add_need(object, part, &box, ADSM_IN);
    if (!wrap || radius == 0 || own->lo[0] >= radius)
        return;
    box.hi[0] = whole->hi[0];
    box.lo[0] = box.hi[0] > radius ? box.hi[0] - radius : 0;
    add_need(object, part, &box, ADSM_IN);
}

/* An argument: each part's share of an array, cut along one dimension. A
 * writer may write less of it. */
static void add_argument(int object, int d, const uint32_t *cuts, int how)
{
    const adsmBox *whole = &objects[object].whole;
    int radius = (int)draw(4), mode = draw(2) ? ADSM_OUT : ADSM_INOUT;
    bool wrap = draw(2), part_only = draw(3) == 0;
    for (int p = 0; p < call.parts; p++) {
        adsmBox own = *whole;
        long n = whole->hi[d];
        own.lo[d] = n * (long)cuts[p] / 1000;
        own.hi[d] = n * (long)cuts[p + 1] / 1000;
        if (adsm_box_is_empty(&own))
            continue;
        if (how == 0)
            add_reads(object, p, &own, radius, wrap);
        else if (how == 1)
            add_need(object, p, whole, ADSM_IN);
        else if (part_only) {
            own = random_box(&own);
            add_need(object, p, &own, mode);
        } else
            add_need(object, p, &own, mode);
    }
}

static void draw_call(void)
{
    uint32_t cuts[PARTS + 1] = {0};
    int d[OBJECTS], args = 1 + (int)draw(ARGS);
    call.count = 0;
    call.parts = 1 + (int)draw(PARTS);
    for (int p = 0; p < call.parts; p++) {
        cuts[p + 1] = (uint32_t)(1000 * (p + 1) / call.parts);
        if (p + 1 < call.parts)
            cuts[p + 1] -= draw((uint32_t)(500 / call.parts));
        call.device[p] = (int)draw(DEVICES);
    }
    for (int i = 0; i < OBJECTS; i++)
        d[i] = (int)draw((uint32_t)objects[i].whole.nd);
    for (int i = 0; i < args; i++) {
        int object = (int)draw(OBJECTS);
        add_argument(object, d[object], cuts, (int)draw(4));
    }
}

/* Each argument lies in its copy, and no byte is written in two. */
static void check_choice(const struct object *o, struct need *const *need,
                         const struct adsm_need *wants, int n)
{
    for (int i = 0; i < n; i++) {
        require(adsm_box_within(&need[i]->box, &need[i]->copy->c.box),
                "a copy is too small", o);
        for (int k = 0; k < i; k++)
            if ((wants[i].mode & wants[k].mode & ADSM_OUT) &&
                adsm_box_meets(&wants[i].box, &wants[k].box))
                require(need[i]->copy == need[k]->copy,
                        "a byte is written in two copies", o);
    }
}

/* Find or make the copies of one object and part. */
static bool choose(int object, int part)
{
    struct adsm_need wants[2 * ARGS];
    struct need *need[2 * ARGS];
    struct copy *made[2 * ARGS];
    adsmBox fresh[ADSM_FRESH * 2 * ARGS];
    struct object *o = &objects[object];
    int n = 0;
    for (int i = 0; i < call.count; i++)
        if (call.needs[i].object == object && call.needs[i].part == part) {
            need[n] = &call.needs[i];
            wants[n] = (struct adsm_need){.box = call.needs[i].box,
                                          .mode = call.needs[i].mode};
            n++;
        }
    int count = adsm_plan_choose(&o->held, accel_of(call.device[part]), reuse,
                                 wants, n, fresh);
    for (int i = 0; i < n; i++)
        if (wants[i].copy) {
            need[i]->copy = (struct copy *)wants[i].copy;
            use(need[i]->copy);
        }
    for (int k = 0; k < count; k++) {
        made[k] = make(o, call.device[part], &fresh[k]);
        if (!made[k])
            return false;
        for (int i = 0; i < n; i++)
            if (!wants[i].copy && wants[i].fresh == k) {
                need[i]->copy = made[k];
                use(made[k]);
            }
    }
    check_choice(o, need, wants, n);
    return true;
}

/* Plan the moves of one need and do them, if none fails. */
static bool bring(struct need *need)
{
    struct object *o = &objects[need->object];
    uint32_t first = moves.count;
    note_holders(o, &need->box);
    if (failed(adsm_plan_read(&o->held, &need->copy->c, &need->box, &moves), o))
        return false;
    check_sources(o, first, false);
    uint32_t end = moves.count;
    if (end > first && draw(60) == 0)
        end = first + draw(end - first);
    do_moves(o, first, end, false);
    if (end == moves.count)
        return true;
    adsm_plan_undo(&o->held, &moves, end);
    return false;
}

static void check_gold(struct object *o, size_t at, void *context)
{
    if (((const uint32_t *)context)[at] != o->gold[at])
        stop("a kernel reads", o, at);
}

/* A margin is filled from somewhere else in the array. */
static void fill_margin(const struct need *need)
{
    struct object *o = &objects[need->object];
    adsmBox box = random_box(&o->whole);
    uint32_t first = moves.count;
    note_holders(o, &box);
    if (failed(adsm_plan_gather(&o->held, &need->copy->c, &box, &moves), o))
        return;
    check_sources(o, first, true);
    do_moves(o, first, moves.count, true);
    each_byte(o, &box, check_gold, margin);
}

static void invalidate(struct object *o, size_t at, void *unused)
{
    (void)unused;
    o->block[at / o->block_bytes] = INVALID;
}

static void write_byte(struct object *o, size_t at, void *context)
{
    ((uint32_t *)context)[at] = o->gold[at] = ++stamp;
}

/* Everything up to the launch; false: the call is refused. */
static bool prepare(void)
{
    for (int object = 0; object < OBJECTS; object++)
        for (int part = 0; part < call.parts; part++)
            if (!choose(object, part))
                return false;
    for (int i = 0; i < call.count; i++)
        if ((call.needs[i].mode & ADSM_IN) && !bring(&call.needs[i]))
            return false;
    if (call.count && draw(8) == 0)
        fill_margin(&call.needs[draw((uint32_t)call.count)]);
    for (int i = 0; i < call.count; i++) {
        struct need *need = &call.needs[i];
        struct object *o = &objects[need->object];
        if (!(need->mode & ADSM_OUT))
            continue;
        if (failed(adsm_plan_reserve(&o->held, &need->box), o))
            return false;
    }
    for (int i = 0; i < call.count; i++)
        if (call.needs[i].mode & ADSM_OUT)
            each_byte(&objects[call.needs[i].object], &call.needs[i].box,
                      invalidate, NULL);
    return draw(30) != 0;
}

static void run_parts(void)
{
    for (int i = 0; i < call.count; i++)
        if (call.needs[i].mode & ADSM_IN)
            each_byte(&objects[call.needs[i].object], &call.needs[i].box,
                      check_gold, call.needs[i].copy->data);
    for (int i = 0; i < call.count; i++) {
        const struct need *need = &call.needs[i];
        struct object *o = &objects[need->object];
        if (!(need->mode & ADSM_OUT))
            continue;
        each_byte(o, &need->box, write_byte, need->copy->data);
        adsm_plan_write(&o->held, &need->copy->c, &need->box);
    }
    counted[N_CALLS]++;
}

static void make_call(void)
{
    int begun = 0;
    draw_call();
    while (begun < OBJECTS && begin(&objects[begun]))
        begun++;
    if (begun == OBJECTS && prepare())
        run_parts();
    else
        counted[N_REFUSED]++;
    for (int i = 0; i < call.count; i++)
        if (call.needs[i].copy)
            call.needs[i].copy->c.uses--;
    while (begun > 0)
        adsm_plan_end(&objects[--begun].held);
}

/* ---- other uses ----------------------------------------------------------- */

static void evict_any(void)
{
    struct object *o = &objects[draw(OBJECTS)];
    struct copy *copy = &o->copies[draw(COPIES)];
    for (int i = 0; i < COPIES && (!copy->live || copy->c.home); i++)
        copy = &o->copies[i];
    if (copy->live && !copy->c.home)
        evict(copy);
}

/* An unannotated kernel runs at home and may write everything; or the driver
 * reads there. */
static void settle(struct object *o)
{
    if (!begin(o))
        return;
    uint32_t first = moves.count;
    if (!failed(adsm_plan_settle(&o->held, &moves), o)) {
        uint32_t *data = o->home ? o->home->data : o->host;
        do_moves(o, first, moves.count, false);
        each_byte(o, &o->whole, check_gold, data);
        if (o->home && draw(2)) {
            each_byte(o, &o->whole, invalidate, NULL);
            each_byte(o, &o->whole, write_byte, data);
            require(adsm_plan_reserve(&o->held, &o->whole) == ADSM_OK,
                    "all of an object has to be cut", o);
            adsm_plan_write(&o->held, &o->home->c, &o->whole);
        }
    }
    adsm_plan_end(&o->held);
}

static void take_host(struct object *o, size_t at, void *unused)
{
    (void)unused;
    o->gold[at] = o->host[at];
}

static void discard(struct object *o)
{
    adsmBox box = random_box(&o->whole);
    if (!begin(o))
        return;
    if (!failed(adsm_plan_discard(&o->held, &box), o))
        each_byte(o, &box, take_host, NULL);
    adsm_plan_end(&o->held);
}

static adsmBox random_shape(size_t *bytes)
{
    adsmBox whole = {1 + (int)draw(3), {0}, {0}};
    long left = 20 + (long)draw(BYTES - 19);
    for (int d = whole.nd - 1; d > 0; d--) {
        whole.hi[d] = 1 + draw(d == 2 ? 6 : 12);
        left /= whole.hi[d];
    }
    whole.hi[0] = left > 0 ? left : 1;
    *bytes = adsm_box_bytes(&whole);
    return whole;
}

/* All to the host, and no copies but the home one. Return: whether it is so */
static bool take_to_host(struct object *o)
{
    for (int i = 0; i < COPIES; i++)
        if (o->copies[i].live && !o->copies[i].c.home && !evict(&o->copies[i]))
            return false;
    if (!begin(o))
        return false;
    uint32_t first = moves.count;
    bool well =
        !failed(adsm_plan_to_host(&o->held, &o->held.map.whole, &moves), o);
    if (well)
        do_moves(o, first, moves.count, false);
    adsm_plan_end(&o->held);
    return well;
}

/* Another shape of as many bytes. */
static void reshape(struct object *o)
{
    size_t bytes;
    adsmBox shape = {0};
    for (int i = 0; i < 50 && shape.nd == 0; i++) {
        shape = random_shape(&bytes);
        if (bytes != o->bytes)
            shape.nd = 0;
    }
    if (shape.nd == 0)
        shape = adsmR1((long)o->bytes);
    if (!take_to_host(o))
        return;
    adsm_held_reshape(&o->held, &shape, ADSM_HOLDER_HOST);
    o->whole = shape;
}

/* A home, with anything in its memory. */
static void enter_home(struct object *o)
{
    struct copy *home = o->copies;
    while (home->live)
        home++;
    *home = (struct copy){.of = o, .live = true};
    home->c = (struct adsm_copy){
        .box = o->whole, .home = true, .accel = accel_of((int)draw(DEVICES))};
    if (adsm_held_enter(&o->held, &home->c) != ADSM_OK)
        exit(2);
    o->home = home;
}

/* The home's memory goes, or comes back. */
static void move_home(struct object *o)
{
    if (!take_to_host(o))
        return;
    if (o->home) {
        adsm_held_alone(&o->held);
        o->home->live = false;
        o->home = NULL;
    } else {
        enter_home(o);
    }
}

static void drop(struct adsm_copy *copy, void *context)
{
    struct object *o = context;
    if (copy->home) {
        o->home->live = false;
        o->home = NULL;
    } else {
        forget((struct copy *)copy);
    }
}

static void lose_object(struct object *o, int device)
{
    uint64_t gone = 0;
    size_t lost = 0;
    memset(before, 0, sizeof before);
    note_holders(o, &o->whole);
    for (unsigned h = 1; h < 64; h++)
        if (copy_of(o, h) && copy_of(o, h)->c.accel == accel_of(device))
            gone |= (uint64_t)1 << h;
    for (size_t at = 0; at < o->bytes; at++)
        if (!(before[at] & ~gone)) {
            o->gold[at] = o->host[at];
            lost++;
        }
    if (adsm_plan_lost(&o->held, accel_of(device), drop, o) != lost)
        stop("bytes lost", o, lost);
    counted[N_LOST]++;
}

static void lose_device(void)
{
    int device = (int)draw(DEVICES), begun = 0;
    while (begun < OBJECTS && begin(&objects[begun]))
        begun++;
    for (int i = 0; begun == OBJECTS && i < OBJECTS; i++)
        lose_object(&objects[i], device);
    while (begun > 0)
        adsm_plan_end(&objects[--begun].held);
}

/* ---- objects come and go -------------------------------------------------- */

static void renew(struct object *o)
{
    for (int i = 0; i < COPIES && o->bytes; i++)
        if (o->copies[i].live && !o->copies[i].c.home)
            forget(&o->copies[i]);
    if (o->bytes)
        adsm_held_fini(&o->held);
    o->whole = random_shape(&o->bytes);
    o->block_bytes = 4 + draw(13);
    o->home = NULL;
    memset(o->copies, 0, sizeof o->copies);
    bool home = draw(2);
    if (adsm_held_init(&o->held, &o->whole,
                       home ? ADSM_HOLDER_HOME : ADSM_HOLDER_HOST, direct))
        exit(2);
    if (home)
        enter_home(o);
    memset(o->block, INVALID, sizeof o->block);
    for (size_t at = 0; at < o->bytes; at++)
        *(home ? &o->home->data[at] : &o->host[at]) = o->gold[at] = ++stamp;
}

static void renew_all(void)
{
    free(moves.items);
    moves = (struct adsm_moves){0};
    for (int i = 0; i < OBJECTS; i++)
        renew(&objects[i]);
    for (int i = 0; i < DEVICES; i++)
        for (int k = 0; k < DEVICES; k++)
            peers[i][k] = draw(2);
    memory_bytes = draw(2) ? 100000 : 100 + draw(500);
    reuse = draw(8) != 0;
}

static void operate(void)
{
    uint32_t kind = draw(1000);
    struct object *o = &objects[draw(OBJECTS)];
    memory_fails = draw(100) == 0;
    if (kind < 400)
        make_call();
    else if (kind < 880)
        cpu_access(o);
    else if (kind < 930)
        evict_any();
    else if (kind < 955)
        settle(o);
    else if (kind < 970)
        discard(o);
    else if (kind < 980)
        reshape(o);
    else if (kind < 985)
        lose_device();
    else if (kind < 990)
        renew_all();
    else if (kind < 995)
        move_home(o);
    memory_fails = false;
    /* What the CPU did was to one of them. */
    bool one = kind >= 400 && kind < 880;
    for (int i = 0; i < OBJECTS; i++)
        if (!one || &objects[i] == o)
            check_object(&objects[i]);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    long operations = atol(argv[1]);
    unsigned long seed = strtoul(argv[2], NULL, 0);
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
    model_plant = argc > 3 ? argv[3] : NULL;
    renew_all();
    for (operation = 0; operation < operations; operation++)
        operate();
    printf(
        "%ld operations, seed %lu: equal; %ld calls (%ld refused), %ld "
        "moves, %ld evictions, %ld losses, %ld crowded, %ld without memory\n",
        operations, seed, counted[N_CALLS], counted[N_REFUSED],
        counted[N_MOVES], counted[N_EVICTED], counted[N_LOST], counted[N_THIN],
        counted[N_NOMEM]);
    return model_plant ? 1 : 0;
}
