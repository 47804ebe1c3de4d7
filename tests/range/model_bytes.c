/*
 * The model test's bytes: boxes of them, moves, and what must hold after each
 * operation. See model.c.
 */
#include "model.h"

uint32_t margin[BYTES];
uint64_t before[BYTES];

struct adsm_accel *accel_of(int device)
{
    return (struct adsm_accel *)&devices[device];
}

int device_of(const struct adsm_accel *accel)
{
    return (int)((const struct device *)accel - devices);
}

bool direct(const struct adsm_accel *from, const struct adsm_accel *to)
{
    return peers[device_of(from)][device_of(to)];
}

struct copy *copy_of(const struct object *o, unsigned holder)
{
    return (struct copy *)o->held.copies[holder];
}

void each_byte(struct object *o, const adsmBox *box, visit_byte *visit,
               void *context)
{
    size_t pitch[3];
    long n[3] = {1, 1, 1}, step[3] = {0, 0, 0};
    adsm_box_pitches(&o->whole, pitch);
    size_t first = adsm_box_offset(box, &o->whole, pitch);
    for (int d = 0; d < box->nd; d++) {
        n[d] = box->hi[d] - box->lo[d];
        step[d] = (long)pitch[d];
    }
    for (long z = 0; z < n[0]; z++)
        for (long y = 0; y < n[1]; y++)
            for (long x = 0; x < n[2]; x++)
                visit(o,
                      first + (size_t)(z * step[0] + y * step[1] + x * step[2]),
                      context);
}

adsmBox random_box(const adsmBox *in)
{
    adsmBox box = *in;
    for (int d = 0; d < in->nd; d++) {
        uint32_t n = (uint32_t)(in->hi[d] - in->lo[d]);
        uint32_t extent = 1 + draw(n);
        box.lo[d] = in->lo[d] + draw(n - extent + 1);
        box.hi[d] = box.lo[d] + (long)extent;
    }
    return box;
}

void move_byte(struct object *o, size_t at, void *context)
{
    const struct transfer *t = context;
    (void)o;
    t->to[at] = t->from[at];
}

/* Moves that read dirty blocks leave them read-only. */
static void close_byte(struct object *o, size_t at, void *unused)
{
    (void)unused;
    if (o->block[at / o->block_bytes] == DIRTY)
        o->block[at / o->block_bytes] = READ_ONLY;
}

static uint32_t *data_of(struct object *o, unsigned holder, bool to_margin)
{
    if (holder == ADSM_HOLDER_HOST)
        return o->host;
    require(copy_of(o, holder) != NULL, "move of no copy", o);
    return to_margin ? margin : copy_of(o, holder)->data;
}

void do_moves(struct object *o, uint32_t first, uint32_t end, bool to_margin)
{
    for (uint32_t i = first; i < end; i++) {
        const struct adsm_move *m = &moves.items[i];
        struct transfer t = {data_of(o, m->from, false),
                             data_of(o, m->to, to_margin)};
        if (m->from && m->to)
            require(copy_of(o, m->from)->c.accel ==
                            copy_of(o, m->to)->c.accel ||
                        direct(copy_of(o, m->from)->c.accel,
                               copy_of(o, m->to)->c.accel),
                    "move between strangers", o);
        if (!to_margin && m->to)
            require(adsm_box_within(&m->box, &copy_of(o, m->to)->c.box),
                    "move beyond a copy", o);
        each_byte(o, &m->box, move_byte, &t);
        if (m->from == ADSM_HOLDER_HOST)
            each_byte(o, &m->box, close_byte, NULL);
        counted[N_MOVES]++;
    }
}

static void note_byte(struct object *o, size_t at, void *context)
{
    (void)o;
    const struct adsm_holder_set *set = context;
    before[at] = set->bits[0];
}

/* Holders of the bytes of a box; the model has few copies. */
void note_holders(struct object *o, const adsmBox *box)
{
    for (struct adsm_map_walk w = adsm_map_walk(&o->held.map, box);
         adsm_map_next(&w);)
        each_byte(o, &w.piece, note_byte, &w.entry->holders);
}

struct read_check {
    const struct adsm_move *move;
    bool to_margin;
};

/* Is this the source that the rules prefer? */
static void check_source(struct object *o, size_t at, void *context)
{
    const struct read_check *check = context;
    const struct adsm_move *m = check->move;
    bool local = false, near = false;
    uint64_t set = before[at];
    if (m->to == ADSM_HOLDER_HOST) {
        if (set & 1)
            stop("fetch of what the host has", o, at);
        return;
    }
    const struct adsm_accel *to = copy_of(o, m->to)->c.accel;
    if (!check->to_margin && (set >> m->to & 1))
        stop("move of what is there", o, at);
    for (uint64_t left = set & ~(uint64_t)1; left; left &= left - 1) {
        unsigned h = (unsigned)__builtin_ctzll(left);
        local = local || copy_of(o, h)->c.accel == to;
        near = near || direct(copy_of(o, h)->c.accel, to);
    }
    bool from_local =
        m->from != ADSM_HOLDER_HOST && copy_of(o, m->from)->c.accel == to;
    if (local                ? !from_local
        : (set & 1) || !near ? m->from != ADSM_HOLDER_HOST
                             : m->from == ADSM_HOLDER_HOST)
        stop("another source comes first", o, at);
}

void check_sources(struct object *o, uint32_t first, bool to_margin)
{
    for (uint32_t i = first; i < moves.count; i++) {
        struct read_check check = {&moves.items[i], to_margin};
        each_byte(o, &check.move->box, check_source, &check);
    }
}

static void check_holders(struct object *o, size_t at, void *context)
{
    const struct adsm_holder_set *set = context;
    uint8_t state = o->block[at / o->block_bytes];
    if (state != INVALID && o->host[at] != o->gold[at])
        stop("an open block is stale", o, at);
    if (state == DIRTY)
        return; /* a fold is to come */
    for (uint64_t left = set->bits[0]; left; left &= left - 1) {
        unsigned h = (unsigned)__builtin_ctzll(left);
        if (data_of(o, h, false)[at] != o->gold[at])
            stop("a holder is stale", o, at);
    }
}

void check_object(struct object *o)
{
    require(adsm_held_is_valid(&o->held), "invariant", o);
    require(o->held.map.holds == 0, "a use has not ended", o);
    for (struct adsm_map_walk w = adsm_map_walk(&o->held.map, &o->whole);
         adsm_map_next(&w);)
        each_byte(o, &w.piece, check_holders, &w.entry->holders);
}
