/*
 * Random kernels: what their launches touch lies in what was proved of them.
 *
 * Each kernel is launched several times, with little changed from one to the
 * next, by the interpreter, which holds every access against its proof
 * (SOFTCUDA_TOUCHED).
 */
#include "tests/driver/driver_test.h"
#include "tests/driver/random_reach.h"

enum { KERNELS = 300, LAUNCHES = 6, HALF = RANDOM_REACH_HALF };

struct launch {
    CUdeviceptr a, b;
    int n, m;
    unsigned grid[2], block[2];
};

static void change(struct launch *l, const CUdeviceptr *arrays, uint64_t *seed)
{
    unsigned value = next_random(seed);
    switch (next_random(seed) % 6) {
    case 0:
        l->a = arrays[value % 3] + HALF + value / 3 % 8;
        break;
    case 1:
        l->b = arrays[value % 3] + HALF + value / 3 % 8;
        break;
    case 2:
        l->n = (int)(value % 61) - 20;
        break;
    case 3:
        l->m = 1 + (int)(value % 30);
        break;
    case 4:
        l->grid[value % 2] = 1 + value % 5;
        break;
    default:
        l->block[value % 2] = 1 + value % 13;
        break;
    }
}

static void launch_all(const char *text, uint64_t seed)
{
    CUdeviceptr arrays[3];
    CUmodule module;
    CUfunction run;
    struct launch l = {.n = 10, .m = 5, .grid = {3, 2}, .block = {8, 2}};
    void *params[] = {&l.a, &l.b, &l.n, &l.m};
    for (int i = 0; i < 3; i++)
        OK(cuMemAlloc(&arrays[i], 2 * HALF));
    l.a = arrays[0] + HALF;
    l.b = arrays[1] + HALF;
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&run, module, "run"));
    for (int i = 0; i < LAUNCHES; i++) {
        OK(cuLaunchKernel(run, l.grid[0], l.grid[1], 1, l.block[0], l.block[1],
                          1, 0, NULL, params, NULL));
        change(&l, arrays, &seed);
    }
    OK(cuCtxSynchronize());
    OK(cuModuleUnload(module));
    for (int i = 0; i < 3; i++)
        OK(cuMemFree(arrays[i]));
}

START_TEST(random_launches_stay_in_what_was_proved)
{
    char path[] = "/tmp/softcuda-touched-XXXXXX", line[400];
    unsigned known = 0, used = 0, rows = 0;
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    setenv("SOFTCUDA_TOUCHED", path, 1);
    begin();
    for (uint64_t i = 1; i <= KERNELS; i++) {
        char *text = random_reach(i * 7919);
        launch_all(text, i);
        FILE *log = fdopen(dup(fd), "r");
        ck_assert_ptr_nonnull(log);
        while (fgets(line, sizeof line, log)) {
            ck_assert_msg(!strstr(line, " WRONG"), "kernel %d: %s", (int)i,
                          line);
            known += strstr(line, " known ") != NULL;
            used += strstr(line, " used ") != NULL;
            rows += strstr(line, " used ") && strstr(line, " by ");
        }
        fclose(log);
        free(text);
    }
    unlink(path);
    printf("%u accesses used, %u with a range; %u in rows\n", used, known,
           rows);
    ck_assert_uint_gt(used, 1000);
    ck_assert_uint_gt(known, 1000);
    ck_assert_uint_gt(rows, 1000);
}
END_TEST

SUITE_MAIN("softcuda driver: touched", 60,
           random_launches_stay_in_what_was_proved)
