/*
 * The bytes that each instruction of a launch accessed; see exec/touched.h.
 *
 * Lock: none of its own.
 */
#include "exec/touched.h"
#include "exec/address.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* First and last byte of an instruction's accesses; first > last: none. */
struct used {
    _Atomic uint64_t first, last;
    struct sc_strided rows;  /* that they were proved to lie in */
    _Atomic bool is_outside; /* ... and one does not */
};

static struct used *used; /* of the launch under way, by instruction */

bool sc_touched_is_on(void)
{
    const char *file = getenv("SOFTCUDA_TOUCHED");
    return file && *file;
}

struct sc_solve *sc_touched_prepare(struct sc_load *load,
                                    const struct sc_func *kernel)
{
    if (!sc_touched_is_on())
        return NULL;
    struct sc_flow *flow = sc_load_alloc(load, 1, sizeof *flow);
    struct sc_solve *solve = sc_load_alloc(load, 1, sizeof *solve);
    sc_flow_build(load, kernel, flow);
    sc_solve_init(load, flow, solve);
    return solve;
}

/* ---- ops ----------------------------------------------------------------- */

static void note(struct used *u, uint64_t first, uint64_t last)
{
    uint64_t seen = atomic_load_explicit(&u->first, memory_order_relaxed);
    while (first < seen &&
           !atomic_compare_exchange_weak(&u->first, &seen, first))
        ;
    seen = atomic_load_explicit(&u->last, memory_order_relaxed);
    while (last > seen && !atomic_compare_exchange_weak(&u->last, &seen, last))
        ;
    for (uint64_t at = first; u->rows.known && at <= last; at++)
        if (!sc_strided_has(&u->rows, at))
            atomic_store_explicit(&u->is_outside, true, memory_order_relaxed);
}

static const struct sc_op *op_touch(const struct sc_op *op,
                                    struct sc_strip *strip)
{
    const struct sc_cta *cta = strip->cta;
    for (uint32_t t = 0; used && t < strip->lanes; t++) {
        if (!strip->mask[t])
            continue;
        uint64_t at = sc_address_at(op, strip, t, op->e);
        if (at - cta->window_base < cta->window_bytes)
            note(&used[op->d], at, at + op->b - 1);
    }
    return op + 1;
}

void sc_touched_lower(struct sc_lower *lower, const struct sc_lower_place *at,
                      uint32_t bytes)
{
    if (!sc_touched_is_on() || lower->func != lower->kernel ||
        sc_inst_has(lower->inst, SC_MOD_const) ||
        (at->mode != SC_ADDR_GLOBAL && at->mode != SC_ADDR_GENERIC))
        return;
    struct sc_op *op = sc_lower_emit(lower, op_touch);
    op->a = at->slot;
    op->b = bytes;
    op->d = (uint32_t)(lower->inst - lower->func->insts);
    op->e = at->bytes;
    op->imm = (int64_t)at->offset;
}

/* ---- launches ------------------------------------------------------------ */

static void begin(struct sc_solve *solve)
{
    const struct sc_flow *flow = solve->flow;
    for (size_t i = 0; i < flow->func->inst_count; i++) {
        used[i].rows = SC_STRIDED_ANY;
        atomic_init(&used[i].first, UINT64_MAX);
        atomic_init(&used[i].last, 0);
        atomic_init(&used[i].is_outside, false);
    }
    for (size_t i = 0; solve->is_valid && i < flow->origins.access_count; i++)
        used[flow->origins.accesses[i].inst].rows = sc_solve_strided(solve, i);
}

void sc_touched_begin(struct sc_solve *solve, const struct sc_launch *launch)
{
    struct sc_geometry geometry = {0};
    if (!solve)
        return;
    memcpy(geometry.grid, launch->grid, sizeof geometry.grid);
    memcpy(geometry.block, launch->block, sizeof geometry.block);
    solve->is_valid =
        solve->flow->place_of &&
        sc_solve(solve, &geometry, launch->params, launch->param_bytes);
    used = malloc((solve->flow->func->inst_count + 1) * sizeof *used);
    if (used)
        begin(solve);
}

static bool is_used(const struct used *u)
{
    return u->first <= u->last;
}

