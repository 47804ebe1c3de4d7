/*
 * Each kind of device memory below pages of the CPU's own: what lies at its
 * addresses, what the driver says of it, and what is left of the pages when the
 * memory goes and comes again. Nothing of this is relied on yet.
 */
#include "probe.h"

#include <string.h>
#include <sys/mman.h>

#define SMALL ((size_t)64 << 10)
#define LARGE (16 * MIB)

/* Its pages are those it has a part of, and hold what was copied last. */
struct piece {
    const char *what;
    struct place place;
    uint32_t seed;
};
#define PIECE(name, size)                                                      \
    {                                                                          \
        .what = (name), .place = {.bytes = (size) }                            \
    }

/* Ask whether something can be done. */
#define TRIED(question, done)                                                  \
    (ask(question, NULL), (done) && answer_plain(true))

static void ask_of(const struct piece *piece, const char *format,
                   const char *event)
{
    char question[160];
    snprintf(question, sizeof question, format, piece->what, event);
    ask(question, NULL);
}

static const char *answer_side(const struct place *place)
{
    struct mapping first;
    const char *side = host_side(place->device, place->bytes, &first);
    answer(side, "%#zx-%#zx %s %s", (size_t)first.begin, (size_t)first.end,
           first.mode, first.name);
    return side;
}

/* What is asked of a pointer that is found somewhere, in the middle. */
static void answer_attributes(const struct place *place)
{
    enum { CONTEXT, TYPE, DEVICE, START, BYTES, MANAGED, IS_MAPPED, POOL };
    static const int which[] = {1, 2, 9, 11, 12, 8, 13, 17, 16};
    enum { COUNT = sizeof which / sizeof *which, ACCESS = COUNT - 1 };
    uint64_t value[COUNT] = {0}, data[COUNT];
    char text[160];
    for (int i = 0; i < COUNT; i++)
        data[i] = P(&value[i]);
    if (!DID("cuPointerGetAttributes", COUNT, P(which), P(data),
             place->device + place->bytes / 2))
        return;
    bool whole = value[START] == place->device && value[BYTES] == place->bytes;
    snprintf(text, sizeof text, "type %d, device %d, %s, %s, %s, access %d%s%s",
             (int)value[TYPE], (int)value[DEVICE],
             whole ? "as it was made" : "another range",
             value[MANAGED] ? "managed" : "not managed",
             value[IS_MAPPED] ? "mapped" : "not mapped", (int)value[ACCESS],
             value[CONTEXT] ? ", a context" : "",
             value[POOL] ? ", a pool" : "");
    answer(value[TYPE] ? text : "it is unknown", "%#zx, %zu bytes",
           (size_t)value[START], (size_t)value[BYTES]);
}

static bool cover(struct piece *piece)
{
    struct place *place = &piece->place;
    uintptr_t from = place->device / PAGE * PAGE;
    uintptr_t end = (place->device + place->bytes + PAGE - 1) / PAGE * PAGE;
    void *at = (void *)from;
    place->shadow = file_memory(end - from, &place->fd);
    place->host = at;
    return place->shadow && mmap(at, end - from, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_FIXED, place->fd, 0) == at;
}

static void answer_left(const struct piece *piece)
{
    const struct place *place = &piece->place;
    struct mapping first;
    if (strcmp(host_side(place->device, place->bytes, &first), CPU_PAGES) != 0)
        answer_side(place);
    else
        answer(CPU_PAGES, "%zu words are wrong",
               wrong(place->host, place->bytes, piece->seed, false));
}

static bool use(struct piece *piece)
{
    ask_of(piece, "do copies and kernels use %s there?%s", "");
    return device_right(&piece->place, ++piece->seed);
}

