/*
 * Reading an instruction that stores: see os/store_parts.h.
 *
 * It is prefixes, an opcode, a place in memory and a constant, in this order.
 * Prefixes and opcode name its form, which is a row of the table below; the row
 * says what is stored and how much of it.
 */
#include "os/store_parts.h"

#if defined(__x86_64__)

#include <stdatomic.h>
#include <stddef.h>

#include "os/look.h"

/* ---- the forms -------------------------------------------------------------- */

/* Prefixes that choose among the instructions of an opcode, numbered as the
 * field pp of a VEX prefix has them. */
enum prefix { NONE, P66, PF3, PF2 };

/* How much: so many bytes, or as the prefixes say. */
enum size {
    BY_OPERAND = 32, /* 8 with W, 2 with 66, or else 4 */
    BY_W,            /* 8 with W, or else 4            */
    BY_L,            /* 32 with L, or else 16          */
};

/* Beside the plain encoding. */
enum {
    OF = 1,      /* the opcode stands behind a byte 0F          */
    VEX = 2,     /* may have a VEX prefix instead               */
    ALIGNED = 4, /* to its size, or it is refused another way   */
};

/* What. */
enum {
    CONSTANT = ADSM_STORE_CONSTANT,
    GENERAL = ADSM_STORE_GENERAL,
    VECTOR = ADSM_STORE_VECTOR,
    HALF = ADSM_STORE_VECTOR_HALF,
};

static const struct form {
    uint8_t prefix, opcode, source, size, traits;
} forms[] = {
    /* mov */
    {NONE, 0x88, GENERAL, 1, 0},
    {NONE, 0x89, GENERAL, BY_OPERAND, 0},
    {P66, 0x89, GENERAL, BY_OPERAND, 0},
    {NONE, 0xc6, CONSTANT, 1, 0},
    {NONE, 0xc7, CONSTANT, BY_OPERAND, 0},
    {P66, 0xc7, CONSTANT, BY_OPERAND, 0},
    /* movnti */
    {NONE, 0xc3, GENERAL, BY_W, OF},
    /* movups, movupd, movss, movsd */
    {NONE, 0x11, VECTOR, BY_L, OF | VEX},
    {P66, 0x11, VECTOR, BY_L, OF | VEX},
    {PF3, 0x11, VECTOR, 4, OF | VEX},
    {PF2, 0x11, VECTOR, 8, OF | VEX},
    /* movlps, movlpd, movhps, movhpd */
    {NONE, 0x13, VECTOR, 8, OF | VEX},
    {P66, 0x13, VECTOR, 8, OF | VEX},
    {NONE, 0x17, HALF, 8, OF | VEX},
    {P66, 0x17, HALF, 8, OF | VEX},
    /* movaps, movapd, movntps, movntpd */
    {NONE, 0x29, VECTOR, BY_L, OF | VEX | ALIGNED},
    {P66, 0x29, VECTOR, BY_L, OF | VEX | ALIGNED},
    {NONE, 0x2b, VECTOR, BY_L, OF | VEX | ALIGNED},
    {P66, 0x2b, VECTOR, BY_L, OF | VEX | ALIGNED},
    /* movd and movq; movdqa, movdqu, movq, movntdq */
    {P66, 0x7e, VECTOR, BY_W, OF | VEX},
    {P66, 0x7f, VECTOR, BY_L, OF | VEX | ALIGNED},
    {PF3, 0x7f, VECTOR, BY_L, OF | VEX},
    {P66, 0xd6, VECTOR, 8, OF | VEX},
    {P66, 0xe7, VECTOR, BY_L, OF | VEX | ALIGNED},
};

/* ---- the bytes of an instruction -------------------------------------------- */

enum {
    LONGEST = 15,
    WORD = sizeof(uint64_t),
    WORDS = 3, /* any instruction lies within them */
    PAGE_LEAST_BYTES = 4096,
};

struct code {
    uintptr_t from; /* address of the first word        */
    uint32_t at;    /* where the next byte is           */
    uint32_t end;   /* behind the last one there may be */
    uint32_t words; /* that were read                   */
    uint64_t word[WORDS];
};

/* Pages of code that were read before, by their numbers. What may be executed
 * need not be readable, and in a handler of SIGSEGV nobody would be told: so the
 * kernel reads a page first. Relaxed: each says something by itself. */
static _Atomic uintptr_t code_known[64];

