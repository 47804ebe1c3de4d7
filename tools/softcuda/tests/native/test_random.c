/*
 * Random kernels: native code against the interpreter, bit for bit; a float
 * that is NaN on both sides counts as equal.
 *
 * RANDOM_KERNELS says how many, RANDOM_SEED where the seeds start; a wrong
 * kernel prints its own, so RANDOM_SEED=… RANDOM_KERNELS=1 runs it alone, and
 * RANDOM_KEEP=1 leaves its PTX in the working directory. ALU_ISA as in
 * isa_choice.h, NATIVE_CC and others as in native_batch.h.
 */
#include "isa_choice.h"

#include <inttypes.h>

#include "../opcodes/inputs.h"
#include "../opcodes/machine.h"
#include "exec/module.h"
#include "native_batch.h"
#include "random_kernel.h"

enum { KERNELS = 16, BATCH = 16, MOST_KNOWN = 4 };

/* Device memory: what a launch may change lies in one piece. */
struct memory {
    unsigned char *input, *changed, *expected;
    size_t result_bytes, changed_bytes;
};

struct one {
    struct random_kernel kernel;
    struct sc_module *module;
    struct sc_build_variant *variant;
    unsigned char *expected; /* what the interpreter left in memory */
    bool compiled, zeros;    /* ran with subnormal inputs taken for zeros */
};

static unsigned long number_of(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoul(text, NULL, 0) : otherwise;
}

static size_t changed_bytes(const struct random_kernel *kernel)
{
    return random_result_bytes(kernel) + (size_t)RANDOM_OWN * kernel->threads +
           8 * RANDOM_SUMS;
}

/* Return: false: it failed, which is said. */
static bool launch(const struct one *one, unsigned char *input,
                   unsigned char *changed, struct sc_launch_report *report)
{
    const struct random_kernel *k = &one->kernel;
    uint64_t results = random_result_bytes(k);
    uint64_t own = (uint64_t)RANDOM_OWN * k->threads;
    uint64_t arguments[] = {machine_address(input), machine_address(changed),
                            machine_address(changed) + results,
                            machine_address(changed) + results + own,
                            k->seed % 97};
    struct sc_launch launch = {
        .params = arguments, .param_bytes = sizeof arguments, .report = report};
    struct sc_exec_fault fault = {0};
    memcpy(launch.grid, k->grid, sizeof launch.grid);
    memcpy(launch.block, k->block, sizeof launch.block);
    memset(changed, 0, changed_bytes(k));
    enum sc_exec_status status =
        sc_kernel_launch(one->module, 0, &launch, &fault);
    if (status != SC_EXEC_OK)
        printf("seed %#" PRIx64 ", line %u: %s\n", k->seed, fault.line,
               fault.text);
    return status == SC_EXEC_OK;
}

static void keep(const struct random_kernel *kernel)
{
    char path[64];
    snprintf(path, sizeof path, "random-%" PRIx64 ".ptx", kernel->seed);
    FILE *f = fopen(path, "w");
    if (!f)
        return;
    fprintf(f, "// grid %u %u, block %u %u %u\n%s", kernel->grid[0],
            kernel->grid[1], kernel->block[0], kernel->block[1],
            kernel->block[2], kernel->ptx);
    fclose(f);
}

/* Load it, run it in the interpreter, generate its native text. */
static void prepare(struct one *one, const struct memory *m,
                    struct native_batch *batch, unsigned number,
                    enum sc_native_isa isa)
{
    char log[256] = "";
    const char *why;
    struct sc_native_code code;
    struct sc_launch_report report;
    if (number_of("RANDOM_KEEP", 0))
        keep(&one->kernel);
    enum sc_exec_status status =
        machine_load(&one->module, one->kernel.ptx, log, sizeof log);
    ck_assert_msg(status == SC_EXEC_OK, "seed %#" PRIx64 ": %s",
                  one->kernel.seed, log);
    struct sc_build_kernel *native = &one->module->kernels[0].native;
    one->variant = sc_build_find(native, one->kernel.block, &why);
    ck_assert_msg(one->variant != NULL, "%s", why);
    /* so that nothing is compiled in the background */
    atomic_store(&one->variant->state, SC_BUILD_READY);
    ck_assert(launch(one, m->input, m->changed, &report));
    ck_assert_uint_eq(report.native, 0);
    one->expected = malloc(changed_bytes(&one->kernel));
    memcpy(one->expected, m->changed, changed_bytes(&one->kernel));
    one->compiled = sc_native_generate(native->ir, native->func,
                                       one->kernel.block, isa, &code);
    if (!one->compiled) {
        printf("seed %#" PRIx64 " is refused: %s\n", one->kernel.seed,
               code.why);
        return;
    }
    native_batch_add(batch, number, code.text);
    one->variant->save = code.save;
    one->zeros = strstr(code.text, "= s_zeros()") != NULL;
    free(code.text);
}

static bool is_nan(char kind, uint64_t bits)
{
    return kind == 'f'   ? (bits & INT32_MAX) > 0x7f800000
           : kind == 'd' ? (bits & INT64_MAX) > 0x7ff0000000000000
                         : false;
}

