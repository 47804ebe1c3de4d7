/*
 * Launches whose parameters lie in shared memory, by functions that come back
 * under the handle of others.
 *
 * Meson runs it preloaded; and with a planted driver, which says where the
 * parameters of a kernel are once or never.
 */
#include "regress/interpose/preloaded.h"

#include <stdbool.h>
#include <stdlib.h>

enum { BYTES = 1 << 20, WORDS = BYTES / 8, ROUNDS = 9, WIDE = 8, COUNT = 12 };

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

/* *to = value */
static const char narrow_text[] =
    HEAD ".visible .entry put(.param .u64 to, .param .u64 value)\n{\n"
         ".reg .b64 %a, %v;\n"
         "ld.param.u64 %a, [to]; ld.param.u64 %v, [value];\n"
         "st.global.u64 [%a], %v; ret; }\n";

/* *to[7] = to[6] */
static const char wide_text[] =
    HEAD ".visible .entry put(.param .align 8 .b8 to[64], .param .u64 value)\n"
         "{\n.reg .b64 %a, %v;\n"
         "ld.param.u64 %a, [to+56]; ld.param.u64 %v, [to+48];\n"
         "st.global.u64 [%a], %v; ret; }\n";

static void launch(CUfunction put, volatile uint64_t *first,
                   volatile uint64_t *second)
{
    void *list[] = {(void *)first, (void *)second};
    must(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, NULL, list, NULL));
}

/* Parameters in shared memory lie in a block that the launch closes. */
static void narrow_writes(CUfunction put, bool shared)
{
    volatile uint64_t *to = (void *)device_bytes(BYTES, 0);
    volatile uint64_t own[2], *values = own;
    if (shared)
        values = to + 2;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        values[0] = (uintptr_t)to;
        values[1] = round;
        launch(put, &values[0], &values[1]);
        ck_assert_uint_eq(to[0], round);
    }
}

static void wide_writes(CUfunction put)
{
    volatile uint64_t *to = (void *)device_bytes(BYTES, 0);
    volatile uint64_t *values = to + WORDS - WIDE;
    values[WIDE - 2] = 77;
    values[WIDE - 1] = (uintptr_t)to;
    launch(put, values, values);
    ck_assert_uint_eq(to[0], 77);
}

/* A fat binary, as nvcc writes it. */
struct entry {
    uint16_t kind, version;
    uint32_t head;
    uint64_t bytes;
    uint32_t unpacked[2], minor, sm;
    uint64_t more[4];
};

static struct {
    uint32_t magic;
    uint16_t version, head;
    uint64_t bytes;
    struct entry text_is;
    char text[512];
    struct entry code_is;
    char code[8];
} fat = {
    .magic = 0xba55ed50,
    .version = 1,
    .head = 16,
    .bytes = sizeof fat - 16,
    .text_is = {1, 0x101, sizeof(struct entry), sizeof fat.text, .sm = 80},
    .code_is = {2, 0x101, sizeof(struct entry), sizeof fat.code, .sm = 90},
};

/* Where there is machine code for the device as well, its PTX says nothing of
 * what runs: the driver alone knows. */
static CUfunction unread(void)
{
    CUmodule module;
    CUfunction put;
    strcpy(fat.text, narrow_text);
    must(cuModuleLoadData(&module, &fat));
    must(cuModuleGetFunction(&put, module, "put"));
    return put;
}

START_TEST(driver_is_asked_once)
{
    const char *planted = getenv("PLANTED");
    device_start();
    narrow_writes(unread(), !planted || strncmp(planted, "old", 3) != 0);
}
END_TEST

/* Whatever the driver can tell. */
START_TEST(ptx_says_where_parameters_are)
{
    CUmodule module;
    CUfunction put;
    device_start();
    must(cuModuleLoadData(&module, narrow_text));
    must(cuModuleGetFunction(&put, module, "put"));
    narrow_writes(put, true);
}
END_TEST

/* Nor does it matter that the kernel touches nothing there. */
START_TEST(list_lies_in_what_is_not_touched)
{
    CUmodule module;
    CUfunction put;
    device_start();
    must(cuModuleLoadData(&module, narrow_text));
    must(cuModuleGetFunction(&put, module, "put"));
    volatile uint64_t *to = (void *)device_bytes(BYTES, 0);
    void **list = (void *)device_bytes(BYTES, 0);
    uint64_t values[] = {(uintptr_t)to, 5};
    list[0] = &values[0];
    list[1] = &values[1];
    must(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, NULL, list, NULL));
    ck_assert_uint_eq(to[0], 5);
}
END_TEST

/* ---- handles that return -------------------------------------------------- */

/* A way for a function to come and go. */
struct way {
    CUfunction (*load)(const char *text, void **owner);
    void (*unload)(void *owner);
};

static CUfunction of_module(const char *text, void **owner)
{
    CUfunction put;
    must(cuModuleLoadData((CUmodule *)owner, text));
    must(cuModuleGetFunction(&put, *owner, "put"));
    return put;
}

static void unload_module(void *owner)
{
    must(cuModuleUnload(owner));
}

static CUfunction of_library(const char *text, void **owner)
{
    CUkernel put;
    must(cuLibraryLoadData((CUlibrary *)owner, text, NULL, NULL, 0, NULL, NULL,
                           0));
    must(cuLibraryGetKernel(&put, *owner, "put"));
    return (CUfunction)put;
}

static void unload_library(void *owner)
{
    must(cuLibraryUnload(owner));
}

static CUfunction of_context(const char *text, void **owner)
{
    void *module;
    must(cuCtxCreate((CUcontext *)owner, NULL, 0, 0));
    return of_module(text, &module);
}

static void destroy_context(void *owner)
{
    must(cuCtxDestroy(owner));
}

/* Functions of one text go, and others come.
 * Return: how many of these have the handle of one that went */
static int change(const struct way *way)
{
    void *owner[COUNT];
    CUfunction gone[COUNT];
    int came = 0;
    for (int i = 0; i < COUNT; i++) {
        gone[i] = way->load(narrow_text, &owner[i]);
        narrow_writes(gone[i], true);
    }
    for (int i = COUNT; i-- > 0;)
        way->unload(owner[i]);
    for (int i = 0; i < COUNT; i++) {
        CUfunction put = way->load(wide_text, &owner[i]);
        wide_writes(put);
        for (int k = 0; k < COUNT; k++)
            came += put == gone[k];
    }
    for (int i = COUNT; i-- > 0;)
        way->unload(owner[i]);
    return came;
}

static void changes(const struct way *way)
{
    int came = 0;
    device_start();
    if (getenv("PLANTED"))
        return;
    for (int i = 0; i < ROUNDS && came < COUNT; i++)
        came += change(way);
    ck_assert_msg(came > 0, "no handle came back");
}

START_TEST(module_comes_with_the_handle_of_another)
{
    changes(&(struct way){of_module, unload_module});
}
END_TEST

START_TEST(library_comes_with_the_handle_of_another)
{
    changes(&(struct way){of_library, unload_library});
}
END_TEST

START_TEST(context_comes_with_the_handles_of_another)
{
    changes(&(struct way){of_context, destroy_context});
}
END_TEST

SUITE_MAIN("parameters of kernels", 60, driver_is_asked_once,
           ptx_says_where_parameters_are, list_lies_in_what_is_not_touched,
           module_comes_with_the_handle_of_another,
           library_comes_with_the_handle_of_another,
           context_comes_with_the_handles_of_another)
