/*
 * What the driver says of pointers: one memory of each kind, and addresses that
 * are nobody's, at the beginning, inside, at the last byte and behind it.
 */
#include "answers.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { ATTRIBUTES = 24, IDS_MOST = 256 };

struct memory memories[KINDS_MOST];
int memory_count;

static CUmemoryPool pool;
static CUmodule module;
static CUmemGenericAllocationHandle handle;

static void add(const char *name, CUdeviceptr at, size_t bytes, CUresult result)
{
    char line[96];
    snprintf(line, sizeof line, "make %s", name);
    if (say_result(line, result) && memory_count < KINDS_MOST)
        memories[memory_count++] = (struct memory){name, at, bytes};
}

static CUdeviceptr at_of(const char *name)
{
    for (int i = 0; i < memory_count; i++)
        if (strcmp(memories[i].name, name) == 0)
            return memories[i].at;
    return 0;
}

/* ---- of the device -------------------------------------------------------------- */

static void make_ordinary(void)
{
    static const size_t sizes[] = {1, 100, 4096, 70001, MIB, 5 * MIB};
    static const char *const names[] = {"1 byte",      "100 bytes", "a page",
                                        "70001 bytes", "1 MiB",     "5 MiB"};
    CUdeviceptr at = 0;
    size_t pitch = 0;
    for (int i = 0; i < 6; i++) {
        CUresult result = cuMemAlloc(&at, sizes[i]);
        add(names[i], at, sizes[i], result);
    }
    CUresult result = cuMemAllocPitch(&at, &pitch, 100, 9, 4);
    add("rows", at, pitch * 9, result);
}

static void make_pooled(void)
{
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUdeviceptr at = 0;
    CUresult result = cuMemAllocAsync(&at, 70001, NULL);
    add("pooled", at, 70001, result);
    say_result("pool", cuMemPoolCreate(&pool, &props));
    result = cuMemAllocFromPoolAsync(&at, 3 * MIB, pool, NULL);
    add("own pool", at, 3 * MIB, result);
    say_result("pooled ready", cuStreamSynchronize(NULL));
}

