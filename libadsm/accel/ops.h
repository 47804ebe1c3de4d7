/*
 * What a kind of accelerator must be able to do: one table per back end.
 *
 * Everything else in this layer (lanes, transfers, address strategies) is
 * written against this table, so another accelerator is another table (the
 * paper, section 4.1). Contract of every entry that takes an accel: works on
 * any thread whether or not it ever used the accelerator, leaves the caller's
 * current context as it was, keeps errno, returns a status and keeps its text
 * (accel/error.h), and turns the accel's health sticky when the device says
 * that nothing will work any more. Entries marked F run on the fault path.
 */
#ifndef ADSM_ACCEL_OPS_H
#define ADSM_ACCEL_OPS_H

#include "accel/launch.h"
#include "accel/types.h"

typedef void *adsm_device_event;

/**
 * A box of bytes: `planes` times `rows` rows of `bytes` each. Between the
 * starts of two rows lie pitch[0] bytes, at least `bytes`; of two planes
 * pitch[1], a multiple of pitch[0] and at least `rows` of them.
 */
struct adsm_rect {
    size_t bytes, rows, planes;
    size_t to_pitch[2], from_pitch[2];
};

/** Memory of the host that kernels use as well. */
struct adsm_direct {
    void *handle; /* to give it back by */
    uint8_t *host;
    struct adsm_daddr device;
};

/** What is known of a driver once it was started. */
struct adsm_driver {
    char path[256];
    int version;   /* 1000 * major + 10 * minor; 0: it does not say */
    bool looks_up; /* programs may ask it for its functions */
};

struct adsm_accel_ops {
    /* Stream handles that are no streams of their own: another word for the
     * default stream 0, and "the default stream of the calling thread". */
    adsm_stream stream_legacy;
    adsm_stream stream_per_thread;

    /* Find the driver and initialise it; number of devices. */
    int (*start)(int *devices);
    void (*driver)(struct adsm_driver *driver);
    int (*describe)(int ordinal, char *name, size_t name_bytes,
                    size_t *total_bytes);

    /* Contexts: the primary one of a device, retained; the current one. */
    int (*context_primary)(int ordinal, void **context);
    int (*context_current)(void **context, int *ordinal);
    void (*context_release)(int ordinal);
    int (*context_wait)(struct adsm_accel *accel); /* F: all work done */

    int (*stream_create)(struct adsm_accel *accel, adsm_stream *stream);
    int (*stream_destroy)(struct adsm_accel *accel, adsm_stream stream);
    int (*stream_order)(
        struct adsm_accel *accel, adsm_stream stream,
        adsm_device_event event); /* F: stream waits for event */

    int (*event_create)(struct adsm_accel *accel,
                        adsm_device_event *event); /* F */
    int (*event_destroy)(struct adsm_accel *accel, adsm_device_event event);
    /* An event that keeps the time, and the time from one to a later one, both
     * reached. They cost more than others. */
    int (*event_create_timed)(struct adsm_accel *accel,
                              adsm_device_event *event);
    int (*event_elapsed)(struct adsm_accel *accel, adsm_device_event begin,
                         adsm_device_event end, uint64_t *ns);
    int (*event_record)(struct adsm_accel *accel, adsm_device_event event,
                        adsm_stream stream); /* F */
    int (*event_query)(struct adsm_accel *accel, adsm_device_event event,
                       bool *reached); /* F */
    /* F: poll for `spin_ns`, then sleep until the event is reached. */
    int (*event_wait)(struct adsm_accel *accel, adsm_device_event event,
                      uint64_t spin_ns);

    /* Copies and sets, in stream order, F. Host memory that is pinned may be
     * read or written until the stream is through; other memory not. */
    int (*copy_up)(struct adsm_accel *accel, adsm_stream stream,
                   struct adsm_daddr to, const void *from, size_t bytes);
    int (*copy_down)(struct adsm_accel *accel, adsm_stream stream, void *to,
                     struct adsm_daddr from, size_t bytes);
    /* Down, in no stream: returns when the bytes are there. For when nothing
     * is ahead, where a stream would only add its latency. */
    int (*copy_down_now)(struct adsm_accel *accel, void *to,
                         struct adsm_daddr from, size_t bytes);
    int (*copy_device)(struct adsm_accel *accel, adsm_stream stream,
                       struct adsm_daddr to, struct adsm_daddr from,
                       size_t bytes);
    int (*set_device)(struct adsm_accel *accel, adsm_stream stream,
                      struct adsm_daddr to, uint8_t value, size_t bytes);
    /* `count` elements of 2 or 4 bytes, to which `to` is aligned, in stream order.
     * ADSM_E_UNSUPPORTED where the driver has no such function. */
    int (*fill_device)(struct adsm_accel *accel, adsm_stream stream,
                       struct adsm_daddr to, uint32_t value, unsigned width,
                       size_t count);

    /* The same for boxes, F. ADSM_E_UNSUPPORTED where the driver has no such
     * function: the caller goes by rows. */
    int (*copy_up_rect)(struct adsm_accel *accel, adsm_stream stream,
                        struct adsm_daddr to, const void *from,
                        const struct adsm_rect *rect);
    int (*copy_down_rect)(struct adsm_accel *accel, adsm_stream stream,
                          void *to, struct adsm_daddr from,
                          const struct adsm_rect *rect);
    int (*copy_device_rect)(struct adsm_accel *accel, adsm_stream stream,
                            struct adsm_daddr to, struct adsm_daddr from,
                            const struct adsm_rect *rect);

