/* Images and the records of their kernels; see code/code.h. */
#include "code/code.h"

#include "base/lock.h"
#include "base/status.h"
#include "code/learned.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* An image on one device. */
struct place {
    struct adsm_accel *accel; /* NULL: not loaded there */
    void *module;             /* the driver's           */
};

struct adsm_image {
    _Atomic uint32_t holders;   /* from 0 on it is of who took the last  */
    struct adsm_lock lock;      /* of all below, and of what records say */
    struct sc_program *program; /* NULL: no PTX                          */
    uint64_t hash;              /* 0: not made yet, or of nothing        */
    struct adsm_code *codes;    /* by name                               */
    /* Of what the library has loaded; read-only but for the places. */
    char *bytes;
    size_t count;
    int devices; /* 0: the program has, and knows where */
    struct place places[];
};

struct adsm_code {
    struct adsm_image *image;
    UT_hash_handle hh;
    /* NULL: not asked for yet. Whoever finds one reads it without the lock. */
    struct adsm_layout *_Atomic layout;
    _Atomic bool is_read;                 /* the same for `kernel` */
    struct sc_program_kernel *kernel;     /* NULL: not understood */
    struct adsm_learned *_Atomic learned; /* as `layout` */
    const char *name;                     /* behind the handles */
    _Atomic(void *) handles[]; /* by device; NULL: not asked for yet */
};

/* ---- keys ---------------------------------------------------------------- */

/* Multiplied by the golden ratio, high bits into low ones: words that differ in
 * one bit differ in half of them. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_of(uint64_t hash, const void *bytes, size_t count)
{
    const char *at = bytes;
    uint64_t word;
    for (size_t left = count; left > 0;) {
        size_t n = left < sizeof word ? left : sizeof word;
        word = 0;
        memcpy(&word, at, n);
        hash = mix(hash, word);
        at += n;
        left -= n;
    }
    return mix(hash, count);
}

uint64_t adsm_code_key(struct adsm_code *code)
{
    struct adsm_image *image = code->image;
    size_t bytes;
    adsm_lock_acquire(&image->lock);
    if (!image->hash && image->program) {
        const char *text = sc_program_text(image->program, &bytes);
        image->hash = text ? hash_of(0, text, bytes) : 0;
    }
    uint64_t hash = image->hash;
    adsm_lock_release(&image->lock);
    return hash ? hash_of(hash, code->name, strlen(code->name)) : 0;
}

/* ---- images -------------------------------------------------------------- */

static struct adsm_image *make_image(const void *bytes, size_t count,
                                     unsigned sm, int devices)
{
    struct adsm_image *image =
        calloc(1, sizeof *image + (size_t)devices * sizeof(struct place));
    if (!image)
        return NULL;
    atomic_init(&image->holders, 1);
    adsm_lock_init(&image->lock, ADSM_RANK_CODE);
    image->program = sc_program_new(bytes, sm);
    if (!image->program && count > 0)
        image->hash = hash_of(0, bytes, count);
    image->devices = devices;
    return image;
}

struct adsm_image *adsm_image_new(const void *bytes, size_t count, unsigned sm)
{
    return make_image(bytes, count, sm, 0);
}

struct adsm_image *adsm_image_loaded(char *bytes, size_t count,
                                     struct adsm_accel *accel, void *module)
{
    int device = adsm_accel_device(accel);
    struct adsm_image *image =
        make_image(bytes, count, 0, adsm_accel_devices());
    if (!image)
        return NULL;
    image->bytes = bytes;
    image->count = count;
    image->places[device] = (struct place){accel, module};
    return image;
}

bool adsm_image_has_ptx(const struct adsm_image *image)
{
    return image->program != NULL;
}

void adsm_image_hold(struct adsm_image *image)
{
    /* Relaxed: who holds it already keeps it. */
    atomic_fetch_add_explicit(&image->holders, 1, memory_order_relaxed);
}

void adsm_image_release(struct adsm_image *image)
{
    struct adsm_code *code, *next;
    /* Acquire and release: what other holders did is done before it is freed. */
    if (atomic_fetch_sub_explicit(&image->holders, 1, memory_order_acq_rel) > 1)
        return;
    HASH_ITER(hh, image->codes, code, next)
    {
        HASH_DEL(image->codes, code);
        free(atomic_load_explicit(&code->layout, memory_order_relaxed));
        adsm_learned_release(
            atomic_load_explicit(&code->learned, memory_order_relaxed));
        free(code);
    }
    sc_program_free(image->program);
    free(image->bytes);
    free(image);
}

