/*
 * Texts of boxes. The first sixteen bytes are the values of the variables,
 * the rest is the text. What was read is printed and read again.
 */
#include "fuzz.h"

#include "call/expression.h"

enum { HEAD = 16 };

/* Small numbers mostly, and the ends of what there is. */
static long number(uint8_t byte)
{
    return byte == 255   ? INT64_MAX
           : byte == 254 ? INT64_MAX - 1
           : byte == 253 ? (long)1 << 40
                         : byte;
}

static void read_again(const adsmBox *box,
                       const struct adsm_expression_values *values)
{
    char text[ADSM_EXPRESSION_PRINTED];
    struct adsm_expression again;
    adsm_expression_print(box, text);
    FUZZ_CHECK(adsm_expression_read(text, values, &again));
    FUZZ_CHECK(again.count == 1 && !again.has_params);
    for (int d = 0; d < box->nd; d++)
        FUZZ_CHECK(again.box[0].lo[d] == box->lo[d] &&
                   again.box[0].hi[d] == box->hi[d] && !again.follows[d]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    long params[ADSM_EXPRESSION_PARAMETERS];
    adsmBox part = {0};
    struct adsm_expression out;
    if (bytes < HEAD)
        return 0;
    struct adsm_expression_values values = {
        .part = &part,
        .nd = 1 + data[0] % 3,
        .param = params,
        .params = data[1] % (ADSM_EXPRESSION_PARAMETERS + 1)};
    part.nd = 1 + data[2] % 3;
    for (int d = 0; d < 3; d++) {
        values.extent[d] = number(data[3 + d]);
        part.lo[d] = number(data[6 + d]);
        part.hi[d] = number(data[9 + d]);
    }
    for (int i = 0; i < ADSM_EXPRESSION_PARAMETERS; i++)
        params[i] =
            data[0] & 128 ? -number(data[12 + i]) : number(data[12 + i]);
    char *text = fuzz_text(data + HEAD, bytes - HEAD);
    if (adsm_expression_read(text, &values, &out)) {
        FUZZ_CHECK(out.count >= 1 && out.count <= ADSM_EXPRESSION_BOXES);
        for (int i = 0; i < out.count; i++)
            read_again(&out.box[i], &values);
    } else {
        FUZZ_CHECK(out.column >= 1 && out.expected);
        FUZZ_CHECK((size_t)out.column <= strlen(text) + 1);
    }
    free(text);
    return 0;
}
