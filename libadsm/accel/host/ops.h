/* What the files of the CPU back end share. */
#ifndef ADSM_ACCEL_HOST_OPS_H
#define ADSM_ACCEL_HOST_OPS_H

#include "accel/ops.h"

struct adsm_host_stream;

/** A stream by its handle, also those that stand for the default stream. */
struct adsm_host_stream *adsm_host_stream_of(adsm_stream handle);

/* Entries of the table (accel/ops.h): memory.c. */
int adsm_host_memory_alloc(struct adsm_accel *accel, size_t bytes,
                           struct adsm_daddr *at);
int adsm_host_memory_free(struct adsm_accel *accel, struct adsm_daddr at);
int adsm_host_memory_info(struct adsm_accel *accel, size_t *free_bytes,
                          size_t *total_bytes);
int adsm_host_direct_alloc(struct adsm_accel *accel, size_t bytes,
                           struct adsm_direct *direct);
int adsm_host_direct_free(struct adsm_accel *accel, void *handle);

/* Copies: copy.c. */
int adsm_host_copy_up(struct adsm_accel *accel, adsm_stream stream,
                      struct adsm_daddr to, const void *from, size_t bytes);
int adsm_host_copy_up_rect(struct adsm_accel *accel, adsm_stream stream,
                           struct adsm_daddr to, const void *from,
                           const struct adsm_rect *rect);
int adsm_host_copy_down(struct adsm_accel *accel, adsm_stream stream, void *to,
                        struct adsm_daddr from, size_t bytes);
int adsm_host_copy_down_rect(struct adsm_accel *accel, adsm_stream stream,
                             void *to, struct adsm_daddr from,
                             const struct adsm_rect *rect);
int adsm_host_copy_down_now(struct adsm_accel *accel, void *to,
                            struct adsm_daddr from, size_t bytes);
int adsm_host_copy_device(struct adsm_accel *accel, adsm_stream stream,
                          struct adsm_daddr to, struct adsm_daddr from,
                          size_t bytes);
int adsm_host_copy_device_rect(struct adsm_accel *accel, adsm_stream stream,
                               struct adsm_daddr to, struct adsm_daddr from,
                               const struct adsm_rect *rect);
int adsm_host_set_device(struct adsm_accel *accel, adsm_stream stream,
                         struct adsm_daddr to, uint8_t value, size_t bytes);
int adsm_host_fill_device(struct adsm_accel *accel, adsm_stream stream,
                          struct adsm_daddr to, uint32_t value, unsigned width,
                          size_t count);

/* Kernels: code.c. */
int adsm_host_module_load(struct adsm_accel *accel, const void *image,
                          size_t bytes, void **module);
int adsm_host_module_unload(struct adsm_accel *accel, void *module);
int adsm_host_kernel_get(struct adsm_accel *accel, void *module,
                         const char *name, void **kernel);
int adsm_host_kernel_parameter(struct adsm_accel *accel, void *kernel,
                               unsigned index, size_t *offset, size_t *bytes);
int adsm_host_launch(struct adsm_accel *accel,
                     const struct adsm_launch *launch);

#endif
