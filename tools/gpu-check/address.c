/*
 * Device memory and pages of the CPU's own at the same addresses: in a reserved
 * range (window), over an allocation of the driver's (overlay).
 */
#include "probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *file_memory(size_t bytes, int *fd)
{
    *fd = memfd_create(FILE_NAME, MFD_CLOEXEC);
    if (*fd < 0 || ftruncate(*fd, (off_t)bytes) != 0) {
        answer("no memory", "memfd_create: %s", strerror(errno));
        return NULL;
    }
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (at == MAP_FAILED)
        answer("no memory", "mmap: %s", strerror(errno));
    return at == MAP_FAILED ? NULL : at;
}

/* A line of /proc/self/maps that is in the way or NULL; *mapped: any is. */
static const char *in_the_way(uint64_t at, size_t bytes, bool *mapped)
{
    static struct mapping mapping;
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    *mapped = false;
    while (!found && mapping_next(maps, &mapping)) {
        if (mapping.end <= at || mapping.begin >= at + bytes)
            continue;
        *mapped = true;
        found = !mapping_is_placeholder(&mapping);
    }
    if (maps)
        fclose(maps);
    return found ? mapping.line : NULL;
}

static void *address_of(const struct place *place)
{
    return (void *)(uintptr_t)place->device;
}

static bool map_pages(struct place *place)
{
    return mmap(address_of(place), place->bytes, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_FIXED, place->fd, 0) == address_of(place);
}

/* The host side of a range is nobody's, and pages can be mapped there. */
static bool cover(struct place *place)
{
    ask("is the range unmapped or PROT_NONE on the host?", "yes");
    const char *line =
        in_the_way(place->device, place->bytes, &place->was_mapped);
    answer_if(!line, "%s",
              line                ? line
              : place->was_mapped ? "PROT_NONE"
                                  : "unmapped");
    if (line)
        return false;
    ask("can the CPU's pages be mapped there?", "yes");
    void *got = mmap(address_of(place), place->bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    const char *first = got == MAP_FAILED ? strerror(errno) : "free";
    place->host = address_of(place);
    return answer_if(map_pages(place), "MAP_FIXED_NOREPLACE: %s", first);
}
/* As the range was before: nothing, or a placeholder. */
static bool uncover(struct place *place)
{
    if (!place->was_mapped)
        return munmap(place->host, place->bytes) == 0;
    return mmap(place->host, place->bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                0) == place->host;
}

static void fill(uint32_t *words, size_t bytes, uint32_t seed)
{
    for (size_t i = 0; i < bytes / 4; i++)
        words[i] = (uint32_t)i * 2654435761u + seed;
}

size_t wrong(const uint32_t *words, size_t bytes, uint32_t seed, bool kernel)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes / 4; i++) {
        uint32_t word = (uint32_t)i * 2654435761u + seed;
        if (kernel && i % (PAGE / 4) == 0)
            word = 3 * word + 7;
        count += words[i] != word;
    }
    return count;
}

/* Whether the CPU's pages came through what the driver did below them; it may
 * have taken them away, so the kernel is the first to read there. */
static void answer_pages(const struct place *place, uint32_t seed)
{
    bool there = pwrite(place->fd, place->host, 1, (off_t)place->bytes) == 1;
    if (!there)
        answer_if(true, "the pages are gone");
    else
        answer_if(true, "%zu words of the pages are wrong",
                  wrong(place->host, place->bytes, seed, false));
}

bool device_right(const struct place *place, uint32_t seed)
{
    uint32_t *back = calloc(1, place->bytes);
    fill(place->shadow, place->bytes, seed);
    bool done =
        DID("cuMemcpyHtoD_v2", place->device, P(place->shadow), place->bytes) &&
        driver_kernel(place->device, place->bytes) &&
        DID("cuMemcpyDtoH_v2", P(back), place->device, place->bytes);
    size_t words = done ? wrong(back, place->bytes, seed, true) : 0;
    if (done)
        answer_if(words == 0, "%zu words are wrong", words);
    free(back);
    return done;
}

