/*
 * How this layer calls the driver: ADSM_CUDA().
 *
 * Owns the frame around each call (context current, "in driver" mark, errno)
 * and the translation of results into statuses, texts and health. No lock.
 */
#ifndef ADSM_ACCEL_CUDA_CALL_H
#define ADSM_ACCEL_CUDA_CALL_H

#include "accel/cuda/api.h"
#include "accel/device.h"

struct adsm_cuda_visit {
    struct adsm_accel *accel; /* NULL: the call needs no context */
    bool pushed;
    int errno_kept;
};

/**
 * Get ready to call the driver in the accel's context.
 *
 * @visit  filled; to be closed by adsm_cuda_leave if this returns ADSM_OK
 * @accel  whose context must be current, or NULL
 * Return: ADSM_OK; the accel's health; ADSM_E_FORKED
 * Thread: any
 * Signal: fault path
 */
int adsm_cuda_enter(struct adsm_cuda_visit *visit, struct adsm_accel *accel);

/**
 * Restore the caller's context and judge the call's result.
 *
 * @call  the driver's name of it, without "cu"
 * Return: status of `result`
 * Thread: the one that entered
 * Signal: fault path
 */
int adsm_cuda_leave(struct adsm_cuda_visit *visit, const char *call,
                    adsm_cu_result result);

/**
 * Around a call that may take as long as a kernel and that reads no memory of
 * the program: signals get through where the caller holds no lock, and where
 * it does at least those that end the process.
 *
 * Return: what to give to adsm_cuda_wait_end
 * Thread: one that has entered
 * Signal: fault path
 */
uint64_t adsm_cuda_wait_begin(void);
void adsm_cuda_wait_end(uint64_t opened);

/** Status of a result; condemns `accel` (or NULL) when it is sticky. */
int adsm_cuda_judge(struct adsm_accel *accel, const char *call,
                    adsm_cu_result result);

/* ADSM_CUDA(accel, StreamCreate, &stream, flags): its status. */
#define ADSM_CUDA(accel_, call_, ...)                                          \
    ({                                                                         \
        struct adsm_cuda_visit visit_;                                         \
        int status_ = adsm_cuda_enter(&visit_, (accel_));                      \
        if (status_ == ADSM_OK)                                                \
            status_ = adsm_cuda_leave(&visit_, #call_,                         \
                                      adsm_cuda_api()->call_(__VA_ARGS__));    \
        status_;                                                               \
    })

/* The entries of adsm_cuda_ops that live in files of their own; their contracts
 * are in ops.h. */
int adsm_cuda_copy_up_rect(struct adsm_accel *accel, adsm_stream stream,
                           struct adsm_daddr to, const void *from,
                           const struct adsm_rect *rect);
int adsm_cuda_copy_down_rect(struct adsm_accel *accel, adsm_stream stream,
                             void *to, struct adsm_daddr from,
                             const struct adsm_rect *rect);
int adsm_cuda_copy_device_rect(struct adsm_accel *accel, adsm_stream stream,
                               struct adsm_daddr to, struct adsm_daddr from,
                               const struct adsm_rect *rect);
int adsm_cuda_peer_can(int ordinal, int other, bool *can);
int adsm_cuda_copy_peer(struct adsm_accel *accel, adsm_stream stream,
                        struct adsm_daddr to, struct adsm_accel *other,
                        struct adsm_daddr from, size_t bytes);
int adsm_cuda_copy_peer_rect(struct adsm_accel *accel, adsm_stream stream,
                             struct adsm_daddr to, struct adsm_accel *other,
                             struct adsm_daddr from,
                             const struct adsm_rect *rect);
int adsm_cuda_host_pin(struct adsm_accel *accel, void *at, size_t bytes,
                       bool *owned);
int adsm_cuda_host_unpin(struct adsm_accel *accel, void *at);
int adsm_cuda_memory_alloc(struct adsm_accel *accel, size_t bytes,
                           struct adsm_daddr *at);
int adsm_cuda_memory_free(struct adsm_accel *accel, struct adsm_daddr at);
int adsm_cuda_memory_info(struct adsm_accel *accel, size_t *free_bytes,
                          size_t *total_bytes);
int adsm_cuda_direct_probe(struct adsm_accel *accel, bool asked);
int adsm_cuda_direct_alloc(struct adsm_accel *accel, size_t bytes,
                           struct adsm_direct *direct);
int adsm_cuda_direct_free(struct adsm_accel *accel, void *handle);
bool adsm_cuda_memory_is_managed(struct adsm_accel *accel,
                                 struct adsm_daddr at);
int adsm_cuda_memory_find(struct adsm_daddr at, struct adsm_memory *memory);
int adsm_cuda_range_granule(struct adsm_accel *accel, size_t *bytes);
int adsm_cuda_range_reserve(struct adsm_accel *accel, size_t bytes,
                            struct adsm_daddr *at);
int adsm_cuda_range_free(struct adsm_accel *accel, struct adsm_daddr at,
                         size_t bytes);
int adsm_cuda_piece_create(struct adsm_accel *accel, size_t bytes,
                           uint64_t *handle);
int adsm_cuda_piece_free(struct adsm_accel *accel, uint64_t handle);
int adsm_cuda_pieces_map(struct adsm_accel *accel, struct adsm_daddr at,
                         size_t piece_bytes, const uint64_t *handles,
                         size_t count);
int adsm_cuda_pieces_unmap(struct adsm_accel *accel, struct adsm_daddr at,
                           size_t bytes);
int adsm_cuda_range_map(struct adsm_accel *accel, struct adsm_daddr at,
                        size_t bytes, uint64_t *handle);
int adsm_cuda_range_open(struct adsm_accel *accel, struct adsm_daddr at,
                         size_t bytes, int ordinal, bool enable);
int adsm_cuda_range_unmap(struct adsm_accel *accel, struct adsm_daddr at,
                          size_t bytes, uint64_t handle);
int adsm_cuda_module_load(struct adsm_accel *accel, const void *image,
                          size_t bytes, void **module);
int adsm_cuda_module_unload(struct adsm_accel *accel, void *module);
int adsm_cuda_kernel_get(struct adsm_accel *accel, void *module,
                         const char *name, void **kernel);
int adsm_cuda_kernel_parameter(struct adsm_accel *accel, void *kernel,
                               unsigned index, size_t *offset, size_t *bytes);
int adsm_cuda_launch(struct adsm_accel *accel,
                     const struct adsm_launch *launch);

#endif
