/*
 * Kernels that were loaded in each of the ways there are: what they only read
 * stays with the CPU where their PTX is to be had.
 *
 * Meson runs it preloaded, under every protocol and with the option off.
 */
#include "tests/interpose/stays.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 3 << 20 };

/* b[0] = a[0] + 1 */
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry next(.param .u64 a, .param .u64 b)\n{\n"
    ".reg .b64 %a, %b; .reg .b32 %v;\n"
    "ld.param.u64 %a, [a]; ld.param.u64 %b, [b];\n"
    "ld.global.u32 %v, [%a]; add.u32 %v, %v, 1;"
    "st.global.u32 [%b], %v; ret; }\n";

enum { IMAGE_MOST = 16 << 10 };

/* A fat binary as nvcc makes them, with one text that is not packed. */
struct entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t payload_bytes;
    uint32_t compressed_bytes, unknown, minor, sm, name[2];
    uint64_t flags, reserved, full_bytes;
};

struct fat {
    struct {
        uint32_t magic;
        uint16_t version, header_bytes;
        uint64_t bytes;
    } head;
    struct entry entry;
    char text[IMAGE_MOST];
};

static const void *fat_text(void)
{
    static struct fat fat = {.head = {0xba55ed50, 1, 16, sizeof fat - 16},
                             .entry = {.kind = 1,
                                       .version = 0x101,
                                       .header_bytes = 64,
                                       .payload_bytes = sizeof fat.text,
                                       .sm = 80}};
    strcpy(fat.text, text);
    return &fat;
}

static const void *wrapped_text(void)
{
    static struct {
        uint32_t magic, version;
        const void *data, *parts;
    } wrapper = {0x466243b1, 1, NULL, NULL};
    wrapper.data = fat_text();
    return &wrapper;
}

static const char *file_of(const void *image, size_t bytes)
{
    static char name[32];
    strcpy(name, "/tmp/loaded.XXXXXX");
    int fd = mkstemp(name);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, image, bytes), (ssize_t)bytes);
    close(fd);
    return name;
}

static CUfunction of_module(CUmodule loaded)
{
    CUfunction function;
    must(cuModuleGetFunction(&function, loaded, "next"));
    return function;
}

static CUkernel of_library(const void *image)
{
    CUlibrary library;
    CUkernel found;
    must(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    must(cuLibraryGetKernel(&found, library, "next"));
    return found;
}

static CUfunction by_file(void)
{
    const char *name = file_of(text, sizeof text - 1);
    CUmodule loaded;
    must(cuModuleLoad(&loaded, name));
    unlink(name);
    return of_module(loaded);
}

static CUfunction by_fat_file(void)
{
    const char *name = file_of(fat_text(), sizeof(struct fat));
    CUlibrary library;
    CUkernel found;
    must(cuLibraryLoadFromFile(&library, name, NULL, NULL, 0, NULL, NULL, 0));
    unlink(name);
    must(cuLibraryGetKernel(&found, library, "next"));
    return (CUfunction)found;
}

static CUfunction by_fat_binary(void)
{
    CUmodule loaded;
    must(cuModuleLoadFatBinary(&loaded, fat_text()));
    return of_module(loaded);
}

static CUfunction by_wrapper(void)
{
    CUmodule loaded;
    must(cuModuleLoadData(&loaded, wrapped_text()));
    return of_module(loaded);
}

static CUfunction by_library(void)
{
    return (CUfunction)of_library(text);
}

static CUfunction by_library_function(void)
{
    CUfunction function;
    must(cuKernelGetFunction(&function, of_library(wrapped_text())));
    return function;
}

static CUfunction by_library_module(void)
{
    CUlibrary library;
    CUmodule loaded;
    must(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    must(cuLibraryGetModule(&loaded, library));
    return of_module(loaded);
}

START_TEST(each_way_to_load_is_looked_into)
{
    CUfunction (*const ways[])(void) = {
        by_file,    by_fat_file,         by_fat_binary,    by_wrapper,
        by_library, by_library_function, by_library_module};
    device_start();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        volatile uint32_t *in = words(BYTES, 0), *out = words(BYTES, 0);
        void *arguments[] = {&in, &out};
        in[0] = 10;
        out[0] = 1;
        must(cuLaunchKernel(ways[i](), 1, 1, 1, 1, 1, 1, 0, NULL, arguments,
                            NULL));
        ck_assert_msg(is_open(in) == keeps(), "way %zu", i);
        ck_assert_uint_eq(out[0], 11);
    }
}
END_TEST

/* As nvcc packs it, by default and for speed. */
START_TEST(packed_text_is_looked_into)
{
    static const char *const names[] = {"balance", "speed"};
    static char image[IMAGE_MOST];
    device_start();
    for (int i = 0; i < 2; i++) {
        char path[4096];
        CUmodule loaded;
        CUfunction store;
        snprintf(path, sizeof path, "%s/%s.fatbin", getenv("SAMPLES"),
                 names[i]);
        FILE *file = fopen(path, "r");
        ck_assert_ptr_nonnull(file);
        ck_assert_uint_gt(fread(image, 1, sizeof image, file), 0);
        fclose(file);
        must(cuModuleLoadData(&loaded, image));
        must(cuModuleGetFunction(&store, loaded, "store"));
        volatile uint32_t *other = words(BYTES, 0), *out = words(BYTES, 0);
        void *arguments[] = {&out};
        other[0] = out[0] = 1;
        must(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
        ck_assert_int_eq(is_open(other), keeps());
        ck_assert_uint_eq(out[0], 800);
    }
}
END_TEST

/* Code that the device has for itself may be of other source code than the
 * PTX beside it: that says nothing then. */
START_TEST(ptx_beside_other_code_says_nothing)
{
    static struct {
        struct fat fat;
        struct entry code;
        char bytes[64];
    } both;
    CUmodule loaded;
    device_start();
    memcpy(&both.fat, fat_text(), sizeof both.fat);
    both.fat.head.bytes = sizeof both - sizeof both.fat.head;
    both.code = both.fat.entry;
    both.code.kind = 2;
    both.code.payload_bytes = sizeof both.bytes;
    for (unsigned sm = 86; sm <= 90; sm += 4) {
        volatile uint32_t *in = words(BYTES, 0), *out = words(BYTES, 0);
        void *arguments[] = {&in, &out};
        both.code.sm = sm;
        in[0] = 10;
        out[0] = 1;
        must(cuModuleLoadData(&loaded, &both));
        must(cuLaunchKernel(of_module(loaded), 1, 1, 1, 1, 1, 1, 0, NULL,
                            arguments, NULL));
        ck_assert_int_eq(is_open(in), keeps() && sm != 90);
        ck_assert_uint_eq(out[0], 11);
    }
}
END_TEST

SUITE_MAIN("what is loaded", 60, each_way_to_load_is_looked_into,
           packed_text_is_looked_into, ptx_beside_other_code_says_nothing)
