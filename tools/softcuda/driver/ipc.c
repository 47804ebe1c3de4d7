/*
 * Owns: memory of other processes: handles of allocations, and what was opened
 * by them.
 * Does not own: the block table (memory.c).  Lock: sc_memory_lock.
 *
 * A handle says in which file of which process the memory lies: the 2 MiB pages
 * around the allocation, as hardware shares them. Who opens it gets the file by
 * way of /proc, maps the pages at addresses of its own, and keeps the file: the
 * memory outlives the process that allocated it, not its own cuMemFree.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/addresses.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/ipc.h"
#include "driver/memory.h"
#include "driver/sched.h"

#define MAGIC 0x6370692d61647563ull

struct handle {
    uint64_t magic, device, inode; /* of the file */
    int32_t pid, file, ordinal, reserved;
    uint64_t offset, bytes; /* in it */
    uint64_t id;
};
_Static_assert(sizeof(struct handle) <= CU_IPC_HANDLE_SIZE, "it has to fit");

/* under sc_memory_lock; the place of one is its number in the device process */
static struct sc_import *imports[SC_IMPORTS];

SC_API cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
    struct sc_block block;
    SC_TRY(sc_enter());
    if (!pHandle || !sc_memory_lookup(dptr, &block) || block.address != dptr ||
        block.kind != SC_BLOCK_ALLOC || block.pool || block.opaque)
        return CUDA_ERROR_INVALID_VALUE;
    if (sc_device_file(block.device) < 0)
        return CUDA_ERROR_DEVICE_UNAVAILABLE;
    struct handle handle = {
        .magic = MAGIC,
        .device = block.device->memory_file.device,
        .inode = block.device->memory_file.inode,
        .pid = getpid(),
        .file = block.device->memory_file.number,
        .ordinal = block.device->ordinal,
        .offset = block.offset,
        .bytes = block.bytes,
        .id = block.id,
    };
    memset(pHandle, 0, sizeof *pHandle);
    memcpy(pHandle, &handle, sizeof handle);
    return CUDA_SUCCESS;
}

/* Return: -1 where the other process is gone, or has closed it. */
static int open_file(const struct handle *handle)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", handle->pid, handle->file);
    int number = open(path, O_RDWR | O_CLOEXEC);
    struct sc_file file = sc_file_note(number);
    if (file.open && file.device == handle->device &&
        file.inode == handle->inode)
        return number;
    if (number >= 0)
        close(number);
    return -1;
}

static struct sc_import *find(const struct handle *handle, CUcontext ctx)
{
    for (int i = 0; i < SC_IMPORTS; i++)
        if (imports[i] && imports[i]->ctx == ctx &&
            imports[i]->file.inode == handle->inode &&
            imports[i]->id == handle->id)
            return imports[i];
    return NULL;
}

/* The device process maps it. */
static void show(struct sc_device *device, const struct sc_import *import,
                 uint64_t offset, uint64_t bytes)
{
    struct sc_op *op = sc_op_new(SC_OP_COMPUTE, device, NULL);
    struct sc_command_adopt *adopt =
        op ? sc_op_command(op, SC_COMMAND_ADOPT, sizeof *adopt) : NULL;
    if (!adopt)
        return;
    adopt->file = import->file_id;
    op->compute.file = import->file.number;
    sc_op_submit(op, NULL);
    sc_memory_show_file(device, import->file_id, import->pages, bytes, offset,
                        true);
}

/* Number of the first file that is free; SC_FILES: none. */
static uint32_t free_number(void)
{
    for (uint32_t i = 0; i < SC_IMPORTS; i++)
        if (!imports[i])
            return SC_FILE_IMPORT + i;
    return SC_FILES;
}

