/*
 * Names of opcodes, modifiers, types and special registers; see ptx/ir.h.
 *
 * Lock: none, constant tables.
 */
#include "ptx/ir.h"

#include <string.h>

static const char *const opcode_names[] = {
#define X(id, text) text,
#include "ptx/opcodes.def"
#undef X
};

static const char *const modifier_names[] = {
#define X(id, text) text,
#include "ptx/modifiers.def"
#undef X
};

static const char *const special_names[] = {
#define X(id, text) text,
#include "ptx/specials.def"
#undef X
};

static const char *const type_names[] = {
#define X(id, bytes, class) #id,
#include "ptx/types.def"
#undef X
};

static const uint8_t type_bytes[] = {
#define X(id, bytes, class) bytes,
#include "ptx/types.def"
#undef X
};

static const uint8_t type_classes[] = {
#define X(id, bytes, class) SC_CLASS_##class,
#include "ptx/types.def"
#undef X
};

static int find(const char *const *names, size_t count, const char *text,
                size_t length)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *name = names[middle];
        int order = strncmp(name, text, length);
        if (order == 0 && name[length])
            order = 1;
        if (order == 0)
            return (int)middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

int sc_opcode_find(const char *text, size_t length)
{
    return find(opcode_names, SC_OP_COUNT, text, length);
}

int sc_modifier_find(const char *text, size_t length)
{
    return find(modifier_names, SC_MOD_COUNT, text, length);
}

int sc_type_find(const char *text, size_t length)
{
    return find(type_names, SC_T_COUNT, text, length);
}

int sc_special_find(const char *text, size_t length)
{
    return find(special_names, SC_SREG_COUNT, text, length);
}

const char *sc_opcode_name(enum sc_opcode opcode)
{
    return opcode_names[opcode];
}

const char *sc_modifier_name(enum sc_modifier modifier)
{
    return modifier_names[modifier];
}

const char *sc_type_name(enum sc_type type)
{
    return type_names[type];
}

uint32_t sc_type_bytes(enum sc_type type)
{
    return type_bytes[type];
}

enum sc_type_class sc_type_class(enum sc_type type)
{
    return type_classes[type];
}
