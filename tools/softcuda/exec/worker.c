/*
 * One thread that runs CTAs; see exec/worker.h.
 *
 * Lock: none.
 */
#include "exec/worker.h"

#include "base/futex.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What generated code may read past the parameters. */
#define PARAMS_READABLE 64
/* Turns of the interpreter that finding a line is worth. */
#define MOST_TURNS 16

bool sc_worker_init(struct sc_worker *worker, uint32_t number, uint32_t count)
{
    memset(worker, 0, sizeof *worker);
    worker->cta.worker_number = number;
    worker->cta.worker_count = count;
    worker->strips = aligned_alloc(64, sizeof *worker->strips * SC_MAX_STRIPS);
    if (!worker->strips)
        return false;
    memset(worker->strips, 0, sizeof *worker->strips * SC_MAX_STRIPS);
    return true;
}

void sc_worker_fini(struct sc_worker *worker)
{
    free(worker->strips);
    free(worker->files);
    free(worker->shared);
    free(worker->local);
    free(worker->params);
    free(worker->save);
    memset(worker, 0, sizeof *worker);
}

/* Room for `bytes`, zeroed when new. */
static bool reserve(char **memory, size_t *have, size_t bytes)
{
    if (*have >= bytes)
        return true;
    size_t rounded = (bytes + 4095) & ~(size_t)4095;
    free(*memory);
    *memory = aligned_alloc(64, rounded);
    *have = *memory ? rounded : 0;
    if (*memory)
        memset(*memory, 0, rounded);
    return *memory != NULL;
}

static uint64_t special_value(const struct sc_cta *cta, enum sc_special special,
                              uint32_t lane)
{
    const struct sc_launch *launch = cta->launch;
    const uint32_t *block = launch->block;
    uint32_t in_warp = lane % 32;
    switch (special) {
    case SC_SREG_tid_x:
        return lane % block[0];
    case SC_SREG_tid_y:
        return lane / block[0] % block[1];
    case SC_SREG_tid_z:
        return lane / block[0] / block[1];
    case SC_SREG_ntid_x:
    case SC_SREG_ntid_y:
    case SC_SREG_ntid_z:
        return block[special - SC_SREG_ntid_x];
    case SC_SREG_nctaid_x:
    case SC_SREG_nctaid_y:
    case SC_SREG_nctaid_z:
        return launch->grid[special - SC_SREG_nctaid_x];
    case SC_SREG_ctaid_x:
    case SC_SREG_ctaid_y:
    case SC_SREG_ctaid_z:
        return cta->id[special - SC_SREG_ctaid_x];
    case SC_SREG_laneid:
        return in_warp;
    case SC_SREG_warpid:
        return lane / 32;
    case SC_SREG_nwarpid:
        return (cta->threads + 31) / 32;
    case SC_SREG_smid:
        return cta->worker_number;
    case SC_SREG_nsmid:
        return cta->worker_count;
    case SC_SREG_lanemask_eq:
        return 1u << in_warp;
    case SC_SREG_lanemask_lt:
        return (1u << in_warp) - 1;
    case SC_SREG_lanemask_le:
        return (2u << in_warp) - 1;
    case SC_SREG_lanemask_gt:
        return ~((2u << in_warp) - 1);
    case SC_SREG_lanemask_ge:
        return ~((1u << in_warp) - 1);
    case SC_SREG_envreg1: /* where cooperative groups keep a grid's barrier */
        return launch->cooperative ? cta->code->workspace >> 32 : 0;
    case SC_SREG_envreg2:
        return launch->cooperative ? (uint32_t)cta->code->workspace : 0;
    case SC_SREG_total_smem_size:
        return cta->shared_bytes;
    case SC_SREG_dynamic_smem_size:
        return launch->dynamic_shared_bytes;
    default:
        return 0;
    }
}