static bool code_is_readable(uintptr_t at)
{
    enum { KNOWN = sizeof code_known / sizeof *code_known };
    uintptr_t page = at / PAGE_LEAST_BYTES;
    _Atomic uintptr_t *known = &code_known[page % KNOWN];
    uint64_t word;
    if (atomic_load_explicit(known, memory_order_relaxed) == page)
        return true;
    if (adsm_look_get(&word, (const void *)at, sizeof word) < sizeof word)
        return false;
    atomic_store_explicit(known, page, memory_order_relaxed);
    return true;
}

/* Words do not cross pages. Those of the next page are read when the instruction
 * goes on there, for then the processor has read them as well. */
static bool code_read(struct code *code, uint32_t words)
{
    uint32_t known = code->words;
    uintptr_t from = code->from + known * WORD;
    code->words = words;
    return known < words && code_is_readable(from) &&
           adsm_look_words(&code->word[known], (const uint64_t *)from,
                           words - known);
}

static bool code_begin(struct code *code, uintptr_t ip)
{
    size_t left = (PAGE_LEAST_BYTES - ip % PAGE_LEAST_BYTES + WORD - 1) / WORD;
    code->from = ip - ip % WORD;
    code->at = ip % WORD;
    code->end = code->at + LONGEST;
    code->words = 0;
    return code_read(code, left < WORDS ? (uint32_t)left : WORDS);
}

/* The next bytes; NULL: they are not there. */
static const uint8_t *code_take(struct code *code, uint32_t bytes)
{
    uint32_t at = code->at;
    code->at += bytes;
    if (code->at > code->end ||
        (code->at > code->words * WORD && !code_read(code, WORDS)))
        return NULL;
    return (const uint8_t *)code->word + at;
}

/* The next bytes, 0 to 4, as a number with a sign. */
static bool code_take_number(struct code *code, uint32_t bytes, int64_t *number)
{
    const uint8_t *at = code_take(code, bytes);
    if (at == NULL)
        return false;
    uint32_t bits = 0;
    for (uint32_t i = 0; i < bytes; i++)
        bits |= (uint32_t)at[i] << (32 - 8 * bytes + 8 * i);
    *number = bytes == 0 ? 0 : (int32_t)bits >> (32 - 8 * bytes);
    return true;
}

/* ---- prefixes and opcode ---------------------------------------------------- */

struct head {
    enum prefix prefix;
    bool behind_0f, vex, rex, w, l;
    uint8_t opcode;
    uint8_t reg, index, base; /* 8, or 0: to be added to their numbers */
};

/* Bits W, R, X and B where a REX prefix has them. */
static void head_extend(struct head *head, uint32_t bits)
{
    head->w = bits & 8;
    head->reg = bits << 1 & 8;
    head->index = bits << 2 & 8;
    head->base = bits << 3 & 8;
}

/* A VEX prefix has R, X, B and the map of opcodes; then W, vvvv, L and pp. The
 * short one has R, vvvv, L and pp. R, X, B and vvvv, which no store uses, are
 * inverted. */
static bool head_read_vex(struct code *code, bool is_short, struct head *head)
{
    enum { MAP = 0x1f, MAP_0F = 1, W = 0x80, VVVV = 0x78, L = 4, PP = 3 };
    const uint8_t *at = code_take(code, is_short ? 2 : 3);
    if (at == NULL)
        return false;
    uint8_t first = at[0], last = is_short ? at[0] : at[1];
    head_extend(head, (uint8_t)~first >> 5 & (is_short ? 4 : 7));
    head->w = !is_short && last & W;
    head->l = last & L;
    head->prefix = last & PP;
    head->vex = head->behind_0f = true;
    head->opcode = is_short ? at[1] : at[2];
    return (last & VVVV) == VVVV && (is_short || (first & MAP) == MAP_0F);
}

/* Prefixes before any other opcode. */
struct before {
    uint32_t seen; /* a bit for each of enum prefix */
    uint8_t rex;   /* 0: none */
};

/* What else is a prefix (lock, fs, gs, short addresses) is an opcode here, of
 * which there is no form. */
static bool before_take(struct before *before, uint8_t byte)
{
    bool is_rex = (byte & 0xf0) == 0x40;
    switch (byte) {
    case 0x66:
        before->seen |= 1 << P66;
        break;
    case 0xf3:
        before->seen |= 1 << PF3;
        break;
    case 0xf2:
        before->seen |= 1 << PF2;
        break;
    case 0x26: /* the segments that begin at 0 */
    case 0x2e:
    case 0x36:
    case 0x3e:
        break;
    default:
        if (!is_rex)
            return false;
    }
    before->rex = is_rex ? byte : 0; /* it counts right before the opcode */
    return true;
}

