/*
 * What a launch may touch, read from any text: each kernel is asked for by
 * name, its parameters before all else, and launched with arguments that are the beginning of the text.
 */
#include "fuzz.h"

#include "ptx/access.h"

enum { PARAMS = 256, NAME_MOST = 64, LIST_MOST = 4 };

static void check_parameters(struct sc_program *program, const char *name)
{
    struct sc_parameter list[LIST_MOST];
    int count = sc_program_parameters(program, name, list, LIST_MOST);
    for (int i = 0; i < count && i < LIST_MOST; i++)
        FUZZ_CHECK(list[i].bytes && list[i].offset + list[i].bytes <= 32764 &&
                   (i == 0 ||
                    list[i].offset >= list[i - 1].offset + list[i - 1].bytes));
}

static void check_places(const struct sc_reach *reach)
{
    FUZZ_CHECK(reach->place_count <= SC_PLACES_MOST);
    FUZZ_CHECK(!reach->writes_anywhere || reach->reaches_anywhere);
    FUZZ_CHECK((reach->written & ~reach->reached) == 0);
    for (unsigned i = 0; i < reach->place_count; i++)
        for (unsigned k = 0; k < i; k++)
            FUZZ_CHECK(reach->place[i].at != reach->place[k].at);
}

/* The last row ends where the range does. */
static void check_rows(const struct sc_range *r)
{
    uint64_t last = r->first + r->row - 1;
    FUZZ_CHECK(r->stride_count <= SC_STRIDES_MOST && r->row > 0);
    for (unsigned i = 0; i < r->stride_count; i++)
        last += (r->stride[i].count - 1) * r->stride[i].bytes;
    FUZZ_CHECK(!r->known || last == r->last);
}

/* A range is of what the kernel may reach, and writes only what it may. */
static void check_ranges(const struct sc_reach *reach,
                         const struct sc_touched *touched)
{
    FUZZ_CHECK(touched->count <= SC_RANGES_MOST);
    for (unsigned i = 0; i < touched->count; i++) {
        const struct sc_range *r = &touched->range[i];
        FUZZ_CHECK(r->places && r->first <= r->last);
        FUZZ_CHECK((r->places & ~reach->reached) == 0);
        FUZZ_CHECK(!r->writes || (r->places & ~reach->written) == 0);
        check_rows(r);
    }
}

static void check_kernel(struct sc_program_kernel *kernel,
                         const uint8_t *params)
{
    static const struct sc_geometry geometries[] = {
        {.grid = {7, 2, 1}, .block = {64, 2, 1}},
        {{7, 2, 1}, {64, 2, 1}, .from = {3}, .to = {5, 1}},
    };
    const struct sc_reach *reach = sc_program_reach(kernel);
    struct sc_touched touched;
    check_places(reach);
    for (int i = 0; i < 2; i++) {
        if (sc_program_touched(kernel, &geometries[i], params, PARAMS,
                               &touched))
            check_ranges(reach, &touched);
        if (sc_program_rows(kernel, &geometries[i], params, PARAMS, &touched))
            check_ranges(reach, &touched);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = fuzz_text(data, bytes), name[NAME_MOST];
    uint8_t params[PARAMS] = {0};
    struct sc_program *program = sc_program_new(text, 90);
    if (!program) { /* an image of another kind */
        free(text);
        return 0;
    }
    memcpy(params, data, bytes < PARAMS ? bytes : PARAMS);
    for (const char *at = text; (at = strstr(at, ".entry"));) {
        at += strlen(".entry");
        if (sscanf(at, " %63[A-Za-z0-9_$]", name) != 1)
            continue;
        check_parameters(program, name);
        struct sc_program_kernel *kernel = sc_program_kernel(program, name);
        if (kernel)
            check_kernel(kernel, params);
    }
    sc_program_free(program);
    free(text);
    return 0;
}
