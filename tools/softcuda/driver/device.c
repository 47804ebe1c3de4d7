/*
 * Owns: the device table and the bring-up of one device.
 * Does not own: its memory (memory.c), its process (process.c).
 * Lock: the start lock for bring-up; see the fields in device.h.
 */
#include "driver/device.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/context.h"
#include "driver/memory.h"
#include "driver/process.h"

enum { ENGINE_STACK_BYTES = 256 << 10 };

static struct sc_device devices[SC_MAX_DEVICES];

CUresult sc_device_init(void)
{
    for (int i = 0; i < sc_options.devices; i++) {
        struct sc_device *device = &devices[i];
        device->ordinal = i;
        device->channel_file = -1;
        sc_engine_init(&device->upload_engine);
        sc_engine_init(&device->download_engine);
        sc_engine_init(&device->host_engine);
        uint64_t rate = sc_options.link_bytes_per_second[i];
        sc_link_init(&device->upload_link, rate, sc_options.latency.up_ns);
        sc_link_init(&device->download_link, rate, sc_options.latency.down_ns);
    }
    return CUDA_SUCCESS;
}

int sc_device_count(void)
{
    return sc_options.devices;
}

struct sc_device *sc_device_get(int ordinal)
{
    if (ordinal < 0 || ordinal >= sc_options.devices)
        return NULL;
    return &devices[ordinal];
}

static CUresult map_channel(struct sc_device *device)
{
    int fd = sc_file_make("softcuda-channel", sizeof(struct sc_shared));
    if (fd < 0)
        goto fail;
    struct sc_shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        goto fail;
    /* a forked child must not write into the parent's ring */
    madvise(shared, sizeof *shared, MADV_DONTFORK);
    shared->version = SC_PROTOCOL_VERSION;
    shared->sm = SC_SM;
    shared->print_limit = SC_PRINT_LIMIT;
    shared->window_base = sc_memory_window_base();
    shared->window_bytes = sc_memory_window_bytes();
    shared->heap_base = device->heap_base;
    shared->heap_bytes = device->heap_bytes;
    shared->heap_offset = device->heap_offset;
    shared->report = sc_options.stats;
    shared->threads_per_second =
        sc_options.pace_threads_per_second[device->ordinal];
    /* where the device process can read them when the program is gone */
    device->upload_link.bytes = &shared->bytes_up;
    device->download_link.bytes = &shared->bytes_down;
    device->channel.shared = shared;
    device->channel_file = fd;
    return CUDA_SUCCESS;
fail:
    sc_say("device %d: no memory for its channel: %s", device->ordinal,
           sc_file_why());
    if (fd >= 0)
        close(fd);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sc_device_start(struct sc_device *device)
{
    if (device->dead)
        return CUDA_ERROR_DEVICE_UNAVAILABLE;
    if (device->started)
        return CUDA_SUCCESS;
    if (!device->channel.shared) {
        if (!device->memory_file.open)
            SC_TRY(sc_memory_device_init(device));
        SC_TRY(map_channel(device));
    }
    if (!sc_engine_start(&device->upload_engine, ENGINE_STACK_BYTES) ||
        !sc_engine_start(&device->download_engine, ENGINE_STACK_BYTES)) {
        sc_say("device %d: no thread left for a copy engine (ulimit -u?)",
               device->ordinal);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    SC_TRY(sc_process_start(device));
    /* the process has its own descriptor; keep few */
    close(device->channel_file);
    device->channel_file = -1;
    device->started = true;
    sc_memory_device_joined(device);
    return CUDA_SUCCESS;
}

int sc_device_file(struct sc_device *device)
{
    int number = sc_file_number(&device->memory_file);
    if (number < 0)
        sc_channel_cut(device, device->memory_file.number);
    return number;
}

void sc_device_died(struct sc_device *device)
{
    device->dead = true;
    sc_context_mark_lost(device);
    sc_channel_fail(device);
}

void sc_device_drain(struct sc_device *device)
{
    if (device->started)
        sc_context_drain(device);
}