/* What was proved of an instruction: NULL: it is no access. */
static const struct sc_access *access_of(const struct sc_flow *flow,
                                         uint32_t inst, size_t *index)
{
    for (*index = 0; *index < flow->origins.access_count; ++*index)
        if (flow->origins.accesses[*index].inst == inst)
            return &flow->origins.accesses[*index];
    return NULL;
}

/* Rows, where there is something between: " by STEPSxDISTANCE..." */
static void print_rows(FILE *file, const struct sc_strided *rows)
{
    for (unsigned i = 0; rows->known && i < rows->count; i++)
        if (i > 0 || rows->term[i].step > 1)
            fprintf(file, "%s%llux%llx", i ? "," : " by ",
                    (unsigned long long)rows->term[i].count,
                    (unsigned long long)rows->term[i].step);
}

/* "known FIRST..LAST" and the rows, "places", "module", "anywhere", or that it is wrong. */
static void print_proof(FILE *file, const struct sc_flow *flow,
                        const struct sc_access *a,
                        const struct sc_interval *proved, const struct used *u)
{
    struct sc_interval any = sc_interval_any(64);
    bool wrong = false;
    if (flow->origins.writes_anywhere ||
        (a && (a->origin & SC_ORIGIN_UNKNOWN))) {
        fprintf(file, "anywhere\n");
        return;
    }
    if (!a || (proved && sc_interval_is_none(*proved))) {
        fprintf(file, "nowhere%s\n", is_used(u) ? " WRONG" : "");
        return;
    }
    if (!(a->origin & SC_ORIGIN_PLACES)) {
        fprintf(file, "module\n");
        return;
    }
    if (!proved || proved->hi - proved->lo >= any.hi) {
        fprintf(file, "places\n");
        return;
    }
    if (is_used(u))
        wrong = u->is_outside || u->first < (uint64_t)proved->lo ||
                u->last > (uint64_t)proved->hi;
    fprintf(file, "known %llx..%llx", (unsigned long long)proved->lo,
            (unsigned long long)proved->hi);
    print_rows(file, &u->rows);
    fprintf(file, "%s\n", wrong ? " WRONG" : "");
}

static void print_launch(FILE *file, const struct sc_solve *solve,
                         const struct sc_launch *launch)
{
    const struct sc_flow *flow = solve->flow;
    const struct sc_inst *why = flow->origins.anywhere_for;
    fprintf(file, "launch %s grid %u %u %u block %u %u %u", flow->func->name,
            launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
            launch->block[1], launch->block[2]);
    if (why)
        fprintf(file, " anywhere for line %u %.*s", why->line,
                (int)why->text_length, why->text);
    fputc('\n', file);
    for (uint32_t i = 0; i < flow->func->inst_count; i++) {
        size_t index;
        struct sc_interval proved;
        const struct sc_access *a = access_of(flow, i, &index);
        const struct used *u = &used[i];
        if (!a && !is_used(u))
            continue;
        fprintf(file, "  line %u %s%s ", flow->func->insts[i].line,
                a && a->reads ? "r" : "", a && a->writes ? "w" : "");
        if (is_used(u))
            fprintf(file, "used %llx..%llx ", (unsigned long long)u->first,
                    (unsigned long long)u->last);
        else
            fprintf(file, "unused ");
        bool known = a && solve->is_valid;
        if (known)
            proved = sc_solve_range(solve, index);
        print_proof(file, flow, a, known ? &proved : NULL, u);
    }
}

/* A line that is too long for one write would mix with other processes'. */
static void append(const char *text, size_t bytes)
{
    FILE *file = fopen(getenv("SOFTCUDA_TOUCHED"), "ae");
    if (!file) {
        perror("softcuda: SOFTCUDA_TOUCHED");
        return;
    }
    setvbuf(file, NULL, _IOFBF, bytes + 1);
    fwrite(text, 1, bytes, file);
    fclose(file);
}

void sc_touched_end(const struct sc_solve *solve,
                    const struct sc_launch *launch)
{
    size_t bytes;
    char *text = NULL;
    FILE *file = used ? open_memstream(&text, &bytes) : NULL;
    if (file) {
        print_launch(file, solve, launch);
        fclose(file);
        append(text, bytes);
    }
    free(text);
    free(used);
    used = NULL;
}