static CUresult map(CUcontext ctx, const struct handle *handle, int file,
                    struct sc_import **made)
{
    uint64_t begin = handle->offset & ~(SC_PAGE - 1);
    uint64_t end =
        (handle->offset + handle->bytes + SC_PAGE - 1) & ~(SC_PAGE - 1);
    struct sc_import *import = calloc(1, sizeof *import);
    if (!import)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *import = (struct sc_import){.ctx = ctx,
                                 .file = sc_file_note(file),
                                 .file_id = free_number(),
                                 .id = handle->id,
                                 .span = end - begin,
                                 .opened = 1};
    if (import->file_id < SC_FILES)
        import->pages = sc_addresses_map(import->span, SC_PAGE, 0);
    if (import->file_id == SC_FILES || import->pages == SC_RANGES_NONE) {
        free(import);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct sc_block block = {.address =
                                 import->pages + (handle->offset - begin),
                             .bytes = handle->bytes,
                             .offset = handle->offset,
                             .span = import->span,
                             .kind = SC_BLOCK_IMPORT,
                             .device = ctx->device,
                             .ctx = ctx,
                             .import = import};
    import->block = sc_memory_add(&block);
    if (!import->block) {
        sc_addresses_unmap(import->pages, import->span);
        free(import);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    imports[import->file_id - SC_FILE_IMPORT] = import;
    show(ctx->device, import, begin, import->span);
    *made = import;
    return CUDA_SUCCESS;
}

static CUresult open_locked(CUcontext ctx, const struct handle *handle,
                            CUdeviceptr *at)
{
    struct sc_import *import = find(handle, ctx);
    if (import) {
        import->opened++;
        *at = import->block->address;
        return CUDA_SUCCESS;
    }
    int file = open_file(handle);
    if (file < 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = map(ctx, handle, file, &import);
    if (result == CUDA_SUCCESS)
        *at = import->block->address;
    else
        close(file);
    return result;
}

SC_API cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle,
                             unsigned int Flags)
{
    struct handle what;
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    memcpy(&what, &handle, sizeof what);
    if (!pdptr || Flags & ~1u || what.magic != MAGIC)
        return CUDA_ERROR_INVALID_VALUE;
    if (what.pid == getpid())
        return CUDA_ERROR_INVALID_CONTEXT;
    if (what.ordinal != ctx->device->ordinal)
        return CUDA_ERROR_NOT_SUPPORTED; /* of another device */
    pthread_mutex_lock(&sc_memory_lock);
    CUresult result = open_locked(ctx, &what, pdptr);
    pthread_mutex_unlock(&sc_memory_lock);
    return result;
}

CUresult cuIpcOpenMemHandle_v1(CUdeviceptr *at, CUipcMemHandle handle,
                               unsigned flags) __asm__("cuIpcOpenMemHandle");
SC_API cuIpcOpenMemHandle_v1(CUdeviceptr *at, CUipcMemHandle handle,
                             unsigned flags)
{
    return cuIpcOpenMemHandle_v2(at, handle, flags);
}

static void unmap(struct sc_import *import)
{
    struct sc_block block = *import->block;
    imports[import->file_id - SC_FILE_IMPORT] = NULL;
    sc_memory_remove(import->block);
    sc_memory_hide(block.device, import->pages, import->span);
    sc_addresses_unmap(import->pages, import->span);
    int file = sc_file_number(&import->file);
    if (file >= 0)
        close(file);
    free(import);
}

SC_API cuIpcCloseMemHandle(CUdeviceptr dptr)
{
    struct sc_block block;
    SC_TRY(sc_enter());
    if (!sc_memory_lookup(dptr, &block) || block.kind != SC_BLOCK_IMPORT ||
        block.address != dptr)
        return CUDA_ERROR_INVALID_VALUE;
    sc_device_drain(block.device);
    pthread_mutex_lock(&sc_memory_lock);
    struct sc_block *found = sc_memory_find(dptr);
    bool ok = found && found->id == block.id;
    if (ok && --found->import->opened == 0)
        unmap(found->import);
    pthread_mutex_unlock(&sc_memory_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void sc_ipc_free_context(CUcontext ctx)
{
    pthread_mutex_lock(&sc_memory_lock);
    for (int i = 0; i < SC_IMPORTS; i++)
        if (imports[i] && imports[i]->ctx == ctx)
            unmap(imports[i]);
    pthread_mutex_unlock(&sc_memory_lock);
}
