/* The shapes of the list of hooks. */
#include "interpose/calls/roles.h"
#include "base/text.h"
#include "interpose/calls/hooks.h"

#include <utmp.h>
#include <utmpx.h>

/* Of a result: is it a pointer? */
#define IS_POINTER(type) (__builtin_classify_type((type)0) == 5)

#define ADSM_HOOK_CALL(returns, name, params, parts)                           \
    {#name, IS_POINTER(returns), {parts}},
#define ADSM_HOOK_OWN(returns, name, params, parts)                            \
    {#name, IS_POINTER(returns), {parts}},
#define ADSM_HOOK_ODD(returns, name, params, parts)                            \
    {#name, IS_POINTER(returns), {parts}},
const struct call_shape call_shapes[CALL_SHAPES] = {
#include "interpose/hooks.def"
};

const struct call_shape *call_shape_of(const char *name)
{
    for (int i = 0; i < CALL_SHAPES; i++)
        if (adsm_text_is(call_shapes[i].name, name))
            return &call_shapes[i];
    return NULL;
}