/* Return: whether the native run left the same; else says what differs. */
static bool same(const struct one *one, const unsigned char *got)
{
    const struct random_kernel *k = &one->kernel;
    size_t results = random_result_bytes(k), all = changed_bytes(k);
    for (uint32_t t = 0; t < k->threads; t++) {
        for (size_t s = 0; s < random_slots(); s++) {
            char kind = random_slot_kind(s);
            uint64_t want = random_result(k, one->expected, s, t);
            uint64_t have = random_result(k, got, s, t);
            if (want == have || (is_nan(kind, want) && is_nan(kind, have)))
                continue;
            printf("seed %#" PRIx64 ": thread %u of %u, slot %zu (%c): native "
                   "%#" PRIx64 ", interpreter %#" PRIx64 "\n",
                   k->seed, t, k->threads, s, kind, have, want);
            return false;
        }
    }
    for (size_t i = results; i < all; i++) {
        if (got[i] == one->expected[i])
            continue;
        printf("seed %#" PRIx64 ": byte %zu of memory: native %#x, interpreter "
               "%#x\n",
               k->seed, i - results, got[i], one->expected[i]);
        return false;
    }
    return true;
}

/* What a launch runs: generated code on a stack that holds no zeros, so that
 * what it reads before it wrote shows. */
static sc_native_run *generated;

__attribute__((noinline)) static void soil_stack(void)
{
    unsigned char room[64 << 10];
    memset(room, 0x5a, sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory");
}

static void run_on_soil(struct sc_native_cta *cta, uint64_t first,
                        uint64_t count)
{
    soil_stack();
    generated(cta, first, count);
}

static bool compare(struct one *one, const struct memory *m,
                    const struct native_batch *batch, unsigned number)
{
    struct sc_launch_report report;
    generated = native_batch_run(batch, number);
    atomic_store(&one->variant->run, run_on_soil);
    if (!launch(one, m->input, m->changed, &report))
        return false;
    ck_assert_uint_eq(report.interpreted, 0);
    return same(one, m->changed);
}

struct tally {
    unsigned long wrong, refused, zeros;
};

static void run_batch(struct one *all, unsigned n, const struct memory *m,
                      enum sc_native_isa isa, struct tally *tally)
{
    struct native_batch batch;
    native_batch_begin(&batch);
    for (unsigned i = 0; i < n; i++)
        prepare(&all[i], m, &batch, i, isa);
    native_batch_finish(&batch);
    for (unsigned i = 0; i < n; i++) {
        tally->refused += !all[i].compiled;
        tally->zeros += all[i].zeros;
        if (all[i].compiled && !compare(&all[i], m, &batch, i))
            tally->wrong++;
        atomic_store(&all[i].variant->run, NULL);
        sc_module_unload(all[i].module);
        free(all[i].expected);
        free(all[i].kernel.ptx);
    }
    native_batch_end(&batch);
}

static struct memory allocate(void)
{
    struct random_kernel most = {.threads = RANDOM_THREADS};
    struct memory m = {.input = machine_alloc(RANDOM_INPUT),
                       .changed = machine_alloc(changed_bytes(&most))};
    random_input(20261, m.input);
    return m;
}

/* Kernels that came out wrong once, with any instruction set. */
static const uint64_t once_wrong[] = {0x186e2, 0xc3562};

static struct tally run_kernels(unsigned features, const uint64_t *first,
                                size_t first_count)
{
    unsigned long kernels = number_of("RANDOM_KERNELS", KERNELS);
    uint64_t seed = number_of("RANDOM_SEED", 20261);
    enum sc_native_isa isa = isa_under_test();
    struct tally tally = {0};
    machine_open();
    struct memory m = allocate();
    for (unsigned long done = 0; done < kernels;) {
        struct one all[BATCH + MOST_KNOWN] = {0};
        unsigned n = 0;
        size_t known = done || getenv("RANDOM_SEED") ? 0 : first_count;
        for (size_t i = 0; i < known; i++)
            random_kernel_make(&all[n++].kernel, first[i], features);
        for (unsigned i = 0; i < BATCH && done < kernels; i++, done++)
            random_kernel_make(&all[n++].kernel, seed + done, features);
        run_batch(all, n, &m, isa, &tally);
        fflush(stdout);
    }
    printf("%lu kernels from seed %#" PRIx64 ": %lu wrong, %lu refused, %lu "
           "with zeros for subnormals\n",
           kernels, seed, tally.wrong, tally.refused, tally.zeros);
    fflush(stdout);
    machine_close();
    ck_assert_uint_eq(tally.wrong + tally.refused, 0);
    return tally;
}

START_TEST(native_code_leaves_what_the_interpreter_leaves)
{
    unsigned features = (unsigned)number_of("RANDOM_FEATURES", RANDOM_ALL);
    run_kernels(features, once_wrong, sizeof once_wrong / sizeof *once_wrong);
}
END_TEST

START_TEST(kernels_that_flush_all_floats_do_as_well_and_use_no_masks)
{
    struct tally tally = run_kernels(RANDOM_ALL | RANDOM_FLUSH, NULL, 0);
#ifdef __x86_64__
    ck_assert_uint_gt(tally.zeros, 0);
#else
    (void)tally; /* no such mode is used there */
#endif
}
END_TEST

int main(void)
{
    const TTest *const cases[] = {
        native_code_leaves_what_the_interpreter_leaves,
        kernels_that_flush_all_floats_do_as_well_and_use_no_masks};
    isa_under_test();
    return suite_run("softcuda native random kernels", cases, 2,
                     (double)number_of("RANDOM_TIMEOUT", 120));
}
