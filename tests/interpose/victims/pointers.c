/*
 * What the driver says of the addresses that it gave, and of those beside
 * them; what it answers to calls for memory that a program maps by itself.
 */
#include "victim.h"

enum { EACH = 5, KINDS = 9, FREED = 3 };

static const size_t sizes[KINDS] = {1,     4,      511,     513,    4096,
                                    70001, 300000, 2 << 20, 5 << 20};
static CUdeviceptr at[KINDS][EACH];
static cuuint64_t ids[KINDS * EACH * 2];
static int id_count;

static bool is_new(cuuint64_t id)
{
    for (int i = 0; i < id_count; i++)
        if (ids[i] == id)
            return false;
    ids[id_count++] = id;
    return true;
}

/* Attributes that the context decides, as results; addresses from the base. */
static void attribute(int which, CUdeviceptr where, CUdeviceptr base)
{
    unsigned char answer[16];
    cuuint64_t number;
    CUcontext context;
    memset(answer, 0xa5, sizeof answer);
    CUresult result =
        cuPointerGetAttribute(answer, (CUpointer_attribute)which, where);
    memcpy(&number, answer, 8);
    printf(" %d:%d", which, result);
    if (result != CUDA_SUCCESS)
        return;
    switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        CHECK(cuCtxGetCurrent(&context));
        printf(" %s", memcmp(answer, &context, 8) ? "other" : "mine");
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        printf(" %lld", (long long)(number - base));
        break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        break;
    default:
        for (int i = 0; i < 9; i++)
            printf(" %02x", answer[i]);
    }
}

static void attributes(CUdeviceptr where, CUdeviceptr base)
{
    for (int which = 0; which < 25; which++)
        attribute(which, where, base);
    putchar('\n');
}

/* All at once, which does not fail for an address of nothing. */
static void together(CUdeviceptr where, CUdeviceptr base)
{
    CUpointer_attribute which[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_HOST_POINTER};
    unsigned type = 9;
    size_t bytes = 9;
    CUdeviceptr start = 9;
    int ordinal = 9;
    void *pointer = &type;
    void *answers[] = {&type, &bytes, &start, &ordinal, &pointer};
    CUresult result = cuPointerGetAttributes(5, which, answers, where);
    printf("together %d %u %zu %lld %d %d\n", result, type, bytes,
           start ? (long long)(start - base) : -1, ordinal, pointer == NULL);
}

static void range(CUdeviceptr where, CUdeviceptr base)
{
    CUdeviceptr start = base;
    size_t bytes = 0;
    CUresult result = cuMemGetAddressRange(&start, &bytes, where);
    printf("range %d %lld %zu\n", result, (long long)(start - base), bytes);
}

static void identify(void)
{
    cuuint64_t id, again;
    for (int i = 0; i < KINDS; i++)
        for (int k = 0; k < EACH; k++) {
            CHECK(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID,
                                        at[i][k]));
            CHECK(cuPointerGetAttribute(&again, CU_POINTER_ATTRIBUTE_BUFFER_ID,
                                        at[i][k] + sizes[i] - 1));
            printf("%d%d", is_new(id), id == again);
        }
    putchar('\n');
}

/* What lies there next is something else. */
static void replace(void)
{
    for (int i = 0; i < KINDS; i++) {
        CHECK(cuMemFree(at[i][FREED]));
        range(at[i][FREED], at[i][FREED]);
        together(at[i][FREED], at[i][FREED]);
        CHECK(cuMemAlloc(&at[i][FREED], sizes[i]));
    }
    for (int i = 0; i < KINDS; i++) {
        cuuint64_t id;
        CHECK(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID,
                                    at[i][FREED]));
        printf("%d", is_new(id));
    }
    putchar('\n');
}

/* Memory of cuMemAlloc is not the program's to map; results only. */
static void mapping_calls(CUdeviceptr where, size_t bytes)
{
    CUmemLocation location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemAccessDesc access = {location, CU_MEM_ACCESS_FLAGS_PROT_READ};
    CUmemGenericAllocationHandle handle = 0;
    unsigned long long flags = 0;
    printf("map %d", cuMemRetainAllocationHandle(&handle, (void *)where));
    printf(" %d", cuMemGetAccess(&flags, &location, where));
    printf(" %d", cuMemSetAccess(where, bytes, &access, 1));
    printf(" %d", cuMemUnmap(where, bytes));
    printf(" %d", cuMemAddressFree(where, bytes));
    printf(" %d", cuMemMap(where, bytes, 0, handle, 0));
    printf(" %d", cuMemHostUnregister((void *)where));
    printf(" %d", cuMemFreeHost((void *)where));
    printf(" %d",
           cuMemAdvise(where, bytes, CU_MEM_ADVISE_SET_READ_MOSTLY, location));
    printf(" %d\n", cuMemPrefetchAsync(where, bytes, location, 0, NULL));
}

/* What the device has is no memory of the host's. */
static void register_call(CUdeviceptr where)
{
    printf("register %d\n",
           cuMemHostRegister((void *)where, 4096, 0) != CUDA_SUCCESS);
}

int main(void)
{
    static unsigned char host[5 << 20];
    victim_start();
    for (int i = 0; i < KINDS; i++)
        for (int k = 0; k < EACH; k++) {
            CHECK(cuMemAlloc(&at[i][k], sizes[i]));
            CHECK(
                cuMemsetD8(at[i][k], (unsigned char)(i * EACH + k), sizes[i]));
            if (at[i][k] % 512)
                printf("%zu bytes at %llx\n", sizes[i],
                       (unsigned long long)at[i][k]);
        }
    for (int i = 0; i < KINDS; i++) {
        size_t inside[] = {0, sizes[i] / 2, sizes[i] - 1};
        for (int k = 0; k < 3; k++) {
            attributes(at[i][1] + inside[k], at[i][1]);
            together(at[i][1] + inside[k], at[i][1]);
            range(at[i][1] + inside[k], at[i][1]);
        }
    }
    attributes(0, 0);
    together((CUdeviceptr)host, (CUdeviceptr)host);
    identify();
    replace();
    for (int i = 0; i < KINDS; i++) {
        mapping_calls(at[i][2], sizes[i]);
        register_call(at[i][2]);
        CHECK(cuMemcpyDtoH(host, at[i][2], sizes[i]));
        printf("%llx\n", (unsigned long long)victim_hash(host, sizes[i]));
    }
    return 0;
}