/* From the making on. */
static bool use_covered(struct piece *piece)
{
    ask_of(piece, "what lies at %s?%s", "");
    answer_side(&piece->place);
    ask_of(piece, "what does the driver say of %s?%s", "");
    answer_attributes(&piece->place);
    ask_of(piece, "can the CPU's pages lie over %s?%s", "");
    if (!answer_if(cover(piece), "%#zx", (size_t)piece->place.device) ||
        !use(piece))
        return false;
    ask_of(piece, "what lies at %s %s?", "then");
    answer_left(piece);
    ask_of(piece, "what does the driver say of %s %s?", "then");
    answer_attributes(&piece->place);
    return true;
}

static void after(const struct piece *piece, const char *event)
{
    ask_of(piece, "what lies at %s after %s?", event);
    answer_left(piece);
    ask_of(piece, "what does the driver say of %s after %s?", event);
    answer_attributes(&piece->place);
}

/* Made again: whether below the pages of before. */
static bool again(struct piece *piece, uint64_t before)
{
    ask_of(piece, "does %s come again at the same address?%s", "");
    answer_if(piece->place.device == before, "%#zx",
              (size_t)piece->place.device);
    ask_of(piece, "what lies at %s %s?", "that came again");
    answer_side(&piece->place);
    return use(piece);
}

static bool pool_alloc(uint64_t pool, struct piece *piece)
{
    return DID("cuMemAllocFromPoolAsync", P(&piece->place.device),
               piece->place.bytes, pool, stream) &&
           DID("cuStreamSynchronize", stream);
}

static bool pool_free(const struct piece *piece)
{
    return DID("cuMemFreeAsync", piece->place.device, stream) &&
           DID("cuStreamSynchronize", stream);
}

static bool pool_make(uint64_t *pool)
{
    struct {
        struct memory_prop memory;
        char rest[64];
    } props = {.memory = {.type = 1, .location = 1, .device = device}};
    return DID("cuMemPoolCreate", P(pool), P(&props));
}

/* Return: whether it is there again. */
static bool pool_again(uint64_t pool, struct piece *piece)
{
    uint64_t before = piece->place.device;
    return TRIED("can so much be had again?", pool_alloc(pool, piece)) &&
           again(piece, before);
}

void probe_pool(void)
{
    struct piece large = PIECE("16 MiB of a pool", LARGE);
    struct piece small = PIECE("64 KiB of a pool", SMALL);
    struct place plain = {.bytes = 4 * MIB};
    uint64_t pool = 0;
    if (!TRIED("can a pool be made?", pool_make(&pool)) ||
        !TRIED("can memory be had of it?",
               pool_alloc(pool, &small) && pool_alloc(pool, &large)) ||
        !use_covered(&small) || !use_covered(&large) ||
        !TRIED("can it be trimmed?", DID("cuMemPoolTrimTo", pool, 0)))
        return;
    after(&large, "a trim while it is in use");
    if (!TRIED("can it be freed?", pool_free(&small) && pool_free(&large)))
        return;
    after(&small, "cuMemFreeAsync");
    after(&large, "cuMemFreeAsync");
    if (!pool_again(pool, &small) || !pool_again(pool, &large) ||
        !TRIED("can it be freed and trimmed?",
               pool_free(&small) && pool_free(&large) &&
                   DID("cuMemPoolTrimTo", pool, 0)))
        return;
    after(&small, "a trim");
    after(&large, "a trim");
    if (!pool_again(pool, &large) ||
        !TRIED("can the pool be destroyed?",
               pool_free(&large) && DID("cuMemPoolDestroy", pool)))
        return;
    after(&small, "the pool's end");
    after(&large, "the pool's end");
    ask("what lies at memory of the device's own pool?", NULL);
    if (DID("cuMemAllocAsync", P(&plain.device), plain.bytes, stream))
        answer_side(&plain);
}

