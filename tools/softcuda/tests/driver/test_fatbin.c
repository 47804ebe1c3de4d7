/*
 * Fat binaries as nvcc makes them, and what mutation makes of them.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "tests/driver/driver_test.h"

#define MAGIC_WRAPPER 0x466243b1u

struct sample {
    uint8_t bytes[4096];
    size_t length;
};

static struct sample sample(const char *name)
{
    struct sample s = {.length = 0};
    char path[512];
    snprintf(path, sizeof path, "%s/%s.fatbin", SAMPLES, name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    s.length = fread(s.bytes, 1, sizeof s.bytes, file);
    fclose(file);
    ck_assert_uint_gt(s.length, 16);
    return s;
}

struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *parts;
};

/* The architecture whose PTX runs: `store` writes __CUDA_ARCH__. */
static unsigned chosen(CUmodule module)
{
    CUfunction store;
    CUdeviceptr p;
    unsigned arch = 0;
    OK(cuModuleGetFunction(&store, module, "store"));
    OK(cuMemAlloc(&p, 4));
    void *params[] = {&p};
    OK(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(&arch, p, 4));
    OK(cuMemFree(p));
    return arch;
}

START_TEST(every_compression_is_undone_and_the_best_ptx_chosen)
{
    static const char *const names[] = {"none", "speed", "balance"};
    begin();
    for (int i = 0; i < 3; i++) {
        struct sample s = sample(names[i]);
        CUmodule module;
        OK(cuModuleLoadFatBinary(&module, s.bytes));
        ck_assert_uint_eq(chosen(module), 800);
        OK(cuModuleUnload(module));
        struct wrapper one = {MAGIC_WRAPPER, 1, s.bytes, NULL};
        OK(cuModuleLoadData(&module, &one));
        ck_assert_uint_eq(chosen(module), 800);
        OK(cuModuleUnload(module));
    }
}
END_TEST

START_TEST(a_library_takes_a_compressed_image)
{
    struct sample s = sample("balance");
    CUlibrary library;
    CUkernel kernel;
    begin();
    OK(cuLibraryLoadData(&library, s.bytes, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "add"));
    OK(cuLibraryUnload(library));
}
END_TEST

START_TEST(machine_code_only_is_refused_with_the_option_that_helps)
{
    struct sample s = sample("machine");
    CUmodule module;
    char text[1024] = "";
    int saved = dup(STDERR_FILENO), pipe_ends[2];
    begin();
    ck_assert_int_eq(pipe(pipe_ends), 0);
    dup2(pipe_ends[1], STDERR_FILENO);
    CUresult result = cuModuleLoadData(&module, s.bytes);
    dup2(saved, STDERR_FILENO);
    close(pipe_ends[1]);
    ck_assert_int_gt(read(pipe_ends[0], text, sizeof text - 1), 0);
    WANT(CUDA_ERROR_NO_BINARY_FOR_GPU, result);
    ck_assert_ptr_nonnull(
        strstr(text, "-gencode arch=compute_75,code=compute_75"));
}
END_TEST

/* Writes own + counter; `own` means something else in each part. */
#define PART_BODY                                                              \
    " .reg .b32 %r<6>; .reg .b64 %d<2>;\n"                                     \
    " ld.param.u64 %d0, [p];\n"                                                \
    " ld.global.u32 %r0, [own];\n ld.global.u32 %r1, [counter];\n"             \
    " add.u32 %r2, %r0, %r1;\n st.global.u32 [%d0], %r2;\n ret;\n}\n"

