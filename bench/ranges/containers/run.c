/* Programs on containers. See run.h. */
#include "run.h"
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 128 };

static const char ptx[] =
#include "mix_ptx.inc"
    ;

struct run {
    const struct program *program;
    int devices;
    struct container *array[PROGRAM_ARRAYS];
    unsigned *want[PROGRAM_ARRAYS]; /* NULL: not compared */
};

static uint64_t ns;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static CUfunction kernel_of(int device)
{
    static CUfunction kernel[CONTAINERS_DEVICES];
    containers_use(device);
    if (!kernel[device]) {
        CUmodule module;
        CHECK(cuModuleLoadData(&module, ptx));
        CHECK(cuModuleGetFunction(&kernel[device], module, "mix"));
    }
    return kernel[device];
}

/* One operand of a part. */
struct operand {
    struct container *c;
    struct container_box box;
    enum container_mode mode;
};

/* What a part uses, in the order in which it is fetched. */
static int operands_of(const struct run *run, const struct step *s, int part,
                       struct operand operand[3])
{
    const struct program *p = run->program;
    long first = program_first(p, part, run->devices);
    long end = program_first(p, part + 1, run->devices);
    const int array[3] = {s->a, s->b, s->out};
    const bool whole[3] = {s->a_whole, s->b_whole, false};
    for (int i = 0; i < 3; i++) {
        operand[i].c = array[i] == NONE ? NULL : run->array[array[i]];
        operand[i].mode = i < 2       ? MODE_READ
                          : s->update ? MODE_BOTH
                                      : MODE_WRITE;
        operand[i].box = (struct container_box){first, 0, end - first, 0};
        if (operand[i].c)
            operand[i].box.columns = operand[i].c->columns;
        if (operand[i].c && whole[i])
            operand[i].box = container_all(operand[i].c);
    }
    return 3;
}

/* Pointers are shifted, so that elements have the whole array's numbers. */
static CUdeviceptr shifted(const struct operand *o, int device)
{
    if (!o->c)
        return 0;
    CUdeviceptr at = container_on_device(o->c, device, o->box, o->mode);
    return at - (CUdeviceptr)(o->box.row * o->c->columns) * o->c->elem;
}

static void launch(const struct run *run, int step, int device,
                   CUdeviceptr pointer[3])
{
    long first = program_first(run->program, device, run->devices);
    long end = program_first(run->program, device + 1, run->devices);
    struct mix m = program_mix(run->program, step);
    void *args[] = {&first, &end, &pointer[0], &pointer[1], &pointer[2], &m};
    CUfunction kernel = kernel_of(device);
    if (end > first)
        CHECK(cuLaunchKernel(kernel,
                             (unsigned)((end - first + BLOCK - 1) / BLOCK), 1,
                             1, BLOCK, 1, 1, 0, NULL, args, NULL));
}

static void call(struct run *run, int step)
{
    const struct step *s = run->program->step + step;
    struct operand operand[CONTAINERS_DEVICES][3];
    containers_call();
    for (int device = 0; device < run->devices; device++) {
        CUdeviceptr pointer[3];
        int n = operands_of(run, s, device, operand[device]);
        for (int i = 0; i < n; i++)
            pointer[i] = shifted(&operand[device][i], device);
        launch(run, step, device, pointer);
    }
    for (int device = 0; device < run->devices; device++)
        for (int i = 0; i < 3; i++)
            if (operand[device][i].c)
                container_used(operand[device][i].c, device,
                               operand[device][i].box, operand[device][i].mode);
    if (containers.rules == RULES_INITIAL && run->devices > 1)
        for (int i = 0; i < run->program->arrays; i++)
            container_flush(run->array[i]);
}

static void compare(const struct run *run, int array, const unsigned *got,
                    struct container_box box)
{
    const unsigned *want = run->want[array];
    size_t first = (size_t)(box.row * box.columns);
    size_t bytes = (size_t)(box.rows * box.columns) * sizeof *got;
    if (!want || memcmp(got + first, want + first, bytes) == 0)
        return;
    fprintf(stderr, "%s: array %d is not the CPU's\n", run->program->name,
            array);
    exit(1);
}

static void cpu(struct run *run, int step)
{
    const struct step *s = run->program->step + step;
    enum container_mode mode = s->what == LOOK ? MODE_READ
                               : s->update     ? MODE_BOTH
                                               : MODE_WRITE;
    struct container *c = run->array[s->out];
    struct container_box box = container_all(c);
    box.row = program_span(run->program, step, &box.rows);
    unsigned *words = container_on_cpu(c, box, mode);
    if (s->what == FILL)
        program_fill(run->program, step, words);
    else
        compare(run, s->out, words, box);
}

static void create(struct run *run, bool pinned, bool check)
{
    const struct program *p = run->program;
    for (int i = 0; i < p->arrays; i++) {
        run->array[i] =
            container_create(sizeof(unsigned), p->n, (long)p->words[i], pinned);
        if (!check)
            continue;
        run->want[i] = calloc(1, program_bytes(p, i));
        if (!run->want[i])
            exit(1);
    }
}

void run_program(const struct program *program, int devices, bool pinned,
                 bool check)
{
    struct run run = {.program = program, .devices = devices};
    create(&run, pinned, check);
    for (int i = 0; i < devices; i++)
        kernel_of(i);
    uint64_t begin = now();
    for (int i = 0; i < program->count; i++) {
        if (check)
            program_step(program, i, run.want);
        if (program->step[i].what == CALL)
            call(&run, i);
        else
            cpu(&run, i);
    }
    containers_wait();
    ns = now() - begin;
    for (int i = 0; i < program->arrays; i++) {
        container_destroy(run.array[i]);
        free(run.want[i]);
    }
}

uint64_t run_ns(void)
{
    return ns;
}
