/*
 * The types the hooks look into are those of cuda.h: of the one softcuda
 * brings, which softcuda's own tests compare with the SDK's.
 */
#include "common/suite.h"
#include "tests/interpose/facts.h"

#include <cuda.h>
#include <stdint.h>

#define SIZE(ours, type)               sizeof(type),
#define FIELD(ours, name, type, field) offsetof(type, field),
#define NUMBER(ours, theirs)           (size_t)(theirs),

START_TEST(types_and_numbers_are_those_of_cuda_h)
{
    static const size_t theirs[] = {
#include "tests/interpose/facts.def"
    };
    size_t count;
    const struct fact *ours = facts_of_ours(&count);
    ck_assert_uint_eq(count, sizeof theirs / sizeof *theirs);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(ours[i].value == theirs[i], "%s is %zu, in cuda.h %zu",
                      ours[i].what, ours[i].value, theirs[i]);
}
END_TEST

SUITE_MAIN("cuda types", 10, types_and_numbers_are_those_of_cuda_h)