static const char part_a[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".global .align 4 .u32 own = 5; // { not a brace\n"
    ".extern .global .align 4 .u32 counter;\n"
    ".visible .entry run(.param .u64 p)\n{\n" PART_BODY;

static const char part_b[] =
    "//\n.version 7.1\n.target sm_60\n.address_size 64\n"
    ".global .align 4 .u32 own = 100;\n"
    ".visible .global .align 4 .u32 counter = 1000;\n"
    ".visible .entry walk(.param .u64 p)\n{\n" PART_BODY;

struct built {
    struct {
        uint32_t magic;
        uint16_t version, header_bytes;
        uint64_t bytes;
    } head;
    struct {
        uint16_t kind, version;
        uint32_t header_bytes;
        uint64_t payload_bytes;
        uint32_t compressed_bytes, unknown, minor, sm, name[2];
        uint64_t flags, reserved, full_bytes;
    } entry;
    char text[2048];
};

static struct built build(const char *text)
{
    struct built b = {.head = {0xba55ed50, 1, 16, sizeof b - 16},
                      .entry = {.kind = 1,
                                .version = 0x101,
                                .header_bytes = 64,
                                .payload_bytes = sizeof b.text,
                                .sm = 60}};
    snprintf(b.text, sizeof b.text, "%s", text);
    return b;
}

START_TEST(parts_of_a_relocatable_program_are_joined)
{
    struct built a = build(part_a), b = build(part_b);
    struct sample linked = sample("machine");
    const void *parts[] = {&a, &b, NULL};
    struct wrapper wrapper = {MAGIC_WRAPPER, 2, linked.bytes, parts};
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr p;
    size_t bytes;
    unsigned value;
    begin();
    OK(cuModuleLoadData(&module, &wrapper));
    OK(cuMemAlloc(&p, 4));
    void *params[] = {&p};
    OK(cuModuleGetFunction(&kernel, module, "run"));
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(&value, p, 4));
    ck_assert_uint_eq(value, 5 + 1000);
    OK(cuModuleGetFunction(&kernel, module, "walk"));
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(&value, p, 4));
    ck_assert_uint_eq(value, 100 + 1000);
    OK(cuModuleGetGlobal(&p, &bytes, module, "counter"));
}
END_TEST

START_TEST(parts_without_ptx_matter_only_when_needed)
{
    static const char caller[] =
        ".version 7.0\n.target sm_50\n.address_size 64\n"
        ".extern .func (.param .b32 out) lost ();\n"
        ".visible .entry ask()\n{\n .reg .b32 %r<2>;\n {\n"
        " .param .b32 back;\n call.uni (back), lost, ();\n"
        " ld.param.b32 %r0, [back];\n }\n ret;\n}\n";
    struct built a = build(part_a), b = build(part_b), c = build(caller);
    struct built newer = build(part_b);
    struct sample machine = sample("machine");
    newer.entry.sm = 121;
    CUmodule module;
    begin();
    const void *spare[] = {&a, machine.bytes, &newer, &b, NULL};
    struct wrapper wrapper = {MAGIC_WRAPPER, 2, NULL, spare};
    OK(cuModuleLoadData(&module, &wrapper));
    const void *needed[] = {&c, machine.bytes, NULL};
    wrapper.parts = needed;
    WANT(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, &wrapper));
    const void *nothing[] = {machine.bytes, &newer, NULL};
    wrapper.parts = nothing;
    WANT(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, &wrapper));
}
END_TEST

/* Load it in vain. Return: what was said, until the next call */
static const char *refused(CUresult result, const void *image)
{
    static char said[400];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {said, (void *)sizeof said};
    CUmodule module;
    WANT(result, cuModuleLoadDataEx(&module, image, 2, options, values));
    return said;
}

START_TEST(kernels_that_launch_kernels_are_refused_as_that)
{
    static const char parent[] =
        ".version 7.0\n.target sm_50\n.address_size 64\n"
        ".extern .func (.param .b64 out) __cudaCDP2GetParameterBufferV2"
        " (.param .b64 f, .param .align 4 .b8 grid[12]);\n"
        ".visible .entry ask()\n{\n .reg .b64 %d<2>; .reg .b32 %r<2>;\n {\n"
        " .param .b64 f; .param .align 4 .b8 grid[12]; .param .b64 back;\n"
        " mov.b64 %d0, 0;\n mov.b32 %r0, 1;\n st.param.b64 [f], %d0;\n"
        " st.param.b32 [grid], %r0;\n"
        " call.uni (back), __cudaCDP2GetParameterBufferV2, (f, grid);\n"
        " ld.param.b64 %d1, [back];\n }\n ret;\n}\n";
    struct built part = build(parent);
    struct sample machine = sample("machine");
    const void *parts[] = {&part, machine.bytes, NULL};
    struct wrapper wrapper = {MAGIC_WRAPPER, 2, NULL, parts};
    CUlinkState link;
    void *cubin;
    char said[400] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {said, (void *)sizeof said};
    begin();
    const char *text = refused(CUDA_ERROR_NO_BINARY_FOR_GPU, &wrapper);
    ck_assert_msg(strstr(text, "a kernel launches kernels"), "%s", text);
    text = refused(CUDA_ERROR_INVALID_PTX, parent);
    ck_assert_msg(strstr(text, "a kernel launches kernels"), "%s", text);
    OK(cuLinkCreate(2, options, values, &link));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)parent,
                     sizeof parent, "a", 0, NULL, NULL));
    WANT(CUDA_ERROR_INVALID_IMAGE, cuLinkComplete(link, &cubin, NULL));
    ck_assert_msg(strstr(said, "a kernel launches kernels"), "%s", said);
}
END_TEST