static struct adsm_code *make(struct adsm_image *image, const char *name)
{
    size_t length = strlen(name);
    size_t handles = (size_t)image->devices * sizeof(void *);
    struct adsm_code *code = calloc(1, sizeof *code + handles + length + 1);
    if (!code)
        return NULL;
    code->image = image;
    code->name = memcpy((char *)(code + 1) + handles, name, length);
    HASH_ADD_KEYPTR(hh, image->codes, code->name, length, code);
    if (code->hh.tbl)
        return code;
    free(code);
    return NULL;
}

struct adsm_code *adsm_image_code(struct adsm_image *image, const char *name)
{
    struct adsm_code *code;
    adsm_lock_acquire(&image->lock);
    HASH_FIND_STR(image->codes, name, code);
    if (!code)
        code = make(image, name);
    adsm_lock_release(&image->lock);
    return code;
}

struct adsm_image *adsm_code_image(const struct adsm_code *code)
{
    return code->image;
}

const char *adsm_code_name(const struct adsm_code *code)
{
    return code->name;
}

/* ---- devices ------------------------------------------------------------- */

/* NULL: not there. */
static void *module_on(struct adsm_image *image, int device)
{
    adsm_lock_acquire(&image->lock);
    void *module = image->places[device].module;
    adsm_lock_release(&image->lock);
    return module;
}

int adsm_image_on(struct adsm_image *image, struct adsm_accel *accel)
{
    int device = adsm_accel_device(accel);
    struct place loaded = {.accel = accel};
    if (module_on(image, device))
        return ADSM_OK;
    int rc = adsm_accel_module_load(accel, image->bytes, image->count,
                                    &loaded.module);
    if (rc != ADSM_OK)
        return rc;
    adsm_lock_acquire(&image->lock);
    bool there = image->places[device].accel != NULL;
    if (!there)
        image->places[device] = loaded;
    adsm_lock_release(&image->lock);
    return there ? adsm_accel_module_unload(accel, loaded.module) : ADSM_OK;
}

int adsm_image_unload(struct adsm_image *image, int *device)
{
    int first = ADSM_OK;
    for (int i = 0; i < image->devices; i++) {
        const struct place *place = &image->places[i];
        /* With a lost device its code is gone as well. */
        int rc = place->accel && adsm_accel_health(place->accel) == ADSM_OK
                     ? adsm_accel_module_unload(place->accel, place->module)
                     : ADSM_OK;
        if (rc != ADSM_OK && first == ADSM_OK) {
            first = rc;
            *device = i;
        }
    }
    return first;
}

void *adsm_code_handle(const struct adsm_code *code,
                       const struct adsm_accel *accel)
{
    /* Acquire: pairs with adsm_code_on; what the driver built is there. */
    return atomic_load_explicit(&code->handles[adsm_accel_device(accel)],
                                memory_order_acquire);
}

int adsm_code_on(struct adsm_code *code, struct adsm_accel *accel,
                 void **handle)
{
    int device = adsm_accel_device(accel);
    void *module = module_on(code->image, device);
    int rc = adsm_accel_kernel_get(accel, module, code->name, handle);
    if (rc == ADSM_OK)
        /* Release: pairs with adsm_code_handle. Two threads store the same. */
        atomic_store_explicit(&code->handles[device], *handle,
                              memory_order_release);
    return rc;
}

/* ---- what was learnt ----------------------------------------------------- */

struct adsm_speed *adsm_code_speed(struct adsm_code *code)
{
    struct adsm_learned *none = NULL, *learned;
    /* Acquire: pairs with the exchange below. */
    learned = atomic_load_explicit(&code->learned, memory_order_acquire);
    if (learned)
        return adsm_learned_speed(learned);
    learned = adsm_learned_hold(adsm_code_key(code), code->name);
    if (!learned)
        return NULL;
    if (!atomic_compare_exchange_strong(&code->learned, &none, learned)) {
        adsm_learned_release(learned);
        learned = none;
    }
    return adsm_learned_speed(learned);
}

/* ---- parameters ---------------------------------------------------------- */

