/*
 * The model test's uses of an object: accesses of the CPU, folds, copies that
 * are made and evicted. See model.c.
 */
#include "model.h"

static uint64_t clock_now;

static size_t block_end(const struct object *o, size_t block)
{
    size_t end = (block + 1) * o->block_bytes;
    return end < o->bytes ? end : o->bytes;
}

static uint64_t rank(const struct adsm_copy *copy, const adsmBox *box,
                     void *unused)
{
    (void)box;
    (void)unused;
    return draw(4) * 1000 + copy->holder;
}

static int fetch(struct adsm_copy *copy, const adsmBox *box, void *context)
{
    struct object *o = context;
    require(copy && adsm_box_within(box, &copy->box), "fetch", o);
    struct transfer t = {((struct copy *)copy)->data, o->host};
    each_byte(o, box, move_byte, &t);
    return 0;
}

/* Open the blocks of [at, at + n). */
static void open_blocks(struct object *o, size_t at, size_t n, bool to_write)
{
    for (size_t b = at / o->block_bytes; b * o->block_bytes < at + n; b++) {
        if (o->block[b] == INVALID)
            adsm_plan_fetch(&o->held, b * o->block_bytes, block_end(o, b),
                            draw(2) ? rank : NULL, fetch, o);
        if (to_write)
            o->block[b] = DIRTY;
        else if (o->block[b] == INVALID)
            o->block[b] = READ_ONLY;
    }
}

void cpu_access(struct object *o)
{
    size_t at = draw((uint32_t)o->bytes);
    size_t n = 1 + draw((uint32_t)(o->bytes - at));
    bool writes = draw(2);
    if (draw(3))
        n = n < 4 ? n : 4;
    open_blocks(o, at, n, writes);
    for (size_t i = at; i < at + n; i++)
        if (o->host[i] != o->gold[i])
            stop("the CPU reads", o, i);
    /* A system call may write less than it has opened. */
    size_t written = writes ? draw(4) ? n : draw((uint32_t)n + 1) : 0;
    for (size_t i = at; i < at + written; i++)
        o->host[i] = o->gold[i] = ++stamp;
}

bool failed(int status, const struct object *o)
{
    if (status == ADSM_OK)
        return false;
    require(status == ADSM_E_NOMEM && memory_fails, "status", o);
    counted[N_NOMEM]++;
    return true;
}

static bool fold(struct object *o)
{
    size_t blocks = (o->bytes + o->block_bytes - 1) / o->block_bytes;
    for (size_t b = 0, end; b < blocks; b = end) {
        for (end = b + 1; end < blocks && o->block[end] == o->block[b];)
            end++;
        if (o->block[b] != INVALID &&
            failed(adsm_plan_fold(&o->held, b * o->block_bytes,
                                  block_end(o, end - 1), o->block[b] == DIRTY),
                   o))
            return false;
    }
    return true;
}

/* Begin a use; what it moves is done. */
bool begin(struct object *o)
{
    bool crowded = adsm_map_is_crowded(&o->held.map);
    if (crowded && !fold(o))
        return false;
    moves.count = 0;
    if (failed(adsm_plan_begin(&o->held, &moves), o))
        return false;
    counted[N_THIN] += crowded;
    do_moves(o, 0, moves.count, false);
    if (fold(o))
        return true;
    adsm_plan_end(&o->held);
    return false;
}

void forget(struct copy *copy)
{
    struct device *device = &devices[device_of(copy->c.accel)];
    adsm_copies_remove(&device->list, &copy->c);
    device->bytes -= copy->c.taken;
    copy->live = false;
}

bool evict(struct copy *copy)
{
    struct object *o = copy->of;
    if (copy->c.uses) /* what the device still writes is lost */
        stop("eviction of what is in use", o, 0);
    if (!begin(o))
        return false;
    uint32_t first = moves.count;
    int status = adsm_plan_evict(&o->held, &copy->c, &moves);
    for (uint32_t i = first; i < moves.count && status == ADSM_OK; i++) {
        struct transfer t = {copy->data, o->host};
        require(moves.items[i].to == ADSM_HOLDER_HOST, "eviction", o);
        each_byte(o, &moves.items[i].box, move_byte, &t);
    }
    adsm_plan_end(&o->held);
    if (failed(status, o))
        return false;
    forget(copy);
    counted[N_EVICTED]++;
    return true;
}

/* Evict until there is memory for so many bytes, if that can help. */
static bool make_room(const struct object *o, struct device *d, size_t bytes)
{
    if (bytes > memory_bytes - d->bytes + adsm_copies_free_bytes(&d->list))
        return false;
    while (bytes > memory_bytes - d->bytes) {
        struct adsm_copy *victim = adsm_copies_victim(&d->list);
        require(victim != NULL, "no victim though there were bytes", o);
        if (!evict((struct copy *)victim))
            return false;
    }
    return true;
}

/* A place for a copy of an object; that of another when it has too many. */
static struct copy *make_place(struct object *o)
{
    for (int i = 0; i < COPIES; i++)
        if (!o->copies[i].live)
            return &o->copies[i];
    struct copy *oldest = (struct copy *)adsm_held_oldest(&o->held, 0);
    return oldest && evict(oldest) ? oldest : NULL;
}

struct copy *make(struct object *o, int device, const adsmBox *box)
{
    size_t bytes = adsm_box_bytes(box);
    struct device *d = &devices[device];
    if (!make_room(o, d, bytes))
        return NULL;
    struct copy *copy = make_place(o);
    if (!copy || draw(50) == 0) /* the device refuses */
        return NULL;
    memset(copy, 0, sizeof *copy);
    copy->of = o;
    copy->live = true;
    copy->c = (struct adsm_copy){
        .box = *box, .taken = bytes, .accel = accel_of(device)};
    if (adsm_held_enter(&o->held, &copy->c) != ADSM_OK)
        stop("no number", o, 0);
    adsm_copies_append(&d->list, &copy->c);
    d->bytes += bytes;
    return copy;
}

void use(struct copy *copy)
{
    copy->c.uses++;
    copy->c.last_used = ++clock_now;
    if (copy->c.home)
        return;
    struct device *device = &devices[device_of(copy->c.accel)];
    adsm_copies_remove(&device->list, &copy->c);
    adsm_copies_append(&device->list, &copy->c);
}