void probe_mapped(void)
{
    struct piece piece = PIECE("16 MiB that are mapped", LARGE);
    uint64_t base = 0, memory = 0, *at = &piece.place.device;
    if (!TRIED("can 48 MiB of addresses be reserved?",
               DID("cuMemAddressReserve", P(&base), 3 * LARGE)))
        return;
    *at = base + LARGE;
    ask("what lies at reserved addresses?", NULL);
    answer_side(&piece.place);
    ask("what does the driver say of them?", NULL);
    answer_attributes(&piece.place);
    if (!TRIED("can memory be mapped in the middle?",
               map_device(&piece.place, &memory)) ||
        !use_covered(&piece) ||
        !TRIED("can it be unmapped?", unmap_device(&piece.place, memory)))
        return;
    after(&piece, "cuMemUnmap");
    if (!TRIED("can other memory be mapped there?",
               map_device(&piece.place, &memory)) ||
        !again(&piece, *at) ||
        !TRIED("can it be unmapped and the addresses given back?",
               unmap_device(&piece.place, memory) &&
                   DID("cuMemAddressFree", base, 3 * LARGE)))
        return;
    after(&piece, "cuMemAddressFree");
    *at = base;
    ask("what lies at the addresses before it then?", NULL);
    answer_side(&piece.place);
    ask("what lies at the addresses that are reserved next?", NULL);
    if (DID("cuMemAddressReserve", P(&piece.place.device), LARGE, 0, base))
        answer_side(&piece.place);
}

static bool load(uint64_t *module, struct piece *variable,
                 struct piece *constant)
{
    static const char text[] =
        ".version 6.0\n.target sm_70\n.address_size 64\n"
        ".visible .global .align 256 .b8 variable[65536];\n"
        ".visible .const .align 4 .b8 constant[64];\n";
    size_t bytes = 0;
    return DID("cuModuleLoadData", P(module), P(text)) &&
           DID("cuModuleGetGlobal_v2", P(&variable->place.device), P(&bytes),
               *module, P("variable")) &&
           DID("cuModuleGetGlobal_v2", P(&constant->place.device), P(&bytes),
               *module, P("constant"));
}

void probe_variable(void)
{
    struct piece piece = PIECE("a variable of 64 KiB", SMALL);
    struct piece constant = PIECE("a constant", 64);
    struct piece twin = piece, rest = constant;
    uint64_t module = 0, second = 0, beside = 0, before;
    if (!TRIED("can a module be loaded?", load(&module, &piece, &constant)) ||
        !TRIED("can it be loaded twice?", load(&second, &twin, &rest)))
        return;
    ask("what do variables of two modules share?", NULL);
    answer_shared(piece.place.device, twin.place.device);
    ask("what do a variable and an allocation of 512 bytes share?", NULL);
    if (DID("cuMemAlloc_v2", P(&beside), 512))
        answer_shared(piece.place.device, beside);
    ask("what lies at a constant?", NULL);
    answer_side(&constant.place);
    ask("what does the driver say of a constant?", NULL);
    answer_attributes(&constant.place);
    if (!use_covered(&piece) ||
        !TRIED("can the module be unloaded?", DID("cuModuleUnload", module)))
        return;
    after(&piece, "cuModuleUnload");
    before = piece.place.device;
    if (TRIED("can the module be loaded again?",
              load(&module, &piece, &constant)))
        (void)again(&piece, before);
}

static bool make(struct piece *piece)
{
    return DID("cuMemAlloc_v2", P(&piece->place.device), piece->place.bytes);
}

void probe_chunk(void)
{
    struct piece a = PIECE("64 KiB", SMALL), b = a;
    struct place rest = {.bytes = PAGE};
    uint64_t before;
    if (!TRIED("can 64 KiB be had twice?", make(&a) && make(&b)) ||
        !use_covered(&a))
        return;
    rest.device = a.place.device / SPAN * SPAN + SPAN - PAGE;
    ask("what does the driver say of the last page of their 2 MiB?", NULL);
    answer_attributes(&rest);
    if (!TRIED("can one be freed?", DID("cuMemFree_v2", a.place.device)))
        return;
    after(&a, "cuMemFree");
    before = a.place.device;
    if (!TRIED("can it be had again?", make(&a)) || !again(&a, before) ||
        !TRIED("can both be freed?", DID("cuMemFree_v2", a.place.device) &&
                                         DID("cuMemFree_v2", b.place.device)))
        return;
    after(&a, "cuMemFree of both");
    before = a.place.device;
    if (TRIED("can 64 KiB be had again?", make(&a)))
        (void)again(&a, before);
}

