/*
 * Every MPI call of interpose/mpi/calls.def that there is, on shared memory.
 *
 *   mpirun -n 3 contract [list [case]]
 *
 * Each case runs on plain memory, then on shared memory that the device, the
 * CPU or both have written last. Afterwards the CPU looks at every byte, or a
 * kernel works on all of them first. Prints the line that suites of Check end
 * with.
 */
#include "contract.h"
#include "device.h"

#include <string.h>

/* Who has written the memory last, and where it is current. */
enum state { BY_DEVICE, READ_SINCE, BY_CPU, BY_BOTH, STATES };

static const char *const state_names[] = {"device", "read", "cpu", "both"};

static int checks, failures;

static void touch(const uint8_t *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 1024)
        (void)((const volatile uint8_t *)at)[i];
}

static void write_plain(uint8_t *at, uint32_t seed)
{
    for (uint32_t i = 0; i < FIELD; i++)
        ((volatile uint8_t *)at)[i] = (uint8_t)(i * 7 + seed);
}

static void prepare(uint8_t *at, enum state state, uint32_t seed)
{
    if (state == BY_CPU) {
        write_plain(at, seed);
        return;
    }
    device_fill(at, FIELD, seed);
    if (state == READ_SINCE)
        touch(at, FIELD);
    for (uint32_t i = 4096; state == BY_BOTH && i < FIELD; i += 8192)
        ((volatile uint8_t *)at)[i] = (uint8_t)(i * 7 + seed);
}

static void launch_plain(const struct run *r)
{
    host_mix(r->aux, r->in, PART, 3);
}

static void launch_shared(const struct run *r)
{
    device_mix(r->aux, r->in, PART, 3);
}

static void lay_out(struct run *r, uint8_t *field, uint8_t *far)
{
    r->in = field;
    r->out = field + PART;
    r->aux = field + 2 * PART;
    r->far = far;
}

static bool same(const char *name, enum state state, const char *which,
                 const uint8_t *want, const uint8_t *got, int rank)
{
    for (uint32_t i = 0; i < FIELD; i++)
        if (want[i] != ((const volatile uint8_t *)got)[i]) {
            fprintf(stderr,
                    "rank %d: %s, last written by %s: byte %u of part %u of "
                    "the %s field is %u instead of %u\n",
                    rank, name, state_names[state], i % PART, i / PART, which,
                    got[i], want[i]);
            return false;
        }
    return true;
}

static void check(const struct contract_case *c, struct run *r,
                  uint8_t *memory[4], enum state state, bool by_kernel)
{
    uint32_t seed = (uint32_t)(r->rank * 50 + checks);
    checks++;
    write_plain(memory[0], seed);
    write_plain(memory[1], seed + 1);
    lay_out(r, memory[0], memory[1]);
    r->shared = false;
    r->launch = launch_plain;
    c->run(r);
    MPI_Barrier(WORLD);
    prepare(memory[2], state, seed);
    prepare(memory[3], state, seed + 1);
    lay_out(r, memory[2], memory[3]);
    r->shared = true;
    r->launch = launch_shared;
    c->run(r);
    for (int i = 0; by_kernel && i < 2; i++) {
        host_mix(memory[i], memory[i], FIELD, 9);
        device_mix(memory[2 + i], memory[2 + i], FIELD, 9);
    }
    if (!same(c->name, state, "near", memory[0], memory[2], r->rank) ||
        !same(c->name, state, "far", memory[1], memory[3], r->rank))
        failures++;
    MPI_Barrier(WORLD);
}

/* Every other time a kernel looks first, and with the next case the others. */
static void check_list(const struct contract_case *list, struct run *r,
                       uint8_t *memory[4], const char *only)
{
    for (int i = 0; list[i].name; i++)
        for (int state = 0; state < STATES; state++)
            if (!only || strcmp(only, list[i].name) == 0)
                check(&list[i], r, memory, (enum state)state,
                      (i + state) % 2 != 0);
}

static bool is_preloaded(void)
{
    const char *list = getenv("LD_PRELOAD");
    return list && strstr(list, "libadsm-mpi.so");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        const struct contract_case *list;
    } lists[] = {{"point", cases_point},
                 {"wait", cases_wait},
                 {"collective", cases_collective},
                 {"window", cases_window},
                 {"file", cases_file},
                 {"four", cases_four}};
    struct run r;
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &r.rank);
    MPI_Comm_size(WORLD, &r.size);
    device_start();
    uint8_t *memory[4] = {malloc(FIELD), malloc(FIELD), device_alloc(FIELD),
                          device_alloc(FIELD)};
#ifndef WITH_ADSM
    MUST(is_preloaded() ? 0 : 1);
#else
    (void)is_preloaded;
#endif
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (argc < 2 || strcmp(argv[1], lists[i].name) == 0)
            check_list(lists[i].list, &r, memory, argc < 3 ? NULL : argv[2]);
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, WORLD);
    if (r.rank == 0)
        printf("%d%%: Checks: %d, Failures: %d, Errors: 0\n", all ? 0 : 100,
               checks, all);
    MPI_Finalize();
    free(memory[0]);
    free(memory[1]);
    return failures || !checks;
}
