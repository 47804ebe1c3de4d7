/*
 * What a kernel may write, read from any text; the name of each .entry is
 * asked for.
 */
#include "fuzz.h"

#include "interpose/cuda/ptx_text.h"
#include "interpose/cuda/ptx_writes.h"

static void check_places(const struct ptx_place *place, unsigned count)
{
    FUZZ_CHECK(count <= PTX_PLACES_MOST);
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < i; k++)
            FUZZ_CHECK(place[i].param != place[k].param ||
                       place[i].offset != place[k].offset);
}

/* What it writes is among what it reaches. */
static void check_kernel(const struct ptx_kernel *kernel)
{
    check_places(kernel->place, kernel->count);
    check_places(kernel->reach, kernel->reach_count);
    FUZZ_CHECK(!kernel->anywhere || kernel->reaches_anywhere);
    for (unsigned i = 0; i < kernel->count; i++) {
        unsigned k = 0;
        while (k < kernel->reach_count &&
               memcmp(&kernel->reach[k], &kernel->place[i],
                      sizeof *kernel->place) != 0)
            k++;
        FUZZ_CHECK(k < kernel->reach_count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = fuzz_text(data, bytes);
    struct ptx_module *module = ptx_module_read(text);
    struct ptx_text at = {.at = text};
    while (module && ptx_next(&at) != PTX_END) {
        FUZZ_CHECK(at.at <= text + bytes && at.length > 0);
        if (!ptx_is(&at, ".entry") || ptx_next(&at) == PTX_END)
            continue;
        char *name = fuzz_text((const uint8_t *)at.word, at.length);
        const struct ptx_kernel *kernel = ptx_module_kernel(module, name);
        if (kernel)
            check_kernel(kernel);
        free(name);
    }
    ptx_module_free(module);
    free(text);
    return 0;
}
