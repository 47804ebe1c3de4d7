/*
 * The containers of bench/ranges: whatever is accessed in whatever order is
 * the newest there is, where the text that describes them says so.
 */
#include "common/suite.h"
#include "start.h"

#include <string.h>

START_TEST(first_rules_use_a_stale_copy_and_new_ones_do_not)
{
    start("1", "64M");
    for (int rules = RULES_INITIAL; rules <= RULES_NEW; rules++) {
        int seen[10], ones[5] = {1, 1, 1, 1, 1};
        containers_set((enum container_rules)rules, false);
        struct container *c = container_create(sizeof(int), 1, 10, false);
        struct container_box all = container_all(c), half = {0, 5, 1, 5};
        container_on_device(c, 0, all, MODE_READ);
        CUdeviceptr at = container_on_device(c, 0, half, MODE_WRITE);
        ck_assert_int_eq(cuMemcpyHtoD(at, ones, sizeof ones), CUDA_SUCCESS);
        at = container_on_device(c, 0, all, MODE_READ);
        ck_assert_int_eq(cuMemcpyDtoH(seen, at, sizeof seen), CUDA_SUCCESS);
        ck_assert_int_eq(seen[9], rules == RULES_NEW);
        container_destroy(c);
    }
}
END_TEST

static void write_on_device(struct container *c, int value)
{
    int values[10];
    for (int i = 0; i < 10; i++)
        values[i] = value;
    CUdeviceptr at = container_on_device(c, 0, container_all(c), MODE_WRITE);
    ck_assert_int_eq(cuMemcpyHtoD(at, values, sizeof values), CUDA_SUCCESS);
}

START_TEST(a_program_may_save_take_away_and_forget_what_devices_have)
{
    start("1", "64M");
    containers_set(RULES_NEW, false);
    struct container *c = container_create(sizeof(int), 1, 10, false);
    struct container_box all = container_all(c);
    const int *main = container_on_cpu(c, all, MODE_READ);
    write_on_device(c, 1);
    container_update_host(c);
    ck_assert_int_eq(main[9], 1);
    container_on_device(c, 0, all, MODE_READ);
    ck_assert_uint_eq(containers_moved()->up, 0);
    write_on_device(c, 2);
    ck_assert_uint_eq(containers_moved()->allocations, 1);
    container_flush(c);
    ck_assert_int_eq(main[9], 2);
    write_on_device(c, 3);
    ck_assert_uint_eq(containers_moved()->allocations, 2);
    container_invalidate(c);
    container_on_cpu(c, all, MODE_READ);
    ck_assert_int_eq(main[9], 2);
    container_on_device(c, 0, all, MODE_READ);
    ck_assert_uint_eq(containers_moved()->up, 10 * sizeof(int));
    ck_assert_uint_eq(containers_moved()->allocations, 2);
    container_destroy(c);
}
END_TEST

/* Elements of a container, each with the number of the write it has seen. */
struct model {
    struct container *c;
    size_t elem;
    int now;
    int *newest;  /* of each element */
    char *packed; /* bytes of a copy */
};

static long below(long n)
{
    return rand() % n;
}

static struct container_box random_box(const struct container_box all)
{
    struct container_box box = {below(all.rows), below(all.columns), 0, 0};
    box.rows = 1 + below(all.rows - box.row);
    box.columns = 1 + below(all.columns - box.column);
    return box;
}

/* Compare a box in memory, or put the newest numbers there. */
static void use(struct model *m, char *memory, struct container_box in,
                struct container_box box, bool write)
{
    long columns = container_all(m->c).columns;
    for (long y = box.row; y < box.row + box.rows; y++)
        for (long x = box.column; x < box.column + box.columns; x++) {
            char *at =
                memory +
                (size_t)((y - in.row) * in.columns + x - in.column) * m->elem;
            int *newest = m->newest + y * columns + x;
            if (write)
                memcpy(at, newest, sizeof *newest);
            else
                ck_assert_mem_eq(at, newest, sizeof *newest);
        }
}

static void write_numbers(struct model *m, struct container_box box)
{
    long columns = container_all(m->c).columns;
    for (long y = box.row; y < box.row + box.rows; y++)
        for (long x = box.column; x < box.column + box.columns; x++)
            m->newest[y * columns + x] = ++m->now;
}

static void access_cpu(struct model *m, struct container_box box,
                       enum container_mode mode)
{
    char *main = container_on_cpu(m->c, box, mode);
    struct container_box all = container_all(m->c);
    if (mode & MODE_READ)
        use(m, main, all, box, false);
    if (!(mode & MODE_WRITE))
        return;
    write_numbers(m, box);
    use(m, main, all, box, true);
}

static void access_device(struct model *m, int device, struct container_box box,
                          enum container_mode mode)
{
    size_t bytes = (size_t)(box.rows * box.columns) * m->elem;
    containers_call();
    CUdeviceptr at = container_on_device(m->c, device, box, mode);
    containers_use(device);
    ck_assert_int_eq(cuMemcpyDtoH(m->packed, at, bytes), CUDA_SUCCESS);
    if (mode & MODE_READ)
        use(m, m->packed, box, box, false);
    if (!(mode & MODE_WRITE))
        return;
    write_numbers(m, box);
    use(m, m->packed, box, box, true);
    ck_assert_int_eq(cuMemcpyHtoD(at, m->packed, bytes), CUDA_SUCCESS);
}

static void random_accesses(size_t elem, long rows, long columns, bool peer,
                            int count)
{
    size_t n = (size_t)(rows * columns);
    containers_set(RULES_NEW, peer);
    struct model m = {.elem = elem};
    m.c = container_create(elem, rows, columns, false);
    m.newest = calloc(n, sizeof *m.newest);
    m.packed = calloc(n, elem);
    for (int i = 0; i < count; i++) {
        struct container_box box = random_box(container_all(m.c));
        enum container_mode mode = (enum container_mode)(1 + below(3));
        if (below(100) < 35)
            access_cpu(&m, box, mode);
        else
            access_device(&m, (int)below(3), box, mode);
    }
    access_cpu(&m, container_all(m.c), MODE_READ);
    container_destroy(m.c);
    free(m.newest);
    free(m.packed);
}

START_TEST(any_order_of_accesses_to_a_vector_sees_the_newest)
{
    start("3", "64M");
    srand(1);
    for (int i = 0; i < 60; i++)
        random_accesses(sizeof(int), 1, 10, i % 2, 60);
}
END_TEST

START_TEST(any_order_of_accesses_to_a_matrix_sees_the_newest)
{
    start("3", "64M");
    srand(2);
    for (int i = 0; i < 60; i++)
        random_accesses(sizeof(int), 6, 7, i % 2, 60);
}
END_TEST

START_TEST(short_memory_takes_copies_away_and_loses_nothing)
{
    start("3", "4M");
    srand(3);
    for (int i = 0; i < 10; i++)
        random_accesses(256 << 10, 1, 8, i % 2, 60);
    ck_assert_uint_gt(containers_moved()->evictions, 0);
}
END_TEST

SUITE_MAIN("containers", 120, first_rules_use_a_stale_copy_and_new_ones_do_not,
           a_program_may_save_take_away_and_forget_what_devices_have,
           any_order_of_accesses_to_a_vector_sees_the_newest,
           any_order_of_accesses_to_a_matrix_sees_the_newest,
           short_memory_takes_copies_away_and_loses_nothing)