/* A copy that ends where readable memory does. */
static uint8_t *at_the_edge(const struct sample *s)
{
    size_t room = (s->length + 4095) & ~(size_t)4095;
    uint8_t *map = mmap(NULL, room + 4096, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(map, MAP_FAILED);
    ck_assert_int_eq(mprotect(map + room, 4096, PROT_NONE), 0);
    return map + room - s->length;
}

static void expect_no_crash(const uint8_t *image)
{
    CUmodule module;
    CUresult result = cuModuleLoadData(&module, image);
    if (result == CUDA_SUCCESS)
        OK(cuModuleUnload(module));
    else
        ck_assert_msg(result == CUDA_ERROR_INVALID_IMAGE ||
                          result == CUDA_ERROR_NO_BINARY_FOR_GPU ||
                          result == CUDA_ERROR_INVALID_PTX ||
                          result == CUDA_ERROR_OUT_OF_MEMORY,
                      "%d", (int)result);
}

static void mutate(const char *name, uint64_t seed, int rounds)
{
    struct sample original = sample(name);
    uint8_t *image = at_the_edge(&original);
    for (int i = 0; i < rounds; i++) {
        memcpy(image, original.bytes, original.length);
        for (unsigned k = 0; k <= next_random(&seed) % 4; k++) {
            /* half of the hits go to the headers */
            size_t range = next_random(&seed) % 2 ? 96 : original.length - 8;
            size_t at = 4 + next_random(&seed) % (range - 4);
            uint64_t value = next_random(&seed) % 3 ? next_random(&seed)
                             : next_random(&seed) % 2
                                 ? UINT64_MAX - next_random(&seed) % 100
                                 : next_random(&seed) % 100;
            size_t width = (size_t)1 << next_random(&seed) % 4;
            memcpy(image + at, &value, width);
        }
        expect_no_crash(image);
    }
}

START_TEST(mutated_images_are_refused_and_nothing_crashes)
{
    begin();
    freopen("/dev/null", "w", stderr);
    mutate("none", 1, 300);
    mutate("speed", 2, 600);
    mutate("balance", 3, 600);
    mutate("machine", 4, 200);
    OK(cuCtxSynchronize());
}
END_TEST

START_TEST(images_that_end_early_are_refused)
{
    struct sample s = sample("speed");
    begin();
    freopen("/dev/null", "w", stderr);
    for (size_t length = 4; length < s.length; length += 7) {
        struct sample cut = s;
        cut.length = length;
        uint8_t *image = at_the_edge(&cut);
        memcpy(image, s.bytes, length);
        CUmodule module;
        CUresult result = cuModuleLoadData(&module, image);
        /* the entries before the cut may do */
        ck_assert(result == CUDA_SUCCESS ||
                  result == CUDA_ERROR_INVALID_IMAGE ||
                  result == CUDA_ERROR_NO_BINARY_FOR_GPU);
    }
}
END_TEST

START_TEST(bombs_are_refused)
{
    struct sample s = sample("balance");
    uint64_t huge = 1ull << 40, large = 200ull << 20;
    CUmodule module;
    begin();
    memcpy(s.bytes + 16 + 56, &huge, 8); /* of the sm_75 entry */
    struct sample only = s;
    uint64_t entry_bytes;
    uint32_t header_bytes;
    memcpy(&header_bytes, s.bytes + 20, 4);
    memcpy(&entry_bytes, s.bytes + 24, 8);
    entry_bytes += header_bytes;
    memcpy(only.bytes + 8, &entry_bytes, 8); /* just this entry */
    WANT(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, only.bytes));
    /* the size said is only an upper bound for what comes out */
    memcpy(only.bytes + 16 + 56, &large, 8);
    OK(cuModuleLoadData(&module, only.bytes));
    ck_assert_uint_eq(chosen(module), 750);
    memcpy(only.bytes + 16 + 56, &(uint64_t){10}, 8);
    WANT(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, only.bytes));
}
END_TEST

SUITE_MAIN("softcuda driver: fat binaries", 60,
           every_compression_is_undone_and_the_best_ptx_chosen,
           a_library_takes_a_compressed_image,
           machine_code_only_is_refused_with_the_option_that_helps,
           parts_of_a_relocatable_program_are_joined,
           kernels_that_launch_kernels_are_refused_as_that,
           parts_without_ptx_matter_only_when_needed,
           mutated_images_are_refused_and_nothing_crashes,
           images_that_end_early_are_refused, bombs_are_refused)
