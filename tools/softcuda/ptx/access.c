/*
 * Programs looked into: text kept, read when needed; see ptx/access.h.
 *
 * Lock: none.
 */
#include "ptx/access.h"
#include "ptx/fatbin.h"
#include "ptx/flow.h"
#include "ptx/parse.h"

#include <stdlib.h>
#include <string.h>

/* What reading one program may take. */
#define MEMORY_MOST ((size_t)512 << 20)
/* Longer kernels are looked at without their launches' numbers. */
enum { VARIABLES_MOST = 4000, ACCESSES_MOST = 512 };
/* Ranges of the same places this close are one. */
enum { NEAR_BYTES = 4096 };

struct sc_program_kernel {
    const struct sc_func *func;
    struct sc_flow flow;
    struct sc_reach reach;
    struct sc_program_kernel *next;
};

struct sc_program {
    struct sc_load load;
    struct sc_packed packed; /* until it is read */
    char *text;
    struct sc_ir *ir; /* NULL: not read yet, or not understood */
    struct sc_program_kernel *kernels;
};

struct sc_program *sc_program_new(const void *image, unsigned sm)
{
    const struct sc_fatbin_device device = {sm, true};
    struct sc_program *program = calloc(1, sizeof *program);
    char why[256];
    if (!program || sc_fatbin_pick(image, device, &program->packed, why,
                                   sizeof why) != SC_IMAGE_FOUND) {
        free(program);
        return NULL;
    }
    program->load.tolerant = true;
    sc_arena_init(&program->load.arena, MEMORY_MOST);
    return program;
}

void sc_program_free(struct sc_program *program)
{
    if (!program)
        return;
    sc_arena_fini(&program->load.arena);
    free(program->packed.payload);
    free(program->text);
    free(program);
}

/* ---- reading ------------------------------------------------------------- */

static void read_text(struct sc_program *program)
{
    size_t bytes = sc_unpack(&program->packed, &program->text);
    if (bytes != SIZE_MAX && setjmp(program->load.back) == 0)
        program->ir = sc_ptx_parse(&program->load, program->text, bytes);
}

/* What all accesses of a kind are computed from. */
static uint32_t places_of(const struct sc_origins *origins, bool reads)
{
    sc_origin all = 0;
    for (size_t i = 0; i < origins->access_count; i++)
        if (origins->accesses[i].writes || reads)
            all |= origins->accesses[i].origin;
    return (uint32_t)(all & SC_ORIGIN_PLACES);
}

static void summarize(struct sc_program_kernel *kernel)
{
    const struct sc_origins *o = &kernel->flow.origins;
    kernel->reach = (struct sc_reach){.writes_anywhere = o->writes_anywhere,
                                      .reaches_anywhere = o->reaches_anywhere,
                                      .place_count = o->place_count,
                                      .written = places_of(o, false),
                                      .reached = places_of(o, true)};
    memcpy(kernel->reach.place, o->places, sizeof o->places);
}

static struct sc_program_kernel *look_at(struct sc_program *program,
                                         const struct sc_func *func)
{
    struct sc_program_kernel *volatile made = NULL;
    if (setjmp(program->load.back) != 0)
        return NULL;
    made = sc_load_alloc(&program->load, 1, sizeof *made);
    made->func = func;
    sc_flow_build(&program->load, func, &made->flow);
    summarize(made);
    made->next = program->kernels;
    program->kernels = made;
    return made;
}

static const struct sc_func *find(const struct sc_program *program,
                                  const char *name)
{
    for (const struct sc_func *f = program->ir ? program->ir->funcs : NULL; f;
         f = f->next)
        if (f->is_entry && f->has_body && strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

const struct sc_program_kernel *sc_program_kernel(struct sc_program *program,
                                                  const char *name)
{
    if (program->packed.payload)
        read_text(program);
    for (struct sc_program_kernel *k = program->kernels; k; k = k->next)
        if (strcmp(k->func->name, name) == 0)
            return k;
    const struct sc_func *func = find(program, name);
    return func ? look_at(program, func) : NULL;
}

const struct sc_reach *sc_program_reach(const struct sc_program_kernel *kernel)
{
    return &kernel->reach;
}

size_t sc_program_parameter(const struct sc_program_kernel *kernel,
                            unsigned index, size_t *offset)
{
    const struct sc_var *var = kernel->func->params;
    while (var && index--)
        var = var->next;
    *offset = var ? var->address : 0;
    return var ? var->bytes : 0;
}

/* ---- launches ------------------------------------------------------------ */

static bool is_near(const struct sc_range *a, const struct sc_range *b)
{
    return (a->first < b->last || a->first - b->last <= NEAR_BYTES) &&
           (b->first < a->last || b->first - a->last <= NEAR_BYTES);
}

static bool is_alike(const struct sc_range *a, const struct sc_range *b)
{
    return a->places == b->places && a->known == b->known &&
           a->reads == b->reads && a->writes == b->writes;
}

static void widen(struct sc_range *to, const struct sc_range *by)
{
    to->places |= by->places;
    to->reads |= by->reads;
    to->writes |= by->writes;
    to->known &= by->known;
    to->first = by->first < to->first ? by->first : to->first;
    to->last = by->last > to->last ? by->last : to->last;
}

/* Into one that is there, or behind them. Return: false: too many. */
static bool add(struct sc_touched *touched, const struct sc_range *range)
{
    for (unsigned i = 0; i < touched->count; i++) {
        struct sc_range *there = &touched->range[i];
        if (!is_alike(there, range) || (range->known && !is_near(there, range)))
            continue;
        widen(there, range);
        return true;
    }
    if (touched->count == SC_RANGES_MOST)
        return false;
    touched->range[touched->count++] = *range;
    return true;
}

static bool collect(const struct sc_flow *flow,
                    const struct sc_interval *intervals,
                    struct sc_touched *touched)
{
    const struct sc_origins *o = &flow->origins;
    touched->count = 0;
    for (size_t i = 0; i < o->access_count; i++) {
        const struct sc_access *a = &o->accesses[i];
        struct sc_interval at = intervals[i];
        struct sc_range range = {.places =
                                     (uint32_t)(a->origin & SC_ORIGIN_PLACES),
                                 .reads = a->reads,
                                 .writes = a->writes};
        if (!range.places || sc_interval_is_none(at) ||
            (a->origin & SC_ORIGIN_UNKNOWN))
            continue;
        range.known = at.hi - at.lo < sc_interval_any(64).hi;
        range.first = range.known ? (uint64_t)at.lo : 0;
        range.last = range.known ? (uint64_t)at.hi : UINT64_MAX;
        if (!add(touched, &range))
            return false;
    }
    return true;
}

bool sc_program_touched(const struct sc_program_kernel *kernel,
                        const struct sc_geometry *geometry,
                        const uint8_t *params, size_t bytes,
                        struct sc_touched *touched)
{
    const struct sc_flow *flow = &kernel->flow;
    struct sc_interval intervals[ACCESSES_MOST];
    return !(kernel->reach.writes_anywhere && kernel->reach.reaches_anywhere) &&
           bytes >= kernel->func->param_bytes &&
           flow->variable_count <= VARIABLES_MOST &&
           flow->origins.access_count <= ACCESSES_MOST &&
           sc_solve(flow, geometry, params, bytes, intervals) &&
           collect(flow, intervals, touched);
}
