/* What interpose/cuda/types.h says; see facts.h. */
#include "interpose/cuda/types.h"
#include "tests/interpose/facts.h"

#define SIZE(type, theirs) {"size of " #type, sizeof(struct type)},
#define FIELD(type, field, theirs, name)                                       \
    {#type "." #field, offsetof(struct type, field)},
#define NUMBER(ours, theirs) {#ours, (size_t)(ours)},

static const struct fact facts[] = {
#include "tests/interpose/facts.def"
};

const struct fact *facts_of_ours(size_t *count)
{
    *count = sizeof facts / sizeof *facts;
    return facts;
}