static bool sharing(struct place *place)
{
    static const struct {
        int prot;
        const char *question;
    } closed[] = {
        {PROT_NONE, "do they when the CPU's pages are PROT_NONE?"},
        {PROT_READ, "do they when the CPU's pages are read-only?"},
        {PROT_READ | PROT_WRITE, "do they when the CPU's pages are open?"},
    };
    ask("do copies and kernels use the device's memory there?", "yes");
    if (!device_right(place, 1))
        return false;
    ask("does the CPU keep its own pages there?", "yes");
    size_t words = wrong(place->host, place->bytes, 1, false);
    place->host[7] = 77;
    answer_if(words == 0 && place->shadow[7] == 77,
              "%zu words are wrong, a write is %s", words,
              place->shadow[7] == 77 ? "seen" : "lost");
    for (uint32_t i = 0; i < 3; i++) {
        ask(closed[i].question, "yes");
        if (mprotect(place->host, place->bytes, closed[i].prot) != 0)
            answer("mprotect fails", "%s", strerror(errno));
        else if (!device_right(place, 2 + i))
            return false;
    }
    return true;
}

/* What the driver says of an address that has pages of the CPU's, too. */
static void attributes(const struct place *place)
{
    unsigned type = 0, managed = 0;
    uint64_t base = 0, bytes = 0;
    ask("which memory does the driver see at the addresses?", "device");
    if (DID("cuPointerGetAttribute", P(&type), POINTER_MEMORY_TYPE,
            place->device))
        answer(type == 2 ? "device" : "other", "type %u", type);
    ask("is it managed memory?", "no");
    if (DID("cuPointerGetAttribute", P(&managed), POINTER_IS_MANAGED,
            place->device))
        answer_plain(managed & 255);
    ask("does cuMemGetAddressRange know it as it was made?", NULL);
    if (DID("cuMemGetAddressRange_v2", P(&base), P(&bytes),
            place->device + PAGE))
        answer_if(base == place->device && bytes == place->bytes,
                  "%#zx, %zu bytes", (size_t)base, (size_t)bytes);
}

bool map_device(struct place *place, uint64_t *handle)
{
    struct memory_prop memory = {.type = 1, .location = 1, .device = device};
    const int access[3] = {1, device, 3}; /* location, read and write */
    return DID("cuMemCreate", P(handle), place->bytes, P(&memory)) &&
           DID("cuMemMap", place->device, place->bytes, 0, *handle) &&
           DID("cuMemSetAccess", place->device, place->bytes, P(access), 1);
}

bool unmap_device(struct place *place, uint64_t handle)
{
    return DID("cuMemUnmap", place->device, place->bytes) &&
           DID("cuMemRelease", handle);
}

/* Return: bytes that could be reserved. As libadsm does, less where much is
 * not to be had. */
static size_t reserve(uint64_t *at)
{
    size_t bytes = 64 * 1024 * MIB;
    bool mapped;
    ask("can addresses be reserved?", "yes");
    int result = CU("cuMemAddressReserve", P(at), bytes);
    while (result != 0 && bytes > 64 * MIB)
        result = CU("cuMemAddressReserve", P(at), bytes /= 2);
    if (!did(result, "cuMemAddressReserve"))
        return 0;
    answer_if(true, "%zu MiB at %#zx", bytes / MIB, (size_t)*at);
    ask("are they aligned to 2 MiB, and below 2^47?", "yes");
    answer_plain(*at % SPAN == 0 && (*at + bytes) >> 47 == 0);
    ask("are all unmapped or PROT_NONE on the host?", "yes");
    const char *line = in_the_way(*at, bytes, &mapped);
    answer_if(!line, "%s", line ? line : "");
    return bytes;
}

/* What libadsm does not do: device memory that is mapped and unmapped while the
 * CPU has its pages there. */
