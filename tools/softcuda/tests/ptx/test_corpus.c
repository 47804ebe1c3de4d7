/*
 * PTX that compilers really print: the committed texts load, thousands of
 * damaged copies of them never crash or leak, not even when they are launched,
 * and, where nvcc is installed, fresh compilations for several targets load
 * too.
 */
#include "common/suite.h"
#include "device.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#define MAX_TEXT ((size_t)1 << 20)

static char text[MAX_TEXT + 1], damaged[MAX_TEXT + 1];

static size_t read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    size_t n = fread(text, 1, MAX_TEXT, file);
    fclose(file);
    text[n] = 0;
    return n;
}

static const char *corpus(void)
{
    const char *folder = getenv("PTX_CORPUS");
    ck_assert_msg(folder != NULL, "PTX_CORPUS names the folder of texts");
    return folder;
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n > m && strcmp(name + n - m, suffix) == 0;
}

/* Calls `visit` for every file of the corpus with that suffix. */
static int for_each(const char *suffix, void (*visit)(const char *path))
{
    DIR *folder = opendir(corpus());
    ck_assert_ptr_nonnull(folder);
    int n = 0;
    for (struct dirent *e; (e = readdir(folder));) {
        char path[4096];
        if (!ends_with(e->d_name, suffix))
            continue;
        snprintf(path, sizeof path, "%s/%s", corpus(), e->d_name);
        visit(path);
        n++;
    }
    closedir(folder);
    return n;
}

static void load_file(const char *path)
{
    char log[256];
    struct sc_module *module;
    size_t n = read_text(path);
    enum sc_exec_status status =
        sc_module_load(&module, text, n, device_space(), log, sizeof log);
    ck_assert_msg(status == SC_EXEC_OK, "%s: %s", path, log);
    ck_assert_uint_gt(sc_module_kernels(module), 0);
    sc_module_unload(module);
    ck_assert_uint_eq(device_held(), 0);
}

START_TEST(committed_texts_load)
{
    ck_assert_int_ge(for_each(".ptx", load_file), 3);
}
END_TEST

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

/* Cut, overwrite, duplicate, or swap pieces of the text. */
static size_t damage(size_t n)
{
    static const char *const tokens[] = {
        "{",          "}",      "[",    "]",
        ";",          ",",      ".v4",  ".f64",
        "%p1",        "-",      "0x",   "@",
        "<99999999>", ".reg",   "|",    "!",
        "\"",         "/*",     "0f",   ".entry",
        "ret",        ":",      ".b10", ".h3",
        ".3d",        ".a2d",   "16",   "[%rd1,{%r1,%r2}]",
        ".managed",   ".texref"};
    memcpy(damaged, text, n);
    uint32_t changes = 1 + draw(4);
    for (uint32_t i = 0; i < changes && n > 64; i++) {
        size_t at = draw((uint32_t)n - 32), length = 1 + draw(24);
        const char *token = tokens[draw(sizeof tokens / sizeof *tokens)];
        switch (draw(6)) {
        case 0:
            n = at;
            break;
        case 1:
            damaged[at] = (char)draw(256);
            break;
        case 2:
            memmove(damaged + at, damaged + at + length, n - at - length);
            n -= length;
            break;
        case 3:
            memmove(damaged + at, damaged + draw((uint32_t)n - 32), length);
            break;
        case 4:
            memcpy(damaged + at, token, strlen(token));
            break;
        default:
            damaged[at] ^= (char)(1 << draw(7));
        }
    }
    return n;
}

/* Pointers lead into the window, numbers are small; a kernel that does not end
 * is cancelled before it begins, which gives it one turn. */
static void launch_all(const struct sc_module *module)
{
    static void *memory;
    static const int cancel = 1;
    if (!memory)
        memory = device_alloc(1 << 16);
    for (size_t k = 0; k < sc_module_kernels(module); k++) {
        const struct sc_kernel_info *info = sc_module_kernel(module, k);
        static unsigned char params[8192];
        struct sc_exec_fault fault;
        uint64_t at = (uint64_t)(uintptr_t)memory;
        if (info->param_bytes > sizeof params)
            continue;
        memset(params, 0, sizeof params);
        for (uint32_t i = 0; i < info->param_count; i++) {
            const struct sc_param *p = &info->params[i];
            if (p->bytes == sizeof at)
                memcpy(params + p->offset, &at, sizeof at);
            else
                params[p->offset] = (unsigned char)draw(40);
        }
        struct sc_launch launch = {.grid = {1, 1, 1},
                                   .block = {1, 1, 1},
                                   .dynamic_shared_bytes = 256,
                                   .params = params,
                                   .param_bytes = info->param_bytes,
                                   .cancel = &cancel};
        launch.block[0] =
            info->required_block[0] ? info->required_block[0] : 1 + draw(48);
        ck_assert(sc_kernel_launch(module, k, &launch, &fault) <=
                  SC_EXEC_STACK_OVERFLOW);
    }
}

static void load_damaged(const char *path)
{
    size_t n = read_text(path);
    for (int i = 0; i < 1000; i++) {
        char log[128];
        struct sc_module *module;
        size_t bytes = damage(n);
        enum sc_exec_status status = sc_module_load(
            &module, damaged, bytes, device_space(), log, sizeof log);
        if (status != SC_EXEC_OK)
            ck_assert_uint_gt(strlen(log), 0);
        ck_assert(status <= SC_EXEC_NO_MEMORY);
        if (status == SC_EXEC_OK && i % 4 == 0)
            launch_all(module);
        sc_module_unload(module);
        ck_assert_uint_eq(device_held(), 0);
    }
}

START_TEST(damaged_texts_are_refused_without_harm)
{
    seed = 20140911;
    printf("seed %llu\n", (unsigned long long)seed);
    for_each(".ptx", load_damaged);
}
END_TEST

START_TEST(every_truncation_is_refused_or_loads)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/bare_clang_sm70.ptx", corpus());
    size_t n = read_text(path);
    for (size_t bytes = 0; bytes < n; bytes += 3) {
        char log[128];
        struct sc_module *module;
        sc_module_load(&module, text, bytes, device_space(), log, sizeof log);
        sc_module_unload(module);
    }
}
END_TEST

static void compile_and_load(const char *path)
{
    static const char *const options[] = {"-arch=sm_75 -std=c++17",
                                          "-arch=sm_80 -std=c++17 -lineinfo",
                                          "-arch=sm_90 -std=c++17"};
    if (strstr(path, "bare.cu"))
        return;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char out[64], command[8192];
        snprintf(out, sizeof out, "/tmp/ptx_corpus_%d.ptx", getpid());
        snprintf(command, sizeof command, "nvcc -ptx %s -o %s %s", options[i],
                 out, path);
        ck_assert_int_eq(system(command), 0);
        load_file(out);
        unlink(out);
    }
}

START_TEST(fresh_nvcc_output_loads)
{
    if (system("nvcc --version >/dev/null 2>&1") != 0) {
        printf("SKIP: no nvcc\n");
        return;
    }
    for_each(".cu", compile_and_load);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("corpus");
    TCase *tcase = tcase_create("corpus");
    tcase_set_timeout(tcase, 280);
    tcase_add_checked_fixture(tcase, device_open, device_close);
    tcase_add_test(tcase, committed_texts_load);
    tcase_add_test(tcase, damaged_texts_are_refused_without_harm);
    tcase_add_test(tcase, every_truncation_is_refused_or_loads);
    tcase_add_test(tcase, fresh_nvcc_output_loads);
    suite_add_tcase(suite, tcase);
    return suite_finish(suite);
}