static uint8_t kind_of(const struct sc_parameter *parameter)
{
    return parameter->number == SC_NUMBER_REAL      ? ADSM_REAL
           : parameter->number == SC_NUMBER_INTEGER ? ADSM_INTEGER
                                                    : ADSM_ANY_KIND;
}

/* Return: how many; ADSM_LAYOUT_UNKNOWN: PTX does not say it */
static int declared(const struct adsm_code *code, struct adsm_parameter *at)
{
    struct sc_parameter list[ADSM_PARAMETERS_MOST];
    struct sc_program *program = code->image->program;
    int n = program ? sc_program_parameters(program, code->name, list,
                                            ADSM_PARAMETERS_MOST)
                    : -1;
    for (int i = 0; i < n && i < ADSM_PARAMETERS_MOST; i++)
        at[i] = (struct adsm_parameter){list[i].offset, list[i].bytes,
                                        kind_of(&list[i])};
    return n < 0 ? ADSM_LAYOUT_UNKNOWN : n;
}

/* Into the record. NULL: no memory */
static struct adsm_layout *keep(struct adsm_code *code,
                                const struct adsm_parameter *at, int count)
{
    int most = count < ADSM_PARAMETERS_MOST ? count : ADSM_PARAMETERS_MOST;
    size_t bytes = most > 0 ? (size_t)most * sizeof *at : 0;
    struct adsm_layout *layout = malloc(sizeof *layout + bytes);
    if (!layout)
        return NULL;
    struct adsm_parameter *copy = (struct adsm_parameter *)(layout + 1);
    memcpy(copy, at, bytes);
    *layout = (struct adsm_layout){count, copy};
    /* Release: pairs with who looks without the lock. */
    atomic_store_explicit(&code->layout, layout, memory_order_release);
    return layout;
}

/* NULL: nobody has told, or there is no memory. */
static struct adsm_layout *make_layout(struct adsm_code *code,
                                       adsm_parameter_fn *ask, void *context)
{
    struct adsm_parameter at[ADSM_PARAMETERS_MOST];
    int count = declared(code, at);
    if (count == ADSM_LAYOUT_UNKNOWN)
        count = adsm_layout_ask(at, ask, context);
    return count == ADSM_LAYOUT_REFUSED ? NULL : keep(code, at, count);
}

struct adsm_layout adsm_code_layout(struct adsm_code *code,
                                    adsm_parameter_fn *ask, void *context)
{
    struct adsm_layout *layout =
        atomic_load_explicit(&code->layout, memory_order_acquire);
    if (!layout) {
        adsm_lock_acquire(&code->image->lock);
        layout = atomic_load_explicit(&code->layout, memory_order_relaxed);
        if (!layout)
            layout = make_layout(code, ask, context);
        adsm_lock_release(&code->image->lock);
    }
    return layout ? *layout : (struct adsm_layout){ADSM_LAYOUT_REFUSED, NULL};
}

/* ---- what launches touch ------------------------------------------------- */

const struct sc_reach *adsm_code_reach(struct adsm_code *code)
{
    /* Acquire: pairs with the store below; what was read is there. */
    if (!atomic_load_explicit(&code->is_read, memory_order_acquire)) {
        struct adsm_image *image = code->image;
        adsm_lock_acquire(&image->lock);
        if (!code->kernel && image->program)
            code->kernel = sc_program_kernel(image->program, code->name);
        atomic_store_explicit(&code->is_read, true, memory_order_release);
        adsm_lock_release(&image->lock);
    }
    return code->kernel ? sc_program_reach(code->kernel) : NULL;
}

bool adsm_code_touched(struct adsm_code *code,
                       const struct sc_geometry *geometry,
                       const uint8_t *params, size_t bytes,
                       struct sc_touched *touched)
{
    if (!adsm_code_reach(code))
        return false;
    adsm_lock_acquire(&code->image->lock);
    bool known =
        sc_program_touched(code->kernel, geometry, params, bytes, touched);
    adsm_lock_release(&code->image->lock);
    return known;
}

bool adsm_code_rows(struct adsm_code *code, const struct sc_geometry *geometry,
                    const uint8_t *params, size_t bytes,
                    struct sc_touched *touched)
{
    if (!adsm_code_reach(code))
        return false;
    adsm_lock_acquire(&code->image->lock);
    bool known =
        sc_program_rows(code->kernel, geometry, params, bytes, touched);
    adsm_lock_release(&code->image->lock);
    return known;
}
