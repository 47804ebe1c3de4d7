/*
 * Rows of rt_memory.def, rt_atomic.def and rt_warp.def, filled in; see native/rt.h.
 * Lock: none.
 */
#include "native/rt.h"

#include <string.h>

enum { X512 = 1 << SC_NATIVE_AVX512, X2 = 1 << SC_NATIVE_AVX2 };
enum { GEN = 1 << SC_NATIVE_GENERIC, NARROW = X2 | GEN, ALL = NARROW | X512 };
/* Rows for processors whose gathers take longer than a load for each lane. */
enum { EACH = 1 << 8 };
enum {
    BYTE = 1 << SC_ELEMENT_u8 | 1 << SC_ELEMENT_s8,
    HALF = 1 << SC_ELEMENT_u16 | 1 << SC_ELEMENT_s16,
    NARROWER = BYTE | HALF,
    U32 = 1 << SC_ELEMENT_u32,
    U64 = 1 << SC_ELEMENT_u64,
    WORDS = U32 | U64,
    ANY = NARROWER | WORDS,
    NO = 0,
};

static const struct row {
    const char *name, *needs;
    int isas, elements;
    const char *text;
} rows[] = {
#define SC_RT(name, needs, isas, elements, ...)                                \
    {#name, #needs, isas, elements, #__VA_ARGS__},
#include "native/rt_memory.def"
#include "native/rt_atomic.def"
#include "native/rt_warp.def"
#undef SC_RT
};
enum { ROWS = sizeof rows / sizeof *rows };

static const struct element {
    const char *name, *type, *vector, *lane, *bits;
    uint32_t bytes;
} elements[] = {
    {"u8", "uint8_t", "v32", "uint32_t", "32", 1},
    {"s8", "int8_t", "v32", "uint32_t", "32", 1},
    {"u16", "uint16_t", "v32", "uint32_t", "32", 2},
    {"s16", "int16_t", "v32", "uint32_t", "32", 2},
    {"u32", "uint32_t", "v32", "uint32_t", "32", 4},
    {"u64", "uint64_t", "v64", "uint64_t", "64", 8},
};

const char *sc_element_name(enum sc_element element)
{
    return elements[element].name;
}

uint32_t sc_element_bytes(enum sc_element element)
{
    return elements[element].bytes;
}

size_t sc_rt_rows(void)
{
    return (size_t)ROWS * SC_ELEMENT_COUNT;
}

static const char *insert(const struct element *element, char key)
{
    switch (key) {
    case 't':
        return element->name;
    case 'T':
        return element->type;
    case 'V':
        return element->vector;
    case 'E':
        return element->lane;
    default:
        return element->bits;
    }
}

static void write_row(struct sc_gen *gen, const struct row *row,
                      const struct element *element)
{
    const char *from = row->text, *dollar;
    while ((dollar = strchr(from, '$'))) {
        sc_text_put(gen, &gen->library, "%.*s%s", (int)(dollar - from), from,
                    insert(element, dollar[1]));
        from = dollar + 2;
    }
    sc_text_put(gen, &gen->library, "%s\n", from);
}

/* AMD's gathers, up to Zen 4, are made of many steps and keep the processor
 * from seeing ahead what each lane loads next: a product of a sparse matrix
 * takes 1.7 times as long with them as with a load for each lane. */
static bool gathers_are_slow(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    return __builtin_cpu_is("amd");
#else
    return false;
#endif
}

static bool is_for(const struct row *row, enum sc_native_isa isa)
{
    return row->isas >> isa & 1 && (!(row->isas & EACH) || gathers_are_slow());
}

void sc_rt_need(struct sc_gen *gen, const char *name, enum sc_element element)
{
    for (size_t i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        if (strcmp(row->name, name) != 0 || !is_for(row, gen->isa) ||
            (row->elements && !(row->elements >> element & 1)))
            continue;
        size_t key =
            i * SC_ELEMENT_COUNT + (row->elements ? (size_t)element : 0);
        if (gen->rt_used[key])
            return;
        gen->rt_used[key] = true;
        if (strcmp(row->needs, "NONE") != 0)
            sc_rt_need(gen, row->needs, element);
        write_row(gen, row, &elements[element]);
        return;
    }
    sc_gen_refuse(gen, "a function the generator lacks is needed");
}
