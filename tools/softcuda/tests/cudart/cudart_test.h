/*
 * Helpers of the runtime suites: checks of calls, and code registered by hand
 * the way compiled host code registers it.
 *
 * Each case runs in a process of its own (Check forks), so the runtime starts
 * afresh in it.
 */
#ifndef TESTS_SOFTCUDA_CUDART_TEST_H
#define TESTS_SOFTCUDA_CUDART_TEST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "cudart/host_runtime.h"
#include "common/suite.h"
#include "tests/driver/kernels.h"

#define MIB ((size_t)1 << 20)

/** The call must return `want`; says what it returned instead. */
#define WANT(want, call)                                                       \
    do {                                                                       \
        cudaError_t got_ = (call);                                             \
        ck_assert_msg(got_ == (want), "%s returned %s, not %s", #call,         \
                      cudaGetErrorName(got_), cudaGetErrorName(want));         \
    } while (0)

#define OK(call) WANT(cudaSuccess, call)

/** A fat binary with one uncompressed PTX text, as it lies in a program. */
struct image {
    struct {
        uint32_t magic, version;
        const void *data, *unused;
    } wrapper;
    struct {
        uint32_t magic;
        uint16_t version, header_bytes;
        uint64_t bytes;
    } container;
    struct {
        uint16_t kind, version;
        uint32_t header_bytes;
        uint64_t payload_bytes;
        uint32_t compressed_bytes, unknown, minor, sm, name[2];
        uint64_t flags, reserved, full_bytes;
    } entry;
    char text[16384];
};

/** Put `ptx` into an image for capability `sm`; kind 1 is PTX, 2 machine
 * code. */
static inline void image_fill(struct image *image, const char *ptx,
                              unsigned kind, unsigned sm)
{
    size_t bytes = strlen(ptx) + 1;
    memset(image, 0, sizeof *image);
    ck_assert_uint_le(bytes, sizeof image->text);
    memcpy(image->text, ptx, bytes);
    image->entry.kind = (uint16_t)kind;
    image->entry.version = 0x101;
    image->entry.header_bytes = sizeof image->entry;
    image->entry.payload_bytes = (bytes + 7) / 8 * 8;
    image->entry.sm = sm;
    image->entry.flags = 0x11;
    image->container.magic = 0xba55ed50u;
    image->container.version = 1;
    image->container.header_bytes = sizeof image->container;
    image->container.bytes = sizeof image->entry + image->entry.payload_bytes;
    image->wrapper.magic = 0x466243b1u;
    image->wrapper.version = 1;
    image->wrapper.data = &image->container;
}

/** The host's names of what kernels_ptx holds: their addresses count. */
static char add_host, count_host, stop_host, spin_host, shaped_host, none_host;
static uint32_t counter[4], table[2];

static inline void register_function(void **handle, char *host,
                                     const char *name)
{
    __cudaRegisterFunction(handle, host, (char *)name, name, -1, NULL, NULL,
                           NULL, NULL, NULL);
}

static inline void register_names(void **handle)
{
    register_function(handle, &add_host, "add");
    register_function(handle, &count_host, "count");
    register_function(handle, &stop_host, "stop");
    register_function(handle, &spin_host, "spin");
    register_function(handle, &shaped_host, "shaped");
    register_function(handle, &none_host, "there_is_no_such_kernel");
    __cudaRegisterVar(handle, (char *)counter, (char *)"counter", "counter", 0,
                      sizeof counter, 0, 0);
    __cudaRegisterVar(handle, (char *)table, (char *)"table", "table", 0,
                      sizeof table, 1, 0);
}

/** What the constructor of a compiled program does, with kernels_ptx. */
static inline void **register_kernels(void)
{
    static struct image image;
    /* native code would be through with launch_spin at once */
    setenv("SOFTCUDA_NATIVE", "off", 0);
    image_fill(&image, kernels_ptx, 1, 50);
    void **handle = __cudaRegisterFatBinary(&image.wrapper);
    ck_assert_ptr_nonnull(handle);
    register_names(handle);
    __cudaRegisterFatBinaryEnd(handle);
    return handle;
}

/** add<<<blocks, threads, 0, stream>>>(p, n, v) through both calls that
 * compiled code makes. */
static inline cudaError_t launch_add(dim3 blocks, dim3 threads, void *p,
                                     uint32_t n, uint32_t v,
                                     cudaStream_t stream)
{
    void *args[] = {&p, &n, &v};
    dim3 grid, block;
    size_t shared;
    cudaStream_t where;
    if (__cudaPushCallConfiguration(blocks, threads, 0, stream))
        return cudaErrorInvalidConfiguration;
    cudaError_t error =
        __cudaPopCallConfiguration(&grid, &block, &shared, &where);
    return error
               ? error
               : cudaLaunchKernel(&add_host, grid, block, args, shared, where);
}

/** A kernel of `turns` turns on `stream`, which writes them to p[0]. */
static inline cudaError_t launch_spin(void *p, uint32_t turns,
                                      cudaStream_t stream)
{
    void *args[] = {&p, &turns};
    return cudaLaunchKernel(&spin_host, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args,
                            0, stream);
}

static inline dim3 count_of(unsigned n)
{
    return (dim3){n, 1, 1};
}

/** What goes to stderr between the two calls, NUL-terminated in `text`. */
struct captured {
    int saved;
    FILE *file; /* not a pipe: the device process keeps it open */
    char text[4096];
};

static inline void capture_begin(struct captured *c)
{
    c->saved = dup(STDERR_FILENO);
    c->file = tmpfile();
    ck_assert_ptr_nonnull(c->file);
    dup2(fileno(c->file), STDERR_FILENO);
}

static inline void capture_end(struct captured *c)
{
    fflush(stderr);
    dup2(c->saved, STDERR_FILENO);
    close(c->saved);
    rewind(c->file);
    size_t n = fread(c->text, 1, sizeof c->text - 1, c->file);
    c->text[n] = '\0';
    fclose(c->file);
}

#endif
