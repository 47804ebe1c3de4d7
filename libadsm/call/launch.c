/* From adsmLaunch to the driver: check, release, enqueue, remember. */
#include "call/launch.h"

#include "accel/launched.h"
#include "base/lock.h"
#include "mm/doors/boundary.h"
#include "mm/heap/slab.h"
#include "mm/object/holders.h"
#include "mm/object/block.h"
#include "mm/object/index.h"
#include "mm/object/movable.h"
#include "call/argument.h"
#include "call/detail.h"

#include <string.h>

enum { MOST_USES = 3 }; /* of an argument */

/* Everything a launch carries. */
struct launch {
    const struct adsm_kernel_view *kernel;
    int fixed;     /* leading parameters that no argument is given for */
    void **values; /* for the driver */
    struct adsm_daddr *pointers; /* values point here */
    struct adsm_use *uses;
    size_t use_count;
    /* An object's bytes are not all at home on the kernel's device. */
    bool elsewhere;
};

/* If an earlier argument uses the same bytes differently, the safer mode wins.
 * Where ranges overlap, each block gets both events, which comes to the same:
 * only whole objects are overwritten. */
static void add_use(struct launch *launch, struct adsm_use use)
{
    for (size_t i = 0; i < launch->use_count; i++) {
        struct adsm_use *old = &launch->uses[i];
        if (old->object == use.object && old->generation == use.generation &&
            old->at == use.at && old->bytes == use.bytes) {
            old->mode = adsm_use_both(old->mode, use.mode);
            return;
        }
    }
    launch->uses[launch->use_count++] = use;
}

/* From all of the object to what an argument says about it, or about the blocks
 * of the slab that its allocation has. Where others lie in these, it says
 * less. */
static void narrow(const struct launch *launch, const adsmArg *arg, bool slab,
                   struct adsm_use *use)
{
    bool others = launch->kernel->reach != ADSM_ONLY_ARGUMENTS;
    bool alone = !slab || adsm_slab_blocks(use, arg->p);
    bool whole = !slab && arg->p == (const void *)use->at;
    if ((use->mode == ADSM_OUT && !whole) || (others && !alone))
        use->mode = ADSM_INOUT;
}

/* Of an act: so many bytes from there on. Those it overwrites are dropped, but not
 * what others have in the first and the last block. */
static void add_bytes(struct launch *launch, const adsmArg *arg,
                      struct adsm_use use)
{
    const struct adsm_object *object = use.object;
    size_t from = (size_t)((const uint8_t *)arg->p - use.at);
    size_t end = from + arg->bytes, begin = from;
    uint32_t first = adsm_block_of(object, from);
    uint32_t last = adsm_block_of(object, end - 1);
    size_t tail = adsm_block_begin(object, last);
    const uint8_t *host = use.at;
    if (use.mode == ADSM_OUT && begin > adsm_block_begin(object, first))
        begin = first < last ? adsm_block_begin(object, first + 1) : end;
    if (use.mode != ADSM_OUT || end == object->bytes ||
        end == tail + adsm_block_bytes(object, last) || begin == end)
        tail = end;
    const struct {
        size_t from, end;
        adsmMode mode;
    } parts[] = {{from, begin, ADSM_INOUT},
                 {begin, tail, use.mode},
                 {tail, end, ADSM_INOUT}};
    for (int i = 0; i < 3; i++) {
        if (parts[i].from >= parts[i].end)
            continue;
        use.at = host + parts[i].from;
        use.bytes = parts[i].end - parts[i].from;
        use.mode = parts[i].mode;
        add_use(launch, use);
    }
}

static int not_at_home(const struct launch *launch, int number,
                       const struct adsm_accel *home)
{
    const char *advice = "a kernel that may touch any object gets those of its "
                         "own device only: look it up with ADSM_ONLY_ARGUMENTS";
    int device = adsm_accel_device(launch->kernel->accel);
    if (!home)
        return adsm_detail(ADSM_E_INVALID,
                           "argument %d of kernel '%s' has no home, the kernel "
                           "runs on device %d: %s",
                           number, launch->kernel->name, device, advice);
    return adsm_detail(ADSM_E_INVALID,
                       "argument %d of kernel '%s' lives on device %d, the "
                       "kernel on device %d: %s",
                       number, launch->kernel->name, adsm_accel_device(home),
                       device, advice);
}

