/*
 * Device memory of every kind, got, used by both sides and given back in any
 * order, beside a copy of what it must hold. Links with the driver alone; run
 * preloaded.
 *
 *   random SEED STEPS THREADS [SLOTS]
 *
 * A thread has so many pieces of memory at most; with one, there is often nothing
 * shared, so that who shares the next one meets calls on their way.
 *
 * Return: 0; 1 with a line for each place that differs, for memory that is shared
 * no more and has not its placeholder back, or for host pages that are left where
 * device memory was
 */
#include "../interpose/victims/victim.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST_SLOTS = 12, MOST_WORDS = 60000, VARIABLE_WORDS = 250 };

enum kind { LINE, PITCH, ASYNC, POOL, MAPPED, VARIABLE, KINDS };

static const char code[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .global .align 4 .b8 first[1000];\n"
    ".visible .global .align 4 .b8 second[1000];\n" VICTIM_STEP;

struct slot {
    enum kind kind;
    CUdeviceptr at; /* 0: empty */
    uint32_t words;
    uint32_t *want;
    size_t mapped; /* MAPPED: bytes of it, in `pieces` allocations */
    unsigned pieces;
    CUmemGenericAllocationHandle handle[2];
};

struct player {
    pthread_t thread;
    uint64_t seed;
    unsigned steps, wrong;
    CUcontext context;
    CUstream stream;
    CUmodule module;
    CUfunction step;
    CUmemoryPool pool;
    unsigned variables; /* of the module that are in slots */
    unsigned slots;
    struct slot slot[MOST_SLOTS];
};

/* All addresses that were device memory, at any time, lie between. */
static _Atomic uintptr_t lowest = UINTPTR_MAX, highest;

static uint32_t draw(struct player *p, uint32_t below)
{
    p->seed ^= p->seed << 13;
    p->seed ^= p->seed >> 7;
    p->seed ^= p->seed << 17;
    return (uint32_t)(p->seed >> 11) % below;
}

static volatile uint32_t *touched(const struct slot *s)
{
    return (volatile uint32_t *)(uintptr_t)s->at;
}

/* ---- memory comes and goes ------------------------------------------------- */

static void note(uintptr_t begin, uintptr_t end)
{
    uintptr_t low = atomic_load(&lowest), high = atomic_load(&highest);
    while (begin < low && !atomic_compare_exchange_weak(&lowest, &low, begin))
        ;
    while (end > high && !atomic_compare_exchange_weak(&highest, &high, end))
        ;
}

static size_t granule(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    size_t bytes;
    CHECK(cuMemGetAllocationGranularity(&bytes, &prop,
                                        CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    return bytes;
}

/* One range of addresses over one or two allocations, side by side. */
static void map(struct player *p, struct slot *s)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc access = {prop.location,
                              CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    size_t piece = granule();
    s->pieces = 1 + draw(p, 2);
    s->mapped = s->pieces * piece;
    CHECK(cuMemAddressReserve(&s->at, s->mapped, 0, 0, 0));
    for (unsigned i = 0; i < s->pieces; i++) {
        CHECK(cuMemCreate(&s->handle[i], piece, &prop, 0));
        CHECK(cuMemMap(s->at + i * piece, piece, 0, s->handle[i], 0));
    }
    CHECK(cuMemSetAccess(s->at, s->mapped, &access, 1));
}

static void unmap(struct slot *s)
{
    CHECK(cuMemUnmap(s->at, s->mapped));
    CHECK(cuMemAddressFree(s->at, s->mapped));
    for (unsigned i = 0; i < s->pieces; i++)
        CHECK(cuMemRelease(s->handle[i]));
}

static void find_variable(struct player *p, struct slot *s)
{
    static const char *const names[] = {"first", "second"};
    size_t bytes;
    unsigned which = p->variables & 1 ? 1 : 0;
    p->variables |= 1u << which;
    CHECK(cuModuleGetGlobal(&s->at, &bytes, p->module, names[which]));
    s->words = VARIABLE_WORDS;
    s->pieces = which;
}

static void get(struct player *p, struct slot *s)
{
    size_t pitch;
    s->kind = draw(p, KINDS);
    s->words = 1 + draw(p, draw(p, 3) ? 2000 : MOST_WORDS);
    if (s->kind == VARIABLE && p->variables == 3)
        s->kind = LINE;
    size_t bytes = s->words * 4ul;
    switch (s->kind) {
    case LINE:
        CHECK(cuMemAlloc(&s->at, bytes));
        break;
    case PITCH:
        CHECK(cuMemAllocPitch(&s->at, &pitch, bytes, 1 + draw(p, 3), 4));
        break;
    case ASYNC:
        CHECK(cuMemAllocAsync(&s->at, bytes, p->stream));
        break;
    case POOL:
        CHECK(cuMemAllocFromPoolAsync(&s->at, bytes, p->pool, p->stream));
        break;
    case MAPPED:
        map(p, s);
        break;
    default:
        find_variable(p, s);
    }
    note(s->at, s->at + bytes);
    /* In the order of the stream that has it. */
    CHECK(cuMemsetD32Async(s->at, 7, s->words, p->stream));
    CHECK(cuStreamSynchronize(p->stream));
    s->want = malloc(s->words * 4ul);
    for (uint32_t i = 0; i < s->words; i++)
        s->want[i] = 7;
}

static void give(struct player *p, struct slot *s)
{
    switch (s->kind) {
    case LINE:
    case PITCH:
        CHECK(cuMemFree(s->at));
        break;
    case ASYNC:
    case POOL:
        CHECK(cuMemFreeAsync(s->at, p->stream));
        break;
    case MAPPED:
        unmap(s);
        break;
    default:
        p->variables &= ~(1u << s->pieces);
    }
    free(s->want);
    *s = (struct slot){0};
}

/* ---- what is done with it -------------------------------------------------- */

static void compare(struct player *p, const struct slot *s,
                    const volatile uint32_t *have, uint32_t first,
                    uint32_t count, const char *how)
{
    for (uint32_t i = first; i < first + count; i++)
        if (have[i] != s->want[i]) {
            printf("kind %d, %u words, word %u by %s: %x, not %x\n", s->kind,
                   s->words, i, how, have[i], s->want[i]);
            p->wrong++;
            return;
        }
}

static void launch(struct player *p, struct slot *s)
{
    uint32_t k = draw(p, 1000);
    void *params[] = {&s->at, &s->words, &k};
    CHECK(cuLaunchKernel(p->step, (s->words + 127) / 128, 1, 1, 128, 1, 1, 0,
                         p->stream, params, NULL));
    for (uint32_t i = 0; i < s->words; i++)
        s->want[i] = s->want[i] * 3 + k;
}

static void expect(struct player *p, const struct slot *s, ssize_t did,
                   size_t bytes, const char *how)
{
    if (did == (ssize_t)bytes)
        return;
    printf("kind %d, %u words: %s of %zu gave %zd (%m)\n", s->kind, s->words,
           how, bytes, did);
    p->wrong++;
}

/* A system call in each direction, by way of a pipe. */
static void pass(struct player *p, struct slot *s, uint32_t first,
                 uint32_t count)
{
    int ends[2];
    count = count < 8000 ? count : 8000; /* what a pipe takes at once */
    size_t bytes = count * 4ul;
    uint32_t *plain = malloc(bytes);
    uint8_t *at = (uint8_t *)(uintptr_t)(s->at + first * 4ul);
    if (pipe(ends) != 0)
        exit(3);
    expect(p, s, write(ends[1], at, bytes), bytes, "write");
    expect(p, s, read(ends[0], plain, bytes), bytes, "plain read");
    compare(p, s, plain - first, first, count, "write");
    for (uint32_t i = 0; i < count; i++)
        s->want[first + i] = plain[i] ^= 0x5a5a;
    expect(p, s, write(ends[1], plain, bytes), bytes, "plain write");
    expect(p, s, read(ends[0], at, bytes), bytes, "read");
    close(ends[0]);
    close(ends[1]);
    free(plain);
}

static void use(struct player *p, struct slot *s)
{
    uint32_t first = draw(p, s->words), count = 1 + draw(p, s->words - first);
    uint32_t *plain;
    switch (draw(p, 7)) {
    case 0:
        for (uint32_t i = first; i < first + count; i++)
            touched(s)[i] = s->want[i] = i * 2654435761u;
        break;
    case 1:
        compare(p, s, touched(s), first, count, "loads");
        break;
    case 2:
        launch(p, s);
        break;
    case 3:
        CHECK(cuMemsetD32Async(s->at + first * 4ul, count, count, p->stream));
        for (uint32_t i = first; i < first + count; i++)
            s->want[i] = count;
        break;
    case 4:
        plain = malloc(s->words * 4ul);
        CHECK(cuMemcpyDtoHAsync(plain, s->at, s->words * 4ul, p->stream));
        CHECK(cuStreamSynchronize(p->stream));
        compare(p, s, plain, 0, s->words, "a copy");
        free(plain);
        break;
    case 5:
        pass(p, s, first, count);
        break;
    default:
        plain = malloc(s->words * 4ul);
        memcpy(plain, (void *)(uintptr_t)s->at, s->words * 4ul);
        compare(p, s, plain, 0, s->words, "memcpy");
        memset(plain, (int)count, s->words * 4ul);
        memcpy(s->want, plain, s->words * 4ul);
        memcpy((void *)(uintptr_t)s->at, plain, s->words * 4ul);
        free(plain);
    }
}

/* The variables end with their module, whatever was adopted with them. */
static void load(struct player *p)
{
    for (unsigned i = 0; i < p->slots; i++)
        if (p->slot[i].at && p->slot[i].kind == VARIABLE)
            give(p, &p->slot[i]);
    CHECK(cuStreamSynchronize(p->stream));
    if (p->module)
        CHECK(cuModuleUnload(p->module));
    CHECK(cuModuleLoadData(&p->module, code));
    CHECK(cuModuleGetFunction(&p->step, p->module, "step"));
}

static void *play(void *player)
{
    struct player *p = player;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CHECK(cuCtxSetCurrent(p->context));
    CHECK(cuStreamCreate(&p->stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemPoolCreate(&p->pool, &props));
    load(p);
    for (unsigned i = 0; i < p->steps; i++) {
        struct slot *s = &p->slot[draw(p, p->slots)];
        if (!s->at)
            get(p, s);
        else if (draw(p, 6) == 0)
            give(p, s);
        else
            use(p, s);
        if (draw(p, 300) == 0)
            load(p);
        if (draw(p, 100) == 0)
            CHECK(cuMemPoolTrimTo(p->pool, 0));
    }
    CHECK(cuStreamSynchronize(p->stream));
    return NULL;
}

/* ---- what is left ---------------------------------------------------------- */

struct mapping {
    uintptr_t begin, end;
    bool is_placeholder, is_ours;
};

/* The next one of /proc/self/maps. */
static bool next_mapping(FILE *maps, struct mapping *map)
{
    char line[512], mode[8];
    if (!fgets(line, sizeof line, maps))
        return false;
    if (sscanf(line, "%lx-%lx %7s", &map->begin, &map->end, mode) != 3)
        exit(3);
    map->is_placeholder = strcmp(mode, "---p") == 0;
    map->is_ours = strstr(line, "/memfd:adsm") != NULL;
    return true;
}

/* Is all of a range under placeholders, with no hole between them? */
static bool is_closed(uintptr_t begin, uintptr_t end)
{
    struct mapping map;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (begin < end && maps && next_mapping(maps, &map)) {
        if (map.end <= begin)
            continue;
        if (map.begin > begin || !map.is_placeholder)
            break;
        begin = map.end;
    }
    if (maps)
        fclose(maps);
    return begin >= end;
}

/* Nothing is shared when a module has gone: what it had is the driver's again,
 * and the device has what the CPU wrote. */
static unsigned check_driver_has(struct player *p)
{
    unsigned open = 0;
    for (unsigned i = 0; i < p->slots; i++) {
        struct slot *s = &p->slot[i];
        if (!s->at)
            continue;
        if (!is_closed(s->at, s->at + s->words * 4ul)) {
            printf("kind %d, %u words: no placeholder\n", s->kind, s->words);
            open++;
        }
        uint32_t *plain = malloc(s->words * 4ul);
        CHECK(cuMemcpyDtoH(plain, s->at, s->words * 4ul));
        compare(p, s, plain, 0, s->words, "the last copy");
        free(plain);
    }
    return open;
}

static void end(struct player *p)
{
    for (unsigned i = 0; i < p->slots; i++)
        if (p->slot[i].at)
            give(p, &p->slot[i]);
    CHECK(cuStreamSynchronize(p->stream));
    CHECK(cuModuleUnload(p->module));
    CHECK(cuMemPoolDestroy(p->pool));
    CHECK(cuStreamDestroy(p->stream));
}

/* Host pages of the runtime's that lie at addresses of device memory are shared
 * between two places; each of those left is in one. */
static unsigned left_pages(void)
{
    struct mapping map;
    unsigned left = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && next_mapping(maps, &map))
        if (map.is_ours && map.begin < highest && lowest < map.end)
            left++;
    if (maps)
        fclose(maps);
    return left;
}

int main(int argc, char **argv)
{
    enum { MOST_THREADS = 16 };
    static struct player players[MOST_THREADS];
    unsigned wrong = 0, threads = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    unsigned slots = argc > 4 ? (unsigned)atoi(argv[4]) : MOST_SLOTS;
    if (slots == 0 || slots > MOST_SLOTS)
        slots = MOST_SLOTS;
    CUcontext context;
    victim_start();
    CHECK(cuCtxGetCurrent(&context));
    for (unsigned i = 0; i < threads && i < MOST_THREADS; i++) {
        players[i] = (struct player){
            .seed = (argc > 1 ? strtoull(argv[1], NULL, 0) : 1) *
                        0x9e3779b97f4a7c15u +
                    i + 1,
            .steps = argc > 2 ? (unsigned)atoi(argv[2]) : 500,
            .slots = slots,
            .context = context};
        if (pthread_create(&players[i].thread, NULL, play, &players[i]) != 0)
            return 3;
    }
    for (unsigned i = 0; i < threads && i < MOST_THREADS; i++)
        pthread_join(players[i].thread, NULL);
    load(&players[0]);
    unsigned open = 0;
    for (unsigned i = 0; i < threads && i < MOST_THREADS; i++)
        open += check_driver_has(&players[i]);
    for (unsigned i = 0; i < threads && i < MOST_THREADS; i++) {
        end(&players[i]);
        wrong += players[i].wrong;
    }
    unsigned left = left_pages();
    printf("%u wrong, %u open, %u left\n", wrong, open, left);
    return wrong || open || left;
}