static bool head_read(struct code *code, struct head *head)
{
    struct before before = {0};
    const uint8_t *at;
    do
        at = code_take(code, 1);
    while (at != NULL && before_take(&before, *at));
    if (at == NULL)
        return false;
    if (*at == 0xc4 || *at == 0xc5)
        return before.seen == 0 && before.rex == 0 &&
               head_read_vex(code, *at == 0xc5, head);
    head->behind_0f = *at == 0x0f;
    if (head->behind_0f && (at = code_take(code, 1)) == NULL)
        return false;
    head->opcode = *at;
    head->rex = before.rex != 0;
    head_extend(head, before.rex);
    while (before.seen >> head->prefix > 1)
        head->prefix++;
    /* With two, which of them chooses is not the same everywhere. */
    return (before.seen & (before.seen - 1)) == 0;
}

static const struct form *form_of(const struct head *head)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct form *form = &forms[i];
        if (form->opcode == head->opcode && form->prefix == head->prefix &&
            !(form->traits & OF) == !head->behind_0f &&
            (form->traits & VEX || !head->vex))
            return form;
    }
    return NULL;
}

/* 0: there is none of that size. */
static uint32_t form_bytes(const struct form *form, const struct head *head)
{
    switch (form->size) {
    case BY_OPERAND:
        return head->w ? 8 : head->prefix == P66 ? 2 : 4;
    case BY_W:
        return head->l ? 0 : head->w ? 8 : 4;
    case BY_L:
        return head->l ? 32 : 16;
    default:
        return head->l ? 0 : form->size;
    }
}

/* ---- the place in memory ---------------------------------------------------- */

enum { RSP = 4, RBP = 5 };

/* Index 4 is none; base 5 is none where `mode` has no distance. */
static bool read_sib(struct code *code, const struct head *head, uint32_t mode,
                     struct adsm_store_text *text)
{
    const uint8_t *at = code_take(code, 1);
    if (at == NULL)
        return false;
    uint32_t index = head->index + (*at >> 3 & 7u), base = *at & 7u;
    if (index != RSP) {
        text->index = (uint8_t)index;
        text->scale = *at >> 6;
    }
    if (base != RBP || mode != 0)
        text->base = (uint8_t)(head->base + base);
    return true;
}

static bool read_place(struct code *code, const struct head *head,
                       struct adsm_store_text *text)
{
    const uint8_t *at = code_take(code, 1);
    if (at == NULL || *at >> 6 == 3) /* a register */
        return false;
    uint32_t mode = *at >> 6, base = *at & 7u;
    text->reg = (uint8_t)(head->reg + (*at >> 3 & 7u));
    text->base = text->index = ADSM_STORE_NO_REGISTER;
    text->scale = 0;
    if (base == RBP && mode == 0)
        text->base = ADSM_STORE_NEXT;
    else if (base != RSP)
        text->base = (uint8_t)(head->base + base);
    else if (!read_sib(code, head, mode, text))
        return false;
    bool is_long = mode == 2 || text->base >= ADSM_STORE_NO_REGISTER;
    return code_take_number(code, is_long ? 4 : mode, &text->distance);
}

/* ---- all of it -------------------------------------------------------------- */

/* A constant has four bytes at most; its sign is that of all of them. The bits
 * of the register belong to the opcode. */
static bool read_constant(struct code *code, struct adsm_store_text *text)
{
    enum { MOST = 4 };
    uint32_t bytes = text->bytes < MOST ? text->bytes : MOST;
    return (text->reg & 7) == 0 &&
           code_take_number(code, bytes, &text->constant);
}

bool adsm_store_read(uintptr_t ip, struct adsm_store_text *text)
{
    struct code code;
    struct head head = {.prefix = NONE};
    if (!code_begin(&code, ip) || !head_read(&code, &head))
        return false;
    const struct form *form = form_of(&head);
    if (form == NULL || !read_place(&code, &head, text))
        return false;
    text->source = form->source;
    text->aligned = form->traits & ALIGNED;
    text->bytes = form_bytes(form, &head);
    if (form->source == CONSTANT && !read_constant(&code, text))
        return false;
    /* Registers 4 to 7 of one byte are ah, ch, dh, bh: unless there is a REX. */
    if (form->source == GENERAL && text->bytes == 1 && !head.rex &&
        text->reg >= RSP) {
        text->source = ADSM_STORE_GENERAL_SECOND;
        text->reg -= RSP;
    }
    text->next = code.from + code.at;
    return text->bytes != 0;
}

#endif