static int add_pointer(struct launch *launch, int i, const adsmArg *arg)
{
    struct adsm_object *object = adsm_index_acquire(arg->p);
    if (!object)
        return adsm_argument_not_shared(launch->kernel, i - launch->fixed,
                                        arg->p);
    size_t offset = (size_t)((const uint8_t *)arg->p - object->host);
    launch->pointers[i] = adsm_daddr_add(object->device, offset);
    launch->values[i] = &launch->pointers[i];
    bool slab = object->slab != NULL;
    struct adsm_use use =
        adsm_use_of(object, object->host, object->bytes, arg->mode);
    struct adsm_accel *home = object->homeless ? NULL : object->home;
    bool only = launch->kernel->reach == ADSM_ONLY_ARGUMENTS;
    bool spread =
        !adsm_object_is_gathered(object) && !adsm_object_is_away(object);
    bool direct = object->direct;
    adsm_rwlock_release_shared(&object->lock);
    void *base;
    size_t bytes;
    if (slab && adsm_slab_range(object, arg->p, &base, &bytes) != ADSM_OK)
        return adsm_argument_not_shared(launch->kernel, i - launch->fixed,
                                        arg->p);
    if (direct)
        home = launch->kernel->accel; /* at one address for all */
    if (home != launch->kernel->accel && !only)
        return not_at_home(launch, i - launch->fixed, home);
    /* For a kernel that may touch any object, one that is spread is gathered. */
    if (home != launch->kernel->accel || (spread && only)) {
        launch->elsewhere = true;
        return ADSM_OK;
    }
    if (launch->kernel->act && arg->bytes > 0) {
        add_bytes(launch, arg, use);
    } else {
        narrow(launch, arg, slab, &use);
        add_use(launch, use);
    }
    return ADSM_OK;
}

/* One that points to an array, or is a view of it. */
static int add_array(struct launch *launch, int i, const adsmArg *arg)
{
    const struct adsm_kernel_view *kernel = launch->kernel;
    bool view = kernel->layout.count >= 0
                    ? adsm_kernel_parameter(kernel, i) > sizeof(void *)
                    : adsm_argument_is_view(arg);
    if (!view)
        return add_pointer(launch, i, arg);
    if (kernel->reach == ADSM_ONLY_ARGUMENTS) {
        launch->elsewhere = true; /* who knows shapes makes views */
        return ADSM_OK;
    }
    return adsm_detail(ADSM_E_INVALID,
                       "argument %d of kernel '%s' is to be a view, which a "
                       "kernel that may touch any object cannot have: look it "
                       "up with ADSM_ONLY_ARGUMENTS",
                       i - launch->fixed, kernel->name);
}

static int enqueue(struct launch *launch, struct adsm_launch *how)
{
    const struct adsm_kernel_view *kernel = launch->kernel;
    struct adsm_accel *accel = kernel->accel;
    struct adsm_call call = {.accel = accel,
                             .stream = adsm_accel_launch_stream(accel),
                             .rest = kernel->reach == ADSM_ONLY_ARGUMENTS
                                         ? ADSM_REST_UNUSED
                                         : ADSM_REST_USED,
                             .kernel = kernel->kernel,
                             .code = kernel->kernel,
                             .uses = launch->uses,
                             .use_count = launch->use_count};
    how->kernel = kernel->handle;
    how->act = kernel->act;
    how->stream = call.stream;
    int rc = adsm_boundary_call(&call);
    if (rc == ADSM_OK) {
        rc = adsm_accel_launch(accel, how);
        if (rc == ADSM_OK) {
            rc = adsm_boundary_called(&call);
            adsm_launched_add(accel, kernel->name, 0, 1);
        } else {
            adsm_boundary_call_failed(&call);
        }
    }
    if (rc != ADSM_OK)
        return adsm_detail_cause(rc, "kernel '%s' was not launched",
                                 kernel->name);
    return ADSM_OK;
}

static int add_arrays(struct launch *launch, const adsmArg *args, int count)
{
    int rc = ADSM_OK;
    for (int i = 0; i < count && rc == ADSM_OK; i++)
        if (args[i].mode)
            rc = add_array(launch, launch->fixed + i, &args[i]);
    return rc;
}

/* Room for so many parameters. */
static int make_room(struct launch *launch, size_t count,
                     struct adsm_region *region)
{
    launch->values = adsm_region_get(region, count, sizeof *launch->values);
    launch->pointers = adsm_region_get(region, count, sizeof *launch->pointers);
    launch->uses =
        adsm_region_get(region, count * MOST_USES, sizeof *launch->uses);
    if (launch->values && launch->pointers && launch->uses)
        return ADSM_OK;
    return adsm_detail(ADSM_E_NOMEM, "no memory for a launch of kernel '%s'",
                       launch->kernel->name);
}

int adsm_launch(const struct adsm_kernel_view *kernel, struct adsm_grid *grid,
                int count, const adsmArg *args, struct adsm_region *region,
                bool *elsewhere)
{
    struct launch launch = {.kernel = kernel, .fixed = grid->bound_count};
    int rc = make_room(&launch, (size_t)(launch.fixed + count), region);
    if (rc != ADSM_OK)
        return rc;
    adsm_arguments_values(grid, count, args, launch.values);
    adsm_quiet_enter();
    rc = add_arrays(&launch, args, count);
    *elsewhere = rc == ADSM_OK && launch.elsewhere;
    if (rc == ADSM_OK && !launch.elsewhere && grid->launch.grid[0] != 0)
        rc = enqueue(&launch, &grid->launch);
    adsm_quiet_leave();
    return rc;
}