void probe_free(void)
{
    char question[80];
    for (size_t bytes = MIB; bytes <= 64 * MIB; bytes *= 2) {
        struct piece piece = PIECE("", bytes);
        snprintf(question, sizeof question,
                 "what lies at %zu MiB below the CPU's pages after cuMemFree?",
                 bytes / MIB);
        ask(question, NULL);
        if (!make(&piece) || !cover(&piece) ||
            !DID("cuMemFree_v2", piece.place.device))
            return;
        answer_side(&piece.place);
        snprintf(question, sizeof question,
                 "what lies at the next allocation of %zu MiB?", bytes / MIB);
        ask(question, NULL);
        if (!make(&piece))
            return;
        answer_side(&piece.place);
    }
}

void probe_reset(void)
{
    struct piece pieces[] = {PIECE("64 KiB", SMALL), PIECE("64 MiB", 64 * MIB),
                             PIECE("16 MiB of a pool", LARGE),
                             PIECE("a variable of 64 KiB", SMALL)};
    struct piece constant = PIECE("", 64);
    uint64_t pool = 0, module = 0;
    if (!TRIED("can memory of each kind be had?",
               make(&pieces[0]) && make(&pieces[1]) && pool_make(&pool) &&
                   pool_alloc(pool, &pieces[2]) &&
                   load(&module, &pieces[3], &constant)))
        return;
    ask("can the CPU's pages lie over all?", NULL);
    for (int i = 0; i < 4; i++)
        if (!cover(&pieces[i]))
            return;
    answer_plain(true);
    if (!WORKS("can the context be reset?", NULL, "cuDevicePrimaryCtxReset_v2",
               (uint64_t)device))
        return;
    for (int i = 0; i < 4; i++) {
        ask_of(&pieces[i], "what lies at %s %s?", "then");
        answer_side(&pieces[i].place);
        ask_of(&pieces[i], "what does the driver say of %s %s?", "then");
        answer_attributes(&pieces[i].place);
    }
}

/* What is no device memory alone, and how it is told apart. */
void probe_attributes(void)
{
    struct place host = {.bytes = SMALL}, managed = host, plain = host;
    struct place freed = host, pitched = {.bytes = 1024 * 64};
    size_t pitch = 0;
    int fd;
    ask("what does the driver say of cuMemAllocPitch's memory?", NULL);
    if (DID("cuMemAllocPitch_v2", P(&pitched.device), P(&pitch), 1024, 64, 4))
        answer_attributes(&pitched);
    ask("what does the driver say of cuMemHostAlloc's memory?", NULL);
    if (DID("cuMemHostAlloc", P(&host.device), host.bytes, 0))
        answer_attributes(&host);
    ask("what does the driver say of managed memory?", NULL);
    if (DID("cuMemAllocManaged", P(&managed.device), managed.bytes, 1))
        answer_attributes(&managed);
    ask("what does the driver say of the host's memory?", NULL);
    plain.device = P(file_memory(plain.bytes, &fd));
    if (plain.device)
        answer_attributes(&plain);
    ask("what does the driver say of it, registered?", NULL);
    if (DID("cuMemHostRegister_v2", plain.device, plain.bytes, 0))
        answer_attributes(&plain);
    ask("what does the driver say of memory that was freed?", NULL);
    if (DID("cuMemAlloc_v2", P(&freed.device), freed.bytes) &&
        DID("cuMemFree_v2", freed.device))
        answer_attributes(&freed);
}