static uint64_t fill_value(const struct sc_cta *cta, const struct sc_fill *fill,
                           uint32_t lane)
{
    uint64_t value = fill->value;
    if (fill->kind == SC_FILL_SPECIAL)
        return special_value(cta, (enum sc_special)value, lane);
    if (fill->kind == SC_FILL_PARAM) {
        unsigned bits = 8u * fill->load_bytes;
        value = 0;
        memcpy(&value, cta->params + fill->value, fill->load_bytes);
        if (fill->is_signed && bits < 64)
            value = (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
    }
    return value;
}

static void store_lane(char *slot, uint32_t bytes, uint32_t lane,
                       uint64_t value)
{
    memcpy(slot + (size_t)lane * bytes, &value, bytes);
}

/* Fills that say a CTA's place in the grid change with every CTA. */
static bool is_per_cta(const struct sc_fill *fill)
{
    return fill->kind == SC_FILL_SPECIAL && fill->value >= SC_SREG_ctaid_x &&
           fill->value <= SC_SREG_ctaid_z;
}

static void run_fill(const struct sc_cta *cta, const struct sc_strip *strip,
                     const struct sc_fill *fill)
{
    char *slot = strip->file + fill->slot;
    bool varies = fill->kind == SC_FILL_SPECIAL && !is_per_cta(fill);
    uint64_t value = fill_value(cta, fill, strip->first);
    if (fill->bytes == 4 && !varies) {
        uint32_t *lanes = (uint32_t *)(void *)slot;
        const uint32_t n = strip->padded;
        for (uint32_t t = 0; t < n; t++)
            lanes[t] = (uint32_t)value;
        return;
    }
    for (uint32_t t = 0; t < strip->padded; t++)
        store_lane(slot, fill->bytes, t,
                   varies ? fill_value(cta, fill, strip->first + t) : value);
}

static void prepare_strip(struct sc_worker *worker, uint32_t index)
{
    struct sc_cta *cta = &worker->cta;
    struct sc_strip *strip = &worker->strips[index];
    strip->cta = cta;
    strip->code = cta->code->ops;
    strip->first = index * SC_LANES;
    uint32_t left = cta->threads - strip->first;
    strip->lanes = left < SC_LANES ? left : SC_LANES;
    strip->padded = (strip->lanes + 31) & ~31u;
    strip->file = worker->files + (size_t)index * cta->code->file_bytes;
    for (uint32_t w = 0; w < SC_WORDS; w++) {
        uint32_t from = w * 32;
        strip->all[w] = strip->lanes >= from + 32 ? ~0u
                        : strip->lanes > from
                            ? (1u << (strip->lanes - from)) - 1
                            : 0;
    }
    memset(strip->bits, 0, sizeof strip->bits);
    for (uint32_t i = 0; i < cta->code->fill_count; i++)
        if (!is_per_cta(&cta->code->fills[i]))
            run_fill(cta, strip, &cta->code->fills[i]);
}

bool sc_worker_prepare(struct sc_worker *worker, const struct sc_module *module,
                       const struct sc_kernel *kernel,
                       const struct sc_launch *launch)
{
    struct sc_cta *cta = &worker->cta;
    const struct sc_code *code = &kernel->code;
    cta->code = code;
    cta->launch = launch;
    cta->window_base = module->space.window_base;
    cta->window_bytes = module->space.window_bytes;
    cta->shared_base = module->space.shared_base;
    cta->local_base = module->space.local_base;
    cta->threads = launch->block[0] * launch->block[1] * launch->block[2];
    cta->strip_count = (cta->threads + SC_LANES - 1) / SC_LANES;
    cta->strips = worker->strips;
    cta->shared_bytes = code->shared_bytes + launch->dynamic_shared_bytes;
    cta->local_bytes = sc_code_local(code);
    cta->param_bytes = code->param_bytes;
    cta->status = SC_EXEC_OK;
    worker->can_interpret = false;
    if (!reserve(&worker->shared, &worker->shared_bytes, cta->shared_bytes) ||
        !reserve(&worker->local, &worker->local_bytes,
                 (size_t)cta->local_bytes * cta->threads) ||
        !reserve(&worker->params, &worker->params_bytes,
                 (size_t)cta->param_bytes + PARAMS_READABLE))
        return false;
    if (cta->param_bytes)
        memcpy(worker->params, launch->params, cta->param_bytes);
    cta->shared = worker->shared;
    cta->local = worker->local;
    cta->params = worker->params;
    return true;
}

/* Registers and what does not change from CTA to CTA, once in a launch. */
static bool prepare_strips(struct sc_worker *worker)
{
    struct sc_cta *cta = &worker->cta;
    if (!reserve(&worker->files, &worker->files_bytes,
                 (size_t)cta->code->file_bytes * cta->strip_count))
        return false;
    for (uint32_t i = 0; i < cta->strip_count; i++)
        prepare_strip(worker, i);
    worker->can_interpret = true;
    return true;
}

static void begin_cta(struct sc_cta *cta)
{
    cta->status = SC_EXEC_OK;
    cta->alive = cta->threads;
    memset(cta->barriers, 0, sizeof cta->barriers);
    for (uint32_t i = 0; i < cta->strip_count; i++) {
        struct sc_strip *strip = &cta->strips[i];
        memcpy(strip->alive, strip->all, sizeof strip->all);
        strip->rotate = false;
        strip->turn = 0;
        strip->group_count = 1;
        strip->groups[0] = (struct sc_group){.state = SC_GROUP_READY};
        memcpy(strip->groups[0].bits, strip->all, sizeof strip->all);
        for (uint32_t k = 0; k < cta->code->fill_count; k++)
            if (is_per_cta(&cta->code->fills[k]))
                run_fill(cta, strip, &cta->code->fills[k]);
    }
}

bool sc_worker_begin(struct sc_worker *worker, const uint32_t id[3])
{
    if (!worker->can_interpret && !prepare_strips(worker))
        return false;
    memcpy(worker->cta.id, id, sizeof worker->cta.id);
    begin_cta(&worker->cta);
    return true;
}

bool sc_worker_turn(struct sc_worker *worker)
{
    struct sc_cta *cta = &worker->cta;
    volatile bool more = false;
    if (sigsetjmp(worker->back, 0) == 0) {
        sc_fault_set(worker);
        more = sc_machine_turn(cta);
    } else {
        sc_machine_fault(&cta->strips[0], cta->access, SC_EXEC_ILLEGAL_ADDRESS,
                         cta->fault.address);
    }
    sc_fault_set(NULL);
    return more;
}

static void pause_in(struct sc_worker *worker)
{
    if (worker->pause)
        worker->pause(worker, worker->pause_of);
}

void sc_worker_run(struct sc_worker *worker, const uint32_t id[3])
{
    struct sc_cta *cta = &worker->cta;
    if (!sc_worker_begin(worker, id)) {
        cta->status = SC_EXEC_NO_MEMORY;
        cta->fault = (struct sc_exec_fault){.kernel = cta->code->name};
        snprintf(cta->fault.text, sizeof cta->fault.text,
                 "no host memory to run kernel '%.60s'", cta->code->name);
        return;
    }
    while (sc_worker_turn(worker))
        pause_in(worker);
}

/* Why generated code was left; the line is known where it says so. */
static void note_fault(struct sc_cta *cta, enum sc_exec_status status,
                       uint32_t line, uint64_t address)
{
    char where[32] = "";
    cta->status = status;
    cta->fault = (struct sc_exec_fault){
        .address = address, .line = line, .kernel = cta->code->name};
    if (line)
        snprintf(where, sizeof where, ", line %u", line);
    snprintf(cta->fault.text, sizeof cta->fault.text,
             "%s in kernel '%.60s'%s, address 0x%llx",
             sc_exec_status_text(status), cta->code->name, where,
             (unsigned long long)address);
    if (status == SC_EXEC_TIMEOUT)
        snprintf(cta->fault.text, sizeof cta->fault.text,
                 "kernel '%.60s' was cancelled", cta->code->name);
}

static __attribute__((noreturn)) void fail(struct sc_native_cta *native,
                                           uint32_t status, uint32_t line,
                                           uint64_t address)
{
    struct sc_worker *worker = native->worker;
    worker->in_native = false;
    note_fault(&worker->cta, (enum sc_exec_status)status, line, address);
    siglongjmp(worker->back, 1);
}

static uint64_t clock_ns(void)
{
    return sc_now_ns();
}

static void pause_native(struct sc_native_cta *native)
{
    pause_in(native->worker);
}

static const struct sc_native_services services = {
    .fail = fail, .clock_ns = clock_ns, .pause = pause_native};

static void fill_native(struct sc_worker *worker)
{
    const struct sc_cta *cta = &worker->cta;
    const struct sc_launch *launch = cta->launch;
    struct sc_native_cta *native = &worker->native;
    *native = (struct sc_native_cta){
        .params = (const unsigned char *)worker->params,
        .shared = (unsigned char *)worker->shared,
        .local = (unsigned char *)worker->local,
        .save = (unsigned char *)worker->save,
        .shared_bytes = cta->shared_bytes,
        .local_bytes = cta->local_bytes,
        .dynamic_shared_bytes = launch->dynamic_shared_bytes,
        .worker_number = cta->worker_number,
        .worker_count = cta->worker_count,
        .window_base = cta->window_base,
        .window_bytes = cta->window_bytes,
        .shared_base = cta->shared_base,
        .local_base = cta->local_base,
        .cancel = launch->cancel,
        .services = &services,
        .worker = worker};
    memcpy(native->grid, launch->grid, sizeof native->grid);
    memcpy(native->block, launch->block, sizeof native->block);
}

/* Native code does not know its lines: where a hole was hit, the interpreter
 * runs the CTAs again until it hits it as well. Memory is lost anyway. */
static void find_line(struct sc_worker *worker, uint64_t first, uint64_t count)
{
    struct sc_cta *cta = &worker->cta;
    const uint32_t *grid = cta->launch->grid;
    uint64_t address = cta->fault.address;
    int turns = MOST_TURNS;
    for (uint64_t n = first; n < first + count && turns > 0; n++) {
        uint32_t id[3] = {(uint32_t)(n % grid[0]),
                          (uint32_t)(n / grid[0] % grid[1]),
                          (uint32_t)(n / grid[0] / grid[1])};
        if (!sc_worker_begin(worker, id))
            break;
        while (sc_worker_turn(worker) && --turns > 0)
            continue;
        if (cta->status == SC_EXEC_ILLEGAL_ADDRESS &&
            cta->fault.address == address)
            return;
        if (cta->status != SC_EXEC_OK)
            break;
    }
    note_fault(cta, SC_EXEC_ILLEGAL_ADDRESS, 0, address);
}

void sc_worker_run_native(struct sc_worker *worker,
                          const struct sc_build_variant *variant,
                          sc_native_run *run, uint64_t first, uint64_t count)
{
    struct sc_cta *cta = &worker->cta;
    volatile bool hole = false;
    cta->status = SC_EXEC_OK;
    if (!reserve(&worker->save, &worker->save_bytes, variant->save)) {
        note_fault(cta, SC_EXEC_NO_MEMORY, 0, 0);
        return;
    }
    fill_native(worker);
    if (sigsetjmp(worker->back, 0) == 0) {
        sc_fault_set(worker);
        worker->in_native = true;
        run(&worker->native, first, count);
        worker->in_native = false;
    } else {
        hole = worker->in_native; /* the fault handler left it, not fail() */
        worker->in_native = false;
        fesetenv(FE_DFL_ENV); /* it may have been left in the middle */
    }
    sc_fault_set(NULL);
    if (hole)
        find_line(worker, first, count);
}
