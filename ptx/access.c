/*
 * Programs looked into: text kept, read when needed; see ptx/access.h.
 *
 * Lock: none.
 */
#include "ptx/access.h"
#include "ptx/fatbin.h"
#include "ptx/parse.h"
#include "ptx/recall.h"

#include <stdlib.h>
#include <string.h>

/* What reading one program may take. */
#define MEMORY_MOST ((size_t)512 << 20)
/* Longer kernels are looked at without their launches' numbers. */
enum { VARIABLES_MOST = 4000, ACCESSES_MOST = 512, FAILURES_MOST = 8 };

struct sc_program_kernel {
    const struct sc_func *func;
    struct sc_flow flow;
    struct sc_reach reach;
    bool is_small; /* all below                                           */
    struct sc_solve solve;
    struct sc_recall recall;
    unsigned failures; /* launches of which nothing could be told         */
    struct sc_program_kernel *next;
};

struct sc_program {
    struct sc_load load;
    struct sc_packed packed; /* until it is unpacked */
    char *text;              /* NULL: not unpacked yet, or damaged */
    size_t bytes;            /* of the text */
    bool is_read;
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

/* Return: whether there is a text */
static bool unpack(struct sc_program *program)
{
    if (program->packed.payload)
        program->bytes = sc_unpack(&program->packed, &program->text);
    return program->text != NULL;
}

const char *sc_program_text(struct sc_program *program, size_t *bytes)
{
    bool there = unpack(program);
    *bytes = there ? program->bytes : 0;
    return program->text;
}

static void read_text(struct sc_program *program)
{
    program->is_read = true;
    if (unpack(program) && setjmp(program->load.back) == 0)
        program->ir =
            sc_ptx_parse(&program->load, program->text, program->bytes);
}

static enum sc_number number_of(const struct sc_var *var)
{
    if (var->reference || var->bytes != sc_type_bytes(var->type))
        return SC_NUMBER_ANY;
    switch (sc_type_class(var->type)) {
    case SC_CLASS_SIGNED:
    case SC_CLASS_UNSIGNED:
        return SC_NUMBER_INTEGER;
    case SC_CLASS_FLOAT:
        return SC_NUMBER_REAL;
    default:
        return SC_NUMBER_ANY;
    }
}

/* In memory of its own, which is given back. */
int sc_program_parameters(struct sc_program *program, const char *name,
                          struct sc_parameter *list, int most)
{
    struct sc_load load = {.tolerant = true};
    volatile int count = -1;
    if (!unpack(program))
        return -1;
    sc_arena_init(&load.arena, MEMORY_MOST);
    if (setjmp(load.back) == 0) {
        const struct sc_func *func =
            sc_ptx_entry(&load, program->text, program->bytes, name);
        int i = 0;
        for (const struct sc_var *v = func ? func->params : NULL; v;
             v = v->next, i++)
            if (i < most)
                list[i] = (struct sc_parameter){(uint16_t)v->address,
                                                (uint16_t)v->bytes,
                                                (uint8_t)number_of(v)};
        count = func ? i : -1;
    }
    sc_arena_fini(&load.arena);
    return count;
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
                                      .writes_own = o->writes_own,
                                      .reaches_own = o->reaches_own,
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
    made->is_small =
        !(made->reach.writes_anywhere && made->reach.reaches_anywhere) &&
        made->flow.variable_count <= VARIABLES_MOST &&
        made->flow.origins.access_count <= ACCESSES_MOST;
    if (made->is_small) {
        sc_solve_init(&program->load, &made->flow, &made->solve);
        sc_recall_init(&program->load, &made->flow, &made->recall);
    }
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

struct sc_program_kernel *sc_program_kernel(struct sc_program *program,
                                            const char *name)
{
    if (!program->is_read)
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

/* ---- launches ------------------------------------------------------------ */

/* Of a grid that has blocks: is none of them asked about? */
static bool is_of_none(const struct sc_geometry *geometry)
{
    bool none = false;
    for (unsigned d = 0; d < 3; d++)
        none |= geometry->grid[d] &&
                geometry->from[d] >= sc_geometry_end(geometry, d);
    return none;
}

static bool ask(struct sc_program_kernel *kernel,
                const struct sc_geometry *geometry, const uint8_t *params,
                size_t bytes, bool rows, struct sc_touched *touched)
{
    if (!kernel->is_small || bytes < kernel->func->param_bytes)
        return false;
    touched->count = 0;
    if (is_of_none(geometry))
        return true;
    if (sc_recall(&kernel->recall, geometry, params, rows, touched))
        return true;
    /* Those that loop in ways that are not understood do at each launch. */
    if (kernel->failures == FAILURES_MOST)
        return false;
    if (sc_solve(&kernel->solve, geometry, params, bytes) &&
        sc_recall_note(&kernel->recall, &kernel->solve, params, rows, touched))
        return true;
    kernel->failures++;
    return false;
}

bool sc_program_touched(struct sc_program_kernel *kernel,
                        const struct sc_geometry *geometry,
                        const uint8_t *params, size_t bytes,
                        struct sc_touched *touched)
{
    return ask(kernel, geometry, params, bytes, false, touched);
}

bool sc_program_rows(struct sc_program_kernel *kernel,
                     const struct sc_geometry *geometry, const uint8_t *params,
                     size_t bytes, struct sc_touched *touched)
{
    return ask(kernel, geometry, params, bytes, true, touched);
}