static void window_below(struct place *place)
{
    uint64_t handle = 0;
    ask("can device memory be mapped below pages of the CPU?", NULL);
    if (!DID("cuMemAddressReserve", P(&place->device), place->bytes))
        return;
    place->host = address_of(place);
    if (!map_pages(place) || !map_device(place, &handle) ||
        !device_right(place, 9))
        return;
    ask("can it be unmapped below pages of the CPU?", NULL);
    if (unmap_device(place, handle))
        answer_pages(place, 9);
}

static bool window_once(struct place *place)
{
    uint64_t handle = 0;
    ask("can device memory be mapped there?", "yes");
    if (!map_device(place, &handle))
        return false;
    answer_plain(true);
    if (!cover(place) || !sharing(place))
        return false;
    attributes(place);
    ask("can it be unmapped when the CPU's pages are gone?", "yes");
    if (!uncover(place) || !unmap_device(place, handle))
        return false;
    answer_plain(true);
    ask("is the address usable again?", "yes");
    return map_device(place, &handle) && device_right(place, 8) &&
           unmap_device(place, handle);
}

void probe_window(void)
{
    struct place place = {.bytes = SPAN};
    size_t bytes = reserve(&place.device);
    place.shadow = bytes ? file_memory(SPAN, &place.fd) : NULL;
    if (place.shadow && window_once(&place) &&
        WORKS("can the addresses be given back?", "yes", "cuMemAddressFree",
              place.device, bytes))
        window_below(&place);
}

bool place_overlay(struct place *place, size_t bytes)
{
    place->bytes = bytes;
    place->shadow = file_memory(bytes, &place->fd);
    ask("is there device memory, from a page on, below 2^47?", "yes");
    if (!place->shadow || !DID("cuMemAlloc_v2", P(&place->device), bytes))
        return false;
    answer_if(place->device % PAGE == 0 && (place->device + bytes) >> 47 == 0,
              "%zu MiB at %#zx", bytes / MIB, (size_t)place->device);
    return cover(place);
}

/* Freed, allocated, and freed with the CPU's pages in place, which libadsm does
 * not do. */
static void overlay_again(struct place *place)
{
    uint64_t before = place->device;
    (void)uncover(place);
    if (!WORKS("can it be freed when the CPU's pages are gone?", "yes",
               "cuMemFree_v2", before))
        return;
    ask("does the next allocation have the same address?", NULL);
    if (!DID("cuMemAlloc_v2", P(&place->device), place->bytes))
        return;
    answer_if(place->device == before, "%#zx", (size_t)place->device);
    if (!cover(place))
        return;
    ask("do copies and kernels use its memory, too?", "yes");
    if (!device_right(place, 8))
        return;
    ask("can it be freed below pages of the CPU?", NULL);
    if (DID("cuMemFree_v2", place->device))
        answer_pages(place, 8);
}

static void overlay(size_t bytes)
{
    struct place place = {0};
    if (!place_overlay(&place, bytes) || !sharing(&place))
        return;
    attributes(&place);
    overlay_again(&place);
}

void probe_overlay(void)
{
    overlay(SPAN);
}

void probe_overlay_large(void)
{
    overlay(64 * MIB);
}

void answer_shared(uint64_t a, uint64_t b)
{
    answer(a / PAGE == b / PAGE   ? "a page"
           : a / SPAN == b / SPAN ? "2 MiB"
                                  : "nothing",
           "%#zx, %#zx", (size_t)a, (size_t)b);
}

void probe_small(void)
{
    static const size_t sizes[] = {512, 4096, 65536};
    char question[80];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t a = 0, b = 0;
        snprintf(question, sizeof question,
                 "what do two allocations of %zu bytes share?", sizes[i]);
        ask(question, NULL);
        if (!DID("cuMemAlloc_v2", P(&a), sizes[i]) ||
            !DID("cuMemAlloc_v2", P(&b), sizes[i]))
            return;
        answer_shared(a, b);
    }
}
