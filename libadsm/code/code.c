/* Images and the records of their kernels; see code/code.h. */
#include "code/code.h"

#include "base/lock.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct adsm_image {
    _Atomic uint32_t holders;   /* from 0 on it is of who took the last  */
    struct adsm_lock lock;      /* of all below, and of what records say */
    struct sc_program *program; /* NULL: no PTX                          */
    uint64_t hash;              /* 0: not made yet, or of nothing        */
    struct adsm_code *codes;    /* by name                               */
};

struct adsm_code {
    struct adsm_image *image;
    UT_hash_handle hh;
    /* NULL: not asked for yet. Whoever finds one reads it without the lock. */
    struct adsm_layout *_Atomic layout;
    _Atomic bool is_read;             /* the same for `kernel` */
    struct sc_program_kernel *kernel; /* NULL: not understood */
    char name[];
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

struct adsm_image *adsm_image_new(const void *bytes, size_t count, unsigned sm)
{
    struct adsm_image *image = calloc(1, sizeof *image);
    if (!image)
        return NULL;
    atomic_init(&image->holders, 1);
    adsm_lock_init(&image->lock, ADSM_RANK_CODE);
    image->program = sc_program_new(bytes, sm);
    if (!image->program && count > 0)
        image->hash = hash_of(0, bytes, count);
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
        free(code);
    }
    sc_program_free(image->program);
    free(image);
}

static struct adsm_code *make(struct adsm_image *image, const char *name)
{
    size_t length = strlen(name);
    struct adsm_code *code = calloc(1, sizeof *code + length + 1);
    if (!code)
        return NULL;
    code->image = image;
    memcpy(code->name, name, length);
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
