/*
 * The CUDA back end: copies of boxes, and between devices.
 */
#include "accel/cuda/call.h"
#include "accel/error.h"

static int lacks(const char *call)
{
    return adsm_accel_fail(ADSM_E_UNSUPPORTED, "the driver has no ", call,
                           NULL);
}

/* The sides are filled in but for their pitches. */
static void shape(struct adsm_cu_copy3 *copy, const struct adsm_rect *rect)
{
    copy->bytes = rect->bytes;
    copy->rows = rect->rows;
    copy->planes = rect->planes;
    copy->to.pitch = rect->to_pitch[0];
    copy->from.pitch = rect->from_pitch[0];
    /* Of one plane the driver still wants to hear that its rows fit. */
    bool flat = rect->planes == 1;
    copy->to.height = flat ? rect->rows : rect->to_pitch[1] / rect->to_pitch[0];
    copy->from.height =
        flat ? rect->rows : rect->from_pitch[1] / rect->from_pitch[0];
}

static struct adsm_cu_copy3_side at_host(const void *host)
{
    return (struct adsm_cu_copy3_side){.memory = ADSM_CU_MEMORY_HOST,
                                       .host = host};
}

static struct adsm_cu_copy3_side at_device(struct adsm_daddr device)
{
    return (struct adsm_cu_copy3_side){.memory = ADSM_CU_MEMORY_DEVICE,
                                       .device = device.at};
}

static int copy_rect(struct adsm_accel *accel, adsm_stream stream,
                     struct adsm_cu_copy3_side to,
                     struct adsm_cu_copy3_side from,
                     const struct adsm_rect *rect)
{
    struct adsm_cu_copy3 copy = {.to = to, .from = from};
    if (!adsm_cuda_api()->Memcpy3DAsync)
        return lacks("cuMemcpy3DAsync");
    shape(&copy, rect);
    return ADSM_CUDA(accel, Memcpy3DAsync, &copy, (adsm_cu_stream)stream);
}

int adsm_cuda_copy_up_rect(struct adsm_accel *accel, adsm_stream stream,
                           struct adsm_daddr to, const void *from,
                           const struct adsm_rect *rect)
{
    return copy_rect(accel, stream, at_device(to), at_host(from), rect);
}

int adsm_cuda_copy_down_rect(struct adsm_accel *accel, adsm_stream stream,
                             void *to, struct adsm_daddr from,
                             const struct adsm_rect *rect)
{
    return copy_rect(accel, stream, at_host(to), at_device(from), rect);
}

int adsm_cuda_copy_device_rect(struct adsm_accel *accel, adsm_stream stream,
                               struct adsm_daddr to, struct adsm_daddr from,
                               const struct adsm_rect *rect)
{
    return copy_rect(accel, stream, at_device(to), at_device(from), rect);
}

int adsm_cuda_peer_can(int ordinal, int other, bool *can)
{
    const struct adsm_cuda_api *cu = adsm_cuda_api();
    adsm_cu_device device, peer;
    int able = 0;
    *can = false;
    if (!cu->DeviceCanAccessPeer || !cu->MemcpyPeerAsync)
        return ADSM_OK;
    int status = ADSM_CUDA(NULL, DeviceGet, &device, ordinal);
    if (status == ADSM_OK)
        status = ADSM_CUDA(NULL, DeviceGet, &peer, other);
    if (status == ADSM_OK)
        status = ADSM_CUDA(NULL, DeviceCanAccessPeer, &able, device, peer);
    *can = status == ADSM_OK && able;
    return status;
}

int adsm_cuda_copy_peer(struct adsm_accel *accel, adsm_stream stream,
                        struct adsm_daddr to, struct adsm_accel *other,
                        struct adsm_daddr from, size_t bytes)
{
    if (!adsm_cuda_api()->MemcpyPeerAsync)
        return lacks("cuMemcpyPeerAsync");
    return ADSM_CUDA(
        accel, MemcpyPeerAsync, to.at, (adsm_cu_context)accel->context, from.at,
        (adsm_cu_context)other->context, bytes, (adsm_cu_stream)stream);
}

int adsm_cuda_copy_peer_rect(struct adsm_accel *accel, adsm_stream stream,
                             struct adsm_daddr to, struct adsm_accel *other,
                             struct adsm_daddr from,
                             const struct adsm_rect *rect)
{
    struct adsm_cu_copy3 copy = {.to = at_device(to), .from = at_device(from)};
    if (!adsm_cuda_api()->Memcpy3DPeerAsync)
        return lacks("cuMemcpy3DPeerAsync");
    copy.to.context = (adsm_cu_context)accel->context;
    copy.from.context = (adsm_cu_context)other->context;
    shape(&copy, rect);
    return ADSM_CUDA(accel, Memcpy3DPeerAsync, &copy, (adsm_cu_stream)stream);
}
