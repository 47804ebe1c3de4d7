/*
 * The operations: stores, loads, copies, system calls, stdio, kernels.
 */
#include "stress.h"

#include "interpose/hooks_list.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

uint64_t draw(struct worker *w, uint64_t most)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (w->random >> 11) % most;
}

/* A call failed, which only one after the death of the device may. */
static bool failed(struct worker *w, const char *what, long code)
{
    if (!atomic_load(&killed))
        stress_fail(w, "%s failed: %ld (%s)", what, code, strerror(errno));
    w->saw_error = true;
    return true;
}

static bool good(struct worker *w, const char *what, CUresult result)
{
    return result == CUDA_SUCCESS || !failed(w, what, result);
}

/* A CUDA call, which handlers must not interrupt with accesses. */
#define CUDA(w, call)                                                          \
    ({                                                                         \
        (w)->in_cuda = 1;                                                      \
        CUresult result_ = (call);                                             \
        (w)->in_cuda = 0;                                                      \
        good(w, #call, result_);                                               \
    })

/* ---- ranges -------------------------------------------------------------- */

static struct range range_of(struct worker *w, size_t most)
{
    size_t object = draw(w, OBJECTS);
    size_t stripe = draw(w, STRIPES) * WORKERS + (size_t)w->id;
    size_t bytes = draw(w, 4) ? 1 + draw(w, most) : 1 + draw(w, 64);
    bytes = bytes < most - TAIL_BYTES ? bytes : most - TAIL_BYTES;
    size_t last = STRIPE_BYTES - TAIL_BYTES - bytes;
    size_t at = stripe * STRIPE_BYTES + draw(w, last + 1);
    return (struct range){objects[object] + at, expected[object] + at, bytes};
}

/* Another one of the same length that shares no byte with `than`. */
static struct range another(struct worker *w, const struct range *than)
{
    struct range r;
    do {
        r = range_of(w, STRIPE_BYTES);
        if (r.bytes > than->bytes)
            r.bytes = than->bytes;
    } while (r.bytes < than->bytes ||
             (r.at < than->at + than->bytes && than->at < r.at + r.bytes));
    return r;
}

/* Without its device a program goes on with what the host last had. */
static void compare(struct worker *w, const uint8_t *at, const struct range *r)
{
    for (size_t i = 0; i < r->bytes; i++) {
        uint8_t is = ((const volatile uint8_t *)at)[i];
        if (is != r->expected[i] && !atomic_load(&killed))
            stress_fail(w, "byte %zu of %zu at %p is %u, not %u", i, r->bytes,
                        (void *)r->at, is, r->expected[i]);
    }
}

/* New bytes in the plain buffer. */
static void make_bytes(struct worker *w, size_t bytes)
{
    uint8_t value = (uint8_t)draw(w, 256);
    for (size_t i = 0; i < bytes; i++)
        w->buffer[i] = value = (uint8_t)(value * 5 + 13);
}

/* ---- the CPU ------------------------------------------------------------- */

static void store(struct worker *w, struct range r)
{
    make_bytes(w, r.bytes);
    for (size_t i = 0; i < r.bytes; i++)
        ((volatile uint8_t *)r.at)[i] = w->buffer[i];
    memcpy(r.expected, w->buffer, r.bytes);
}

static void do_load(struct worker *w)
{
    struct range r = range_of(w, STRIPE_BYTES);
    compare(w, r.at, &r);
}

static void copy_in(struct worker *w, struct range r)
{
    make_bytes(w, r.bytes);
    memcpy(r.at, w->buffer, r.bytes);
    memcpy(r.expected, w->buffer, r.bytes);
}

static void do_copy_out(struct worker *w)
{
    struct range r = range_of(w, STRIPE_BYTES);
    memcpy(w->buffer, r.at, r.bytes);
    compare(w, w->buffer, &r);
}

static void do_copy_within(struct worker *w)
{
    struct range from = range_of(w, STRIPE_BYTES / 2);
    struct range to = another(w, &from);
    memmove(to.at, from.at, from.bytes);
    memcpy(to.expected, from.expected, from.bytes);
}

static void set(struct worker *w, struct range r)
{
    int value = (int)draw(w, 256);
    memset(r.at, value, r.bytes);
    memset(r.expected, value, r.bytes);
}

/* ---- system calls -------------------------------------------------------- */

/* Is the call one that gets shared memory through? */
static bool is_hooked(const char *name)
{
    const struct adsm_hook *(*list)(size_t *) =
        dlsym(RTLD_DEFAULT, "adsm_hooks_list");
    size_t count = 0;
    const struct adsm_hook *hooks = list ? list(&count) : NULL;
    for (size_t i = 0; i < count; i++)
        if (strcmp(hooks[i].name, name) == 0)
            return true;
    return false;
}

static bool has_send(void)
{
    static atomic_int known; /* 1: no, 2: yes */
    if (!known)
        known = 1 + (is_hooked("send") && is_hooked("recv"));
    return known == 2;
}

static void read_file(struct worker *w, struct range r)
{
    size_t offset = draw(w, FILE_BYTES - r.bytes);
    ssize_t n = pread(w->file, r.at, r.bytes, (off_t)offset);
    if (n != (ssize_t)r.bytes && failed(w, "pread", n))
        return;
    memcpy(r.expected, w->content + offset, r.bytes);
}

static void do_pwrite(struct worker *w)
{
    struct range r = range_of(w, STRIPE_BYTES);
    size_t offset = draw(w, FILE_BYTES - r.bytes);
    ssize_t n = pwrite(w->file, r.at, r.bytes, (off_t)offset);
    if (n != (ssize_t)r.bytes && failed(w, "pwrite", n))
        return;
    memcpy(w->content + offset, r.expected, r.bytes);
    n = pread(w->file, w->buffer, r.bytes, (off_t)offset);
    if (n != (ssize_t)r.bytes)
        stress_fail(w, "pread of plain memory: %zd", n);
    compare(w, w->buffer, &r);
}

/* All of it from one end of the socket, as it comes. */
static bool take_all(struct worker *w, int end, uint8_t *at, size_t bytes)
{
    bool use_recv = has_send() && draw(w, 2);
    for (size_t got = 0; got < bytes;) {
        ssize_t n = use_recv ? recv(end, at + got, bytes - got, 0)
                             : read(end, at + got, bytes - got);
        if (n <= 0)
            return !failed(w, use_recv ? "recv" : "read", n);
        got += (size_t)n;
    }
    return true;
}

/* What lies in the socket after a failure would be taken for something else. */
static void empty_socket(struct worker *w)
{
    while (recv(w->ends[0], w->buffer, 1, MSG_DONTWAIT) > 0 ||
           recv(w->ends[1], w->buffer, 1, MSG_DONTWAIT) > 0)
        continue;
}

static void do_socket_out(struct worker *w)
{
    struct range r = range_of(w, STRIPE_BYTES);
    ssize_t n = has_send() && draw(w, 2) ? send(w->ends[0], r.at, r.bytes, 0)
                                         : write(w->ends[0], r.at, r.bytes);
    if (n != (ssize_t)r.bytes && failed(w, "write to a socket", n)) {
        empty_socket(w);
        return;
    }
    if (take_all(w, w->ends[1], w->buffer, r.bytes))
        compare(w, w->buffer, &r);
}

static void read_socket(struct worker *w, struct range r)
{
    make_bytes(w, r.bytes);
    if (write(w->ends[1], w->buffer, r.bytes) != (ssize_t)r.bytes)
        stress_fail(w, "write of plain memory to a socket");
    memcpy(r.expected, w->buffer, r.bytes);
    if (!take_all(w, w->ends[0], r.at, r.bytes))
        empty_socket(w);
}

static void do_vectors(struct worker *w)
{
    struct range from = range_of(w, 5000), more = another(w, &from);
    struct range to = another(w, &from);
    struct iovec out[2] = {{from.at, from.bytes}, {more.at, more.bytes}};
    ssize_t all = (ssize_t)(from.bytes + more.bytes);
    ssize_t n = pwritev(w->file, out, 2, 0);
    if (n != all && failed(w, "pwritev", n))
        return;
    memcpy(w->content, from.expected, from.bytes);
    memcpy(w->content + from.bytes, more.expected, more.bytes);
    struct iovec in[2] = {{w->buffer, more.bytes}, {to.at, to.bytes}};
    n = preadv(w->file, in, 2, (off_t)(from.bytes - more.bytes));
    if (n != all && failed(w, "preadv", n))
        return;
    compare(w, w->buffer, &from);
    memcpy(to.expected, more.expected, to.bytes);
}

static void do_stdio(struct worker *w)
{
    struct range from = range_of(w, STRIPE_BYTES), to = another(w, &from);
    rewind(w->stream);
    size_t n = fwrite(from.at, 1, from.bytes, w->stream);
    if ((n != from.bytes || fflush(w->stream) != 0) && failed(w, "fwrite", 0))
        return;
    rewind(w->stream);
    n = fread(to.at, 1, to.bytes, w->stream);
    if (n != to.bytes && failed(w, "fread", (long)n))
        return;
    memcpy(to.expected, from.expected, to.bytes);
}

/* ---- the device ---------------------------------------------------------- */

/* p[i] = p[i] * 5 + q[i] + s, which is only begun. */
static bool mix(struct worker *w, struct range p, struct range q)
{
    uint32_t n = (uint32_t)p.bytes, s = (uint32_t)draw(w, 256);
    void *arguments[] = {&p.at, &q.at, &n, &s};
    if (!CUDA(w, cuLaunchKernel(kernel_mix, (n + 255) / 256, 1, 1, 256, 1, 1, 0,
                                w->queue, arguments, NULL)))
        return false;
    for (size_t i = 0; i < p.bytes; i++)
        p.expected[i] = (uint8_t)(p.expected[i] * 5 + q.expected[i] + s);
    return true;
}

static void do_launch(struct worker *w)
{
    struct range p = range_of(w, STRIPE_BYTES / 2), q = another(w, &p);
    if (mix(w, p, q) && draw(w, 3) == 0)
        CUDA(w, cuStreamSynchronize(w->queue));
}

static void upload(struct worker *w, struct range r)
{
    make_bytes(w, r.bytes);
    if (CUDA(w, cuMemcpyHtoD((CUdeviceptr)r.at, w->buffer, r.bytes)))
        memcpy(r.expected, w->buffer, r.bytes);
}

static void do_device_copy(struct worker *w)
{
    struct range r = range_of(w, STRIPE_BYTES), to;
    int value = (int)draw(w, 256);
    switch (draw(w, 4)) {
    case 0:
        upload(w, r);
        break;
    case 1:
        if (CUDA(w, cuMemcpyDtoH(w->buffer, (CUdeviceptr)r.at, r.bytes)))
            compare(w, w->buffer, &r);
        break;
    case 2:
        to = another(w, &r);
        if (CUDA(w,
                 cuMemcpyDtoD((CUdeviceptr)to.at, (CUdeviceptr)r.at, r.bytes)))
            memcpy(to.expected, r.expected, r.bytes);
        break;
    default:
        if (CUDA(w, cuMemsetD8((CUdeviceptr)r.at, (uint8_t)value, r.bytes)))
            memset(r.expected, value, r.bytes);
    }
}

/* Any way to write a range. */
static void overwrite(struct worker *w, struct range r)
{
    static void (*const ways[])(struct worker *, struct range) = {
        store, copy_in, set, read_file, read_socket, upload};
    ways[draw(w, sizeof ways / sizeof *ways)](w, r);
}

/* What a kernel reads or writes is written before and behind it: the kernel
 * has what was there when it was launched. */
static void do_launch_between(struct worker *w)
{
    struct range p = range_of(w, STRIPE_BYTES), q = another(w, &p);
    overwrite(w, q);
    if (!mix(w, p, q))
        return;
    overwrite(w, draw(w, 4) ? q : p);
    compare(w, p.at, &p);
}

static void do_overwrite(struct worker *w)
{
    overwrite(w, range_of(w, STRIPE_BYTES));
}

/* An object that comes and goes, among those that others use. */
static void do_short_life(struct worker *w)
{
    uint32_t n = 1 + (uint32_t)draw(w, draw(w, 3) ? 9000 : 300000);
    uint32_t s = (uint32_t)draw(w, 256);
    CUdeviceptr at;
    w->in_cuda = 1;
    CUresult result = cuMemAlloc(&at, n);
    w->in_cuda = 0;
    if (result == CUDA_ERROR_OUT_OF_MEMORY || !good(w, "cuMemAlloc", result))
        return;
    volatile uint8_t *memory = (volatile uint8_t *)at;
    void *arguments[] = {&at, &n, &s};
    if (!CUDA(w, cuLaunchKernel(kernel_fill, (n + 255) / 256, 1, 1, 256, 1, 1,
                                0, w->queue, arguments, NULL)))
        return;
    for (uint32_t i = 0; i < n; i += 1 + (uint32_t)draw(w, 3000)) {
        uint8_t is = memory[i], must = (uint8_t)(i * 7 + s);
        if (is != must && !atomic_load(&killed))
            stress_fail(w, "byte %u of %u new ones is %u, not %u", i, n, is,
                        must);
        memory[i] = (uint8_t)(is + 1);
    }
    CUDA(w, cuMemFree(at));
}

/* ---- one of them --------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(struct worker *);
    int weight;
} operations[] = {
    {"write", do_overwrite, 9},
    {"load", do_load, 4},
    {"memcpy from it", do_copy_out, 2},
    {"memmove within", do_copy_within, 2},
    {"pwrite", do_pwrite, 3},
    {"write to a socket", do_socket_out, 2},
    {"preadv and pwritev", do_vectors, 2},
    {"fread and fwrite", do_stdio, 1},
    {"launch", do_launch, 3},
    {"launch between writes", do_launch_between, 3},
    {"copy by CUDA", do_device_copy, 2},
    {"short life", do_short_life, 1},
};

enum { KINDS = sizeof operations / sizeof *operations };

void operate(struct worker *w)
{
    int all = 0, i = 0;
    for (int k = 0; k < KINDS; k++)
        all += operations[k].weight;
    int left = (int)draw(w, (uint64_t)all);
    while (left >= operations[i].weight)
        left -= operations[i++].weight;
    w->doing = operations[i].name;
    operations[i].run(w);
    w->done++;
}
