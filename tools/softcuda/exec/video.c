/*
 * Video instructions, lane after lane; see ptx/video.h. What one value becomes
 * is in native/alu_video.def.
 *
 * Lock: none.
 */
#include "ptx/video.h"
#include "exec/control.h"

#include <string.h>

#define SC_OWN(isas, result, name, params, ...)                                \
    static inline result name params __VA_ARGS__
#include "native/alu_video.def"
#undef SC_OWN

/* native/alu_video.def has their numbers */
_Static_assert(SC_VIDEO_ADD == 0 && SC_VIDEO_SET == 6 && SC_VIDEO_SHR == 8,
               "kinds are numbered");
_Static_assert(SC_VIDEO_ALONE == 0 && SC_VIDEO_MOST == 4,
               "second operations are numbered");

static uint32_t one(const struct sc_video *v, uint32_t a, uint32_t b,
                    uint32_t c)
{
    return sc_video_one(a, b, c, v->kind, v->compare, v->wrap, v->sat,
                        v->second, (int)v->a, (int)v->b, v->written,
                        v->a_signed, v->b_signed, v->d_signed);
}

static uint32_t many(const struct sc_video *v, uint32_t a, uint32_t b,
                     uint32_t c)
{
    return sc_video_many(a, b, c, v->kind, v->compare, v->sat, v->second,
                         v->parts, (uint32_t)v->a, (uint32_t)v->b, v->written,
                         v->a_signed, v->b_signed, v->d_signed);
}

const struct sc_op *sc_op_video(const struct sc_op *op, struct sc_strip *strip)
{
    struct sc_video v;
    memcpy(&v, &op->imm, sizeof v);
    const uint32_t *a = (const uint32_t *)(void *)(strip->file + op->a);
    const uint32_t *b = (const uint32_t *)(void *)(strip->file + op->b);
    const uint32_t *c = (const uint32_t *)(void *)(strip->file + op->c);
    uint32_t *d = (uint32_t *)(void *)(strip->file + op->d);
    for (uint32_t t = 0; t < strip->lanes; t++)
        if (strip->mask[t])
            d[t] = v.parts > 1 ? many(&v, a[t], b[t], c[t])
                               : one(&v, a[t], b[t], c[t]);
    return op + 1;
}