    /* Between devices, by their ordinals: may one have the memory of the other
     * copied without the host in between? */
    int (*peer_can)(int ordinal, int other, bool *can);
    /* Copy from memory of `other` in the order of a stream of `accel`, F;
     * ADSM_E_UNSUPPORTED as above. */
    int (*copy_peer)(struct adsm_accel *accel, adsm_stream stream,
                     struct adsm_daddr to, struct adsm_accel *other,
                     struct adsm_daddr from, size_t bytes);
    int (*copy_peer_rect)(struct adsm_accel *accel, adsm_stream stream,
                          struct adsm_daddr to, struct adsm_accel *other,
                          struct adsm_daddr from, const struct adsm_rect *rect);

    /* Have the driver call `call(arg)` on a thread of its own, in stream
     * order; it must not call the driver. ADSM_E_UNSUPPORTED: cannot. */
    int (*host_call)(struct adsm_accel *accel, adsm_stream stream,
                     void (*call)(void *arg), void *arg);

    /* Call `call(arg)` on this thread, with the device's context current: it
     * gives the device work past this table, and is to the fault handler what
     * the driver is. NULL: host_call does, on another thread. */
    int (*visit)(struct adsm_accel *accel, void (*call)(void *arg), void *arg);

    /* Page-lock host memory, F. ADSM_E_LIMIT: no more for now;
     * ADSM_E_UNSUPPORTED: never; *owned: false when it already was. */
    int (*host_pin)(struct adsm_accel *accel, void *at, size_t bytes,
                    bool *owned);
    int (*host_unpin)(struct adsm_accel *accel, void *at);

    /* Device memory at an address of the driver's choice. */
    int (*memory_alloc)(struct adsm_accel *accel, size_t bytes,
                        struct adsm_daddr *at);
    int (*memory_free)(struct adsm_accel *accel, struct adsm_daddr at);
    int (*memory_info)(struct adsm_accel *accel, size_t *free_bytes,
                       size_t *total_bytes);
    /* Whether the driver itself moves the memory between host and device. */
    bool (*memory_is_managed)(struct adsm_accel *accel, struct adsm_daddr at);
    /* F: the allocation around an address, whoever made it. ADSM_E_NOT_FOUND:
     * the device alone has none there. */
    int (*memory_find)(struct adsm_daddr at, struct adsm_memory *memory);

    /* Memory of the host that kernels use where it is, at the host's address
     * or, where those go by the host's page table, at another. Can the device,
     * and should it? ADSM_E_UNSUPPORTED with the reason. `asked`: the user
     * wants it, also where the bus lies in between. */
    int (*direct_probe)(struct adsm_accel *accel, bool asked);
    int (*direct_alloc)(struct adsm_accel *accel, size_t bytes,
                        struct adsm_direct *direct);
    int (*direct_free)(struct adsm_accel *accel, void *handle);

    /* Addresses first, memory for them later. ADSM_E_UNSUPPORTED when the
     * device cannot. Addresses and sizes are multiples of the granule. */
    int (*range_granule)(struct adsm_accel *accel, size_t *bytes);
    int (*range_reserve)(struct adsm_accel *accel, size_t bytes,
                         struct adsm_daddr *at);
    int (*range_free)(struct adsm_accel *accel, struct adsm_daddr at,
                      size_t bytes);
    int (*range_map)(struct adsm_accel *accel, struct adsm_daddr at,
                     size_t bytes, uint64_t *handle);
    int (*range_unmap)(struct adsm_accel *accel, struct adsm_daddr at,
                       size_t bytes, uint64_t handle);
    /* Let another device use mapped memory, or no more; by its ordinal. */
    int (*range_open)(struct adsm_accel *accel, struct adsm_daddr at,
                      size_t bytes, int ordinal, bool enable);
    /* Memory for them that comes and goes: make and free a piece without an
     * address; put `count` pieces side by side from `at` on, all or none, and
     * take all that lie in a range away from there. */
    int (*piece_create)(struct adsm_accel *accel, size_t bytes,
                        uint64_t *handle);
    int (*piece_free)(struct adsm_accel *accel, uint64_t handle);
    int (*pieces_map)(struct adsm_accel *accel, struct adsm_daddr at,
                      size_t piece_bytes, const uint64_t *handles,
                      size_t count);
    int (*pieces_unmap)(struct adsm_accel *accel, struct adsm_daddr at,
                        size_t bytes);

    int (*module_load)(struct adsm_accel *accel, const void *image,
                       size_t bytes, void **module);
    int (*module_unload)(struct adsm_accel *accel, void *module);
    int (*kernel_get)(struct adsm_accel *accel, void *module, const char *name,
                      void **kernel);
    int (*kernel_parameter)(struct adsm_accel *accel, void *kernel,
                            unsigned index, size_t *offset, size_t *bytes);
    int (*launch)(struct adsm_accel *accel,
                  const struct adsm_launch *launch); /* F */
};

/** The CUDA Driver API; the cores of the host (accel/host/). */
extern const struct adsm_accel_ops adsm_cuda_ops, adsm_host_ops;

#endif
