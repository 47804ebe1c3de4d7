/*
 * The CPU back end: memory. That of shared objects is mapped twice: where the
 * program has it, which is closed to it while kernels use it, and as the shadow,
 * which is open to them; who gives it back has waited for them. Who gives other
 * memory back waits here, as with a driver.
 */
#include "accel/error.h"
#include "accel/host/ops.h"
#include "accel/host/queue.h"
#include "accel/launched.h"
#include "base/pool.h"
#include "os/arena.h"
#include "os/vm.h"

#include <stdlib.h>
#include <sys/sysinfo.h>

enum { ALIGN = 512 }; /* of memory that a device gives */

int adsm_host_memory_alloc(struct adsm_accel *accel, size_t bytes,
                           struct adsm_daddr *at)
{
    int rc = adsm_accel_usable(accel);
    if (rc != ADSM_OK)
        return rc;
    void *memory = aligned_alloc(ALIGN, (bytes + ALIGN - 1) / ALIGN * ALIGN);
    at->at = (uintptr_t)memory;
    return memory ? ADSM_OK
                  : adsm_accel_fail(ADSM_E_DEVICE_NOMEM,
                                    "the host has no memory left", NULL);
}

int adsm_host_memory_free(struct adsm_accel *accel, struct adsm_daddr at)
{
    int rc = adsm_accel_usable(accel);
    if (rc != ADSM_OK)
        return rc;
    adsm_host_await_all();
    free((void *)(uintptr_t)at.at);
    return ADSM_OK;
}

int adsm_host_memory_info(struct adsm_accel *accel, size_t *free_bytes,
                          size_t *total_bytes)
{
    struct sysinfo info;
    int rc = accel ? adsm_accel_usable(accel) : ADSM_OK;
    if (rc != ADSM_OK)
        return rc;
    if (sysinfo(&info) != 0)
        return adsm_accel_fail(ADSM_E_SYSTEM,
                               "the system does not say how much memory it has",
                               NULL);
    *free_bytes = (info.freeram + info.bufferram) * info.mem_unit;
    *total_bytes = info.totalram * info.mem_unit;
    return ADSM_OK;
}

/* ---- memory of shared objects --------------------------------------------- */

struct shared {
    struct adsm_arena_range shadow;
    uintptr_t host;
    size_t bytes;
};

static struct adsm_pool all_shared = ADSM_POOL_INIT(sizeof(struct shared), 8);

/* Pages come as they are touched, as those of malloc do. */
static int map(struct shared *shared, size_t bytes)
{
    shared->bytes = bytes;
    shared->host = adsm_vm_reserve(bytes, 0, 0);
    if (!shared->host)
        return ADSM_E_NOMEM;
    int rc = adsm_vm_map_again(shared->host, bytes, shared->shadow.shadow);
    if (rc == ADSM_OK)
        rc = adsm_vm_protect(shared->host, bytes, ADSM_PROT_READ_WRITE);
    return rc;
}

static void unmap(struct shared *shared)
{
    if (shared->host)
        adsm_vm_release(shared->host, shared->bytes);
    adsm_arena_free(&shared->shadow);
    adsm_pool_put(&all_shared, shared);
}

int adsm_host_direct_alloc(struct adsm_accel *accel, size_t bytes,
                           struct adsm_direct *direct)
{
    size_t left, total;
    int rc = adsm_host_memory_info(accel, &left, &total);
    if (rc != ADSM_OK)
        return rc;
    if (bytes > total)
        return adsm_accel_fail(ADSM_E_DEVICE_NOMEM,
                               "the host has less memory than that", NULL);
    struct shared *shared = adsm_pool_get(&all_shared);
    if (shared)
        *shared = (struct shared){.host = 0};
    rc = shared ? adsm_arena_alloc(&shared->shadow, bytes) : ADSM_E_NOMEM;
    if (rc == ADSM_OK)
        rc = map(shared, bytes);
    if (rc == ADSM_OK) {
        *direct =
            (struct adsm_direct){.handle = shared,
                                 .host = (uint8_t *)shared->host,
                                 .device = {(uintptr_t)shared->shadow.shadow}};
        return ADSM_OK;
    }
    if (shared)
        unmap(shared);
    return adsm_accel_fail(rc == ADSM_E_NOMEM ? ADSM_E_DEVICE_NOMEM : rc,
                           rc == ADSM_E_LIMIT
                               ? "no mapping is left (vm.max_map_count)"
                               : "the host has no memory left",
                           NULL);
}

int adsm_host_direct_free(struct adsm_accel *accel, void *handle)
{
    int rc = adsm_accel_usable(accel);
    if (rc == ADSM_OK)
        unmap(handle);
    return rc;
}