static void make_mapped(void)
{
    const CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const CUmemAccessDesc access = {prop.location,
                                    CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr at = 0;
    CUresult result = cuMemAddressReserve(&at, 8 * MIB, 0, 0, 0);
    add("reserved", at, 8 * MIB, result);
    say_result("create", cuMemCreate(&handle, 4 * MIB, &prop, 0));
    say_result("map", cuMemMap(at, 4 * MIB, 0, handle, 0));
    result = cuMemSetAccess(at, 4 * MIB, &access, 1);
    add("mapped", at, 4 * MIB, result);
}

static void make_globals(void)
{
    CUdeviceptr at = 0;
    size_t bytes = 0;
    say_result("module",
               cuModuleLoadData(
                   &module, ".version 6.0\n.target sm_50\n.address_size 64\n"
                            ".visible .global .align 4 .b8 few[12];\n"
                            ".visible .global .align 8 .b8 many[40000];\n"));
    CUresult result = cuModuleGetGlobal(&at, &bytes, module, "few");
    add("few globals", at, bytes, result);
    result = cuModuleGetGlobal(&at, &bytes, module, "many");
    add("many globals", at, bytes, result);
}

/* ---- of the host ------------------------------------------------------------------ */

static void make_hosts(void)
{
    CUdeviceptr at = 0;
    void *host = NULL;
    CUresult result = cuMemAllocManaged(&at, 70001, CU_MEM_ATTACH_GLOBAL);
    add("managed", at, 70001, result);
    result = cuMemHostAlloc(&host, 8192, CU_MEMHOSTALLOC_DEVICEMAP);
    add("page-locked", (uintptr_t)host, 8192, result);
    host = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    result = cuMemHostRegister(host, 8192, CU_MEMHOSTREGISTER_DEVICEMAP);
    add("registered", (uintptr_t)host, 8192, result);
}

static void make_nothing(void)
{
    static char plain[8192];
    CUdeviceptr gone = 0;
    (void)cuMemAlloc(&gone, 5 * MIB);
    CUresult result = cuMemFree(gone);
    add("zero", 0, 4096, CUDA_SUCCESS);
    add("garbage", 0x123456789000, 4096, CUDA_SUCCESS);
    add("the kernel's", 0xffff800000000000, 4096, CUDA_SUCCESS);
    add("plain", (uintptr_t)plain, sizeof plain, CUDA_SUCCESS);
    add("freed", gone, 5 * MIB, result);
}

void memory_make(void)
{
    make_ordinary();
    make_pooled();
    make_mapped();
    make_globals();
    make_hosts();
    make_nothing();
}

void memory_end(void)
{
    char line[96];
    say_result("unmap", cuMemUnmap(at_of("mapped"), 4 * MIB));
    say_result("release", cuMemRelease(handle));
    say_result("unreserve", cuMemAddressFree(at_of("reserved"), 8 * MIB));
    say_result("unregister",
               cuMemHostUnregister((void *)(uintptr_t)at_of("registered")));
    say_result("free page-locked",
               cuMemFreeHost((void *)(uintptr_t)at_of("page-locked")));
    /* All once more: what is there, what is not any longer, what never was. */
    for (int i = 0; i < memory_count; i++) {
        snprintf(line, sizeof line, "free %s", memories[i].name);
        say_result(line, cuMemFree(memories[i].at));
    }
    for (int i = 0; i < memory_count; i++) {
        snprintf(line, sizeof line, "free %s twice", memories[i].name);
        say_result(line, cuMemFree(memories[i].at));
    }
    say_result("destroy pool", cuMemPoolDestroy(pool));
    say_result("unload", cuModuleUnload(module));
}

/* ---- attributes ------------------------------------------------------------------- */

/* Numbers that only have to differ, in the order in which they came. */
static int id_of(uint64_t number)
{
    static uint64_t ids[IDS_MOST];
    static int count;
    for (int i = 0; i < count; i++)
        if (ids[i] == number)
            return i;
    if (count < IDS_MOST)
        ids[count++] = number;
    return count - 1;
}

static const char *context_name(uint64_t number)
{
    CUcontext context = NULL;
    (void)cuCtxGetCurrent(&context);
    return number == (uintptr_t)context ? "mine" : number ? "other" : "none";
}

static const char *pool_name(uint64_t number)
{
    CUmemoryPool ordinary = NULL;
    (void)cuDeviceGetDefaultMemPool(&ordinary, 0);
    return number == (uintptr_t)pool       ? "mine"
           : number == (uintptr_t)ordinary ? "the device's"
           : number                        ? "other"
                                           : "none";
}

static void say_attribute(const char *name, int which, CUdeviceptr at,
                          const struct memory *of)
{
    unsigned char answer[32];
    uint64_t number;
    memset(answer, 0xa5, sizeof answer);
    CUresult result =
        cuPointerGetAttribute(answer, (CUpointer_attribute)which, at);
    memcpy(&number, answer, sizeof number);
    if (result != CUDA_SUCCESS)
        say(name, "%s", result_name(result));
    else if (which == CU_POINTER_ATTRIBUTE_CONTEXT)
        say(name, "%s", context_name(number));
    else if (which == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE)
        say(name, "%s", pool_name(number));
    else if (which == CU_POINTER_ATTRIBUTE_BUFFER_ID ||
             which == CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID)
        say(name, "number %d", id_of(number));
    else if (which == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
             which == CU_POINTER_ATTRIBUTE_HOST_POINTER ||
             which == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
             which == CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR)
        say(name, "%lld on", (long long)(number - of->at));
    else
        say(name, "%016llx", (unsigned long long)number);
}

static void say_together(const char *name, CUdeviceptr at,
                         const struct memory *of)
{
    CUpointer_attribute which[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_IS_MANAGED};
    unsigned type = 9, managed = 9;
    size_t bytes = 9;
    CUdeviceptr start = 9;
    int ordinal = 9;
    void *answers[] = {&type, &bytes, &start, &ordinal, &managed};
    CUresult result = cuPointerGetAttributes(5, which, answers, at);
    say(name, "%s %u %zu %lld %d %u", result_name(result), type, bytes,
        start > 9 ? (long long)(start - of->at) : -1, ordinal, managed & 255);
}

static void say_range(const char *name, CUdeviceptr at, const struct memory *of)
{
    CUdeviceptr start = of->at;
    size_t bytes = 0;
    CUresult result = cuMemGetAddressRange(&start, &bytes, at);
    say(name, "%s %lld on, %zu", result_name(result),
        (long long)(start - of->at), bytes);
}

static void ask_at(const struct memory *of, const char *where, size_t offset)
{
    char name[96];
    CUdeviceptr at = of->at + offset;
    for (int which = 0; which < ATTRIBUTES; which++) {
        snprintf(name, sizeof name, "attribute %d of %s, %s", which, of->name,
                 where);
        say_attribute(name, which, at, of);
    }
    snprintf(name, sizeof name, "attributes of %s, %s", of->name, where);
    say_together(name, at, of);
    snprintf(name, sizeof name, "range of %s, %s", of->name, where);
    say_range(name, at, of);
}

/* ---- what else is asked of memory -------------------------------------------------- */

static void ask_about(const struct memory *of)
{
    CUmemGenericAllocationHandle found = 0;
    const CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUipcMemHandle ipc;
    CUdeviceptr mapped = 0;
    void *host = (void *)(uintptr_t)of->at;
    unsigned long long access = 9;
    unsigned flags = 9, on = 1;
    int mostly = 9;
    char name[96];
#define ASK(what, call)                                                        \
    (snprintf(name, sizeof name, what " %s", of->name), say_result(name, call))
    ASK("ipc handle of", cuIpcGetMemHandle(&ipc, of->at));
    ASK("ipc close", cuIpcCloseMemHandle(of->at));
    if (ASK("host flags of", cuMemHostGetFlags(&flags, host)))
        say(name, "%x", flags);
    if (ASK("device pointer of", cuMemHostGetDevicePointer(&mapped, host, 0)))
        say(name, "%s", mapped == of->at ? "itself" : "another");
    if (ASK("access to", cuMemGetAccess(&access, &device, of->at)))
        say(name, "%llu", access);
    if (ASK("retain", cuMemRetainAllocationHandle(&found, host)))
        ASK("release", cuMemRelease(found));
    ASK("advise",
        cuMemAdvise(of->at, of->bytes, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    ASK("prefetch", cuMemPrefetchAsync(of->at, of->bytes, device, 0, NULL));
    if (ASK("range attribute of",
            cuMemRangeGetAttribute(&mostly, sizeof mostly,
                                   CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, of->at,
                                   of->bytes)))
        say(name, "%d", mostly);
    ASK("memops in order of",
        cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, of->at));
    ASK("attach",
        cuStreamAttachMemAsync(NULL, of->at, 0, CU_MEM_ATTACH_GLOBAL));
    ASK("ready", cuStreamSynchronize(NULL));
#undef ASK
}

void ask_pointers(void)
{
    for (int i = 0; i < memory_count; i++) {
        const struct memory *of = &memories[i];
        ask_at(of, "first", 0);
        ask_at(of, "middle", of->bytes / 2);
        ask_at(of, "last", of->bytes - 1);
        ask_at(of, "behind", of->bytes);
        ask_about(of);
    }
}
