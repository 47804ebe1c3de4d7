/*
 * Stores that fault (os/store.h), against the processor: instructions are drawn
 * at random and run twice with the same registers, on memory that is open and on
 * memory that is closed. Registers, flags and memory must be the same after both.
 * So it is with any bytes at all, where they are told to be a store.
 *
 * STORE_SEED repeats a run.
 */
#include "common/no_handler.h"
#include "os/store.h"

#if defined(__x86_64__)

#include "os/made.h"

enum { BATCH = 512 }; /* run between two changes of the memory's protection */

/* ---- drawing an instruction ------------------------------------------------- */

/* A second table, so that a mistake in the first one does not hide itself. */
static const struct form {
    const char *name;
    uint8_t prefix, escape, opcode; /* 0: it has none */
    uint8_t constant, align;        /* bytes; less with 66, twice with L */
    enum { NO_VEX, SHORT_VEX, ANY_VEX } vex; /* none, L=0, any L */
} forms[] = {
    {"mov r8", 0, 0, 0x88, 0, 1, NO_VEX},
    {"mov r", 0, 0, 0x89, 0, 1, NO_VEX},
    {"mov r16", 0x66, 0, 0x89, 0, 1, NO_VEX},
    {"mov imm8", 0, 0, 0xc6, 1, 1, NO_VEX},
    {"mov imm", 0, 0, 0xc7, 4, 1, NO_VEX},
    {"mov imm16", 0x66, 0, 0xc7, 4, 1, NO_VEX},
    {"movnti", 0, 0x0f, 0xc3, 0, 1, NO_VEX},
    {"movss", 0xf3, 0x0f, 0x11, 0, 1, SHORT_VEX},
    {"movsd", 0xf2, 0x0f, 0x11, 0, 1, SHORT_VEX},
    {"movups", 0, 0x0f, 0x11, 0, 1, ANY_VEX},
    {"movupd", 0x66, 0x0f, 0x11, 0, 1, ANY_VEX},
    {"movaps", 0, 0x0f, 0x29, 0, 16, ANY_VEX},
    {"movapd", 0x66, 0x0f, 0x29, 0, 16, ANY_VEX},
    {"movdqu", 0xf3, 0x0f, 0x7f, 0, 1, ANY_VEX},
    {"movdqa", 0x66, 0x0f, 0x7f, 0, 16, ANY_VEX},
    {"movd, movq", 0x66, 0x0f, 0x7e, 0, 1, SHORT_VEX},
    {"movq", 0x66, 0x0f, 0xd6, 0, 1, SHORT_VEX},
    {"movlps", 0, 0x0f, 0x13, 0, 1, SHORT_VEX},
    {"movlpd", 0x66, 0x0f, 0x13, 0, 1, SHORT_VEX},
    {"movhps", 0, 0x0f, 0x17, 0, 1, SHORT_VEX},
    {"movhpd", 0x66, 0x0f, 0x17, 0, 1, SHORT_VEX},
    {"movntps", 0, 0x0f, 0x2b, 0, 16, ANY_VEX},
    {"movntpd", 0x66, 0x0f, 0x2b, 0, 16, ANY_VEX},
    {"movntdq", 0x66, 0x0f, 0xe7, 0, 16, ANY_VEX},
};
#define FORMS (sizeof forms / sizeof *forms)

/* The bits that prefixes of either kind have, and ModRM and SIB. */
struct fields {
    bool vex, rex, w, r, x, b, l;
    uint8_t mode, reg, rm, scale, index, base;
};

static void emit(struct instruction *drawn, uint64_t value, unsigned bytes)
{
    memcpy(drawn->bytes + drawn->length, &value, bytes);
    drawn->length += bytes;
}

static struct fields draw_fields(const struct form *form)
{
    uint64_t bits = draw_bits() >> 8;
    struct fields f = {
        .vex = form->vex && instruction_avx && bits & 1,
        .rex = bits & 2,
        .w = bits & 4,
        .r = bits & 8,
        .x = bits & 16,
        .b = bits & 32,
        .l = form->vex == ANY_VEX && bits & 64,
        .mode = (uint8_t)below(3),
        .reg = form->constant ? 0 : bits >> 8 & 7,
        .rm = bits >> 12 & 7,
        .scale = bits >> 16 & 3,
        .index = bits >> 20 & 7,
        .base = bits >> 24 & 7,
    };
    if (!f.rex)
        f.w = f.x = f.b = false;
    if (!f.rex && !f.vex)
        f.r = false;
    f.l &= f.vex;
    return f;
}

/* A few that change nothing: segments, one twice, REX before others. */
static void emit_prefixes(struct instruction *drawn, const struct form *form,
                          const struct fields *f)
{
    static const uint8_t idle[] = {0x26, 0x2e, 0x36, 0x3e};
    for (int i = (int)below(8); i > 6; i--)
        emit(drawn, idle[below(4)], 1);
    if (form->prefix && below(16) == 0)
        emit(drawn, 0x40 + (uint64_t)below(16), 1);
    for (int i = form->prefix ? 1 + (below(16) == 0) : 0; i > 0; i--)
        emit(drawn, form->prefix, 1);
    if (form->prefix && below(16) == 0)
        emit(drawn, idle[below(4)], 1);
    if (f->rex)
        emit(drawn, 0x40u | f->w << 3 | f->r << 2 | f->x << 1 | f->b, 1);
    if (form->escape)
        emit(drawn, form->escape, 1);
    emit(drawn, form->opcode, 1);
}

static void emit_vex(struct instruction *drawn, const struct form *form,
                     const struct fields *f)
{
    static const uint8_t fields_of[256] = {[0x66] = 1, [0xf3] = 2, [0xf2] = 3};
    unsigned rest = 0x78u | f->l << 2 | fields_of[form->prefix];
    if (f->rex) {
        emit(drawn, 0xc4, 1);
        emit(drawn, !f->r << 7 | !f->x << 6 | !f->b << 5 | 1u, 1);
        emit(drawn, rest | f->w << 7, 1);
    } else {
        emit(drawn, 0xc5, 1);
        emit(drawn, rest | !f->r << 7, 1);
    }
    emit(drawn, form->opcode, 1);
}

static uintptr_t draw_address(unsigned align)
{
    uintptr_t at = below(8) == 0
                       ? MEMORY_BYTES / 2 - (uintptr_t)below(33)
                       : EDGE + (uintptr_t)below(MEMORY_BYTES - 2 * EDGE);
    return (uintptr_t)memory + at / align * align;
}

/* Give the registers, or else the distance, values with which the sum is
 * `address`. Return: false: there are none with this distance */
static bool draw_registers(struct instruction *drawn, const struct fields *f,
                           uintptr_t address, int32_t *distance,
                           unsigned *distance_bytes)
{
    static const uint64_t inverse[] = {0, 0xaaaaaaaaaaaaaaab,
                                       0xcccccccccccccccd, 0x8e38e38e38e38e39};
    uint64_t *reg = drawn->in.general;
    unsigned base = (f->rm == RSP ? f->base : f->rm) + 8u * f->b;
    unsigned index = f->index + 8u * f->x, scale = f->scale;
    bool has_index = f->rm == RSP && index != RSP;
    bool has_base = f->mode != 0 || base % 8 != 5;
    static const unsigned bytes_of[] = {0, 1, 4};
    *distance_bytes = has_base ? bytes_of[f->mode] : 4;
    *distance = (int32_t)draw_bits() >> below(2) * 20;
    if (*distance_bytes < 4)
        *distance = *distance_bytes ? (int8_t)*distance : 0;
    if (!has_base && has_index)
        *distance = (int32_t)((*distance / 4 & ~7) | (address & 7));
    uint64_t rest = address - (uint64_t)(int64_t)*distance;
    if (!has_base && has_index)
        reg[index] = scale ? rest >> scale | draw_bits() << (64 - scale) : rest;
    else if (!has_base)
        *distance = (int32_t)address; /* less what follows, if by rip */
    else if (!has_index)
        reg[base] = rest;
    else if (base != index)
        reg[base] = rest - (reg[index] << scale);
    else if (scale)
        reg[base] = rest * inverse[scale];
    else if (rest % 2 == 0)
        reg[base] = rest / 2 | draw_bits() << 63;
    else
        return false;
    return true;
}

/* In the middle of the page, or where it ends: then ending with it, or going on
 * in the next one, if that is open. */
static uint8_t *draw_place(unsigned length, bool open_behind)
{
    if (below(8) == 0)
        return code + AT_BEHIND -
               (open_behind ? 1 + (unsigned)below(length - 1) : length);
    return code + below(AT_BEHIND - 64);
}

static void draw_values(struct registers *in)
{
    bool unused = below(4) == 0;
    for (int i = 0; i < 16; i++)
        in->general[i] = draw_bits();
    for (int i = 0; i < 16; i++)
        for (int at = 0; at < 32; at += 8) {
            uint64_t value =
                at >= 16 && (unused || !instruction_avx) ? 0 : draw_bits();
            memcpy(in->vector[i] + at, &value, sizeof value);
        }
    in->upper_unused = unused;
    in->flags = (draw_bits() & FLAGS_FREE) | FLAGS_FIXED;
}

static bool try_to_draw(struct instruction *drawn, bool open_behind)
{
    drawn->form = (unsigned)below(FORMS);
    drawn->length = 0;
    const struct form *form = &forms[drawn->form];
    struct fields f = draw_fields(form);
    drawn->name = form->name;
    draw_values(&drawn->in);
    if (f.vex)
        emit_vex(drawn, form, &f);
    else
        emit_prefixes(drawn, form, &f);
    emit(drawn, f.mode << 6 | f.reg << 3 | f.rm, 1);
    if (f.rm == RSP)
        emit(drawn, f.scale << 6 | f.index << 3 | f.base, 1);
    uintptr_t address = draw_address(form->align << f.l);
    int32_t distance;
    unsigned bytes, constant = form->constant;
    if (!draw_registers(drawn, &f, address, &distance, &bytes))
        return false;
    if (constant == 4 && form->prefix && !f.w)
        constant = 2;
    unsigned length = drawn->length + bytes + constant;
    drawn->at = draw_place(length, open_behind);
    if (f.mode == 0 && f.rm == 5)
        distance -= (int32_t)((uintptr_t)drawn->at + length);
    emit(drawn, (uint32_t)distance, bytes);
    emit(drawn, draw_bits(), constant);
    return length <= INSTRUCTION_MOST;
}

/* ---- stores that are listed -------------------------------------------------- */

/* Without a fault: in a context that is made. */
static void serve_made(const struct instruction *drawn,
                       const struct result *native)
{
    memcpy(drawn->at, drawn->bytes, drawn->length);
    make_context(&drawn->in, drawn->at);
    greg_t before[NGREG], *now = made.context.uc_mcontext.gregs;
    memcpy(before, now, sizeof before);
    before[REG_RIP] += drawn->length;
    before[REG_EFL] &= ~FLAG_RESUME;
    seen.next = (uintptr_t)before[REG_RIP];
    const char *odd = serve(&made.context);
    if (odd != NULL)
        failed(drawn, odd);
    if (memcmp(before, now, sizeof before) != 0)
        failed(drawn, "changes registers");
    instruction_out = drawn->in;
    instruction_out.upper_unused = 0;
    must_be_same(drawn, native);
}

static struct instruction batch[BATCH];
static struct result results[BATCH];
static unsigned served[FORMS];

static void serve_faults(int how)
{
    protect(memory, MEMORY_BYTES, how);
    for (int i = 0; i < BATCH; i++) {
        const char *odd = run(&batch[i], true);
        if (odd != NULL)
            failed(&batch[i], odd);
        must_be_same(&batch[i], &results[i]);
        served[batch[i].form]++;
    }
}

static void draw_batch(bool open_behind)
{
    protect(code + AT_BEHIND, CODE_PAGE,
            open_behind ? PROT_READ | PROT_WRITE | PROT_EXEC : PROT_NONE);
    protect(memory, MEMORY_BYTES, PROT_READ | PROT_WRITE);
    for (int i = 0; i < BATCH; i++) {
        while (!try_to_draw(&batch[i], open_behind))
            ;
        const char *odd = run(&batch[i], false);
        if (odd != NULL)
            failed(&batch[i], odd);
        take_result(&results[i]);
    }
}

START_TEST(listed_stores_are_served_as_the_processor_does_them)
{
    enum { BATCHES = 1000000 / BATCH + 1 };
    start();
    made_begin();
    for (int i = 0; i < BATCHES; i++) {
        draw_batch(i & 1);
        for (int n = 0; n < BATCH; n++)
            serve_made(&batch[n], &results[n]);
        if (i % 4 < 2)
            serve_faults(i % 8 < 4 ? PROT_READ : PROT_NONE);
    }
    for (size_t i = 0; i < FORMS; i++)
        ck_assert_uint_gt(served[i], 1000);
    printf("%d instructions, %u of them with a fault\n", BATCHES * BATCH,
           seen.served);
}
END_TEST

/* ---- any bytes -------------------------------------------------------------- */

/* Any, of which many begin as a store does. */
static void draw_bytes(struct instruction *drawn)
{
    static const uint8_t before[] = {0x66, 0xf2, 0xf3, 0x2e, 0x3e, 0x48,
                                     0x41, 0x44, 0x4f, 0xc4, 0xc5, 0x62,
                                     0x64, 0x65, 0x67, 0xf0};
    const struct form *form = &forms[below(FORMS)];
    drawn->name = "bytes";
    drawn->length = 0;
    for (int i = (int)below(4); i > 0; i--)
        emit(drawn, before[below(sizeof before)], 1);
    if (below(4) && form->prefix)
        emit(drawn, form->prefix, 1);
    if (below(4) == 0)
        emit(drawn, 0x40 | (uint64_t)below(16), 1);
    if (below(8) == 0)
        emit(drawn, 0xc5 | draw_bits() << 8, 2);
    else if (below(8) == 0)
        emit(drawn, 0xc4 | draw_bits() << 8, 3);
    else if (below(8) && form->escape)
        emit(drawn, form->escape, 1);
    if (below(8))
        emit(drawn, form->opcode, 1);
    emit(drawn, draw_bits(), 8);
    emit(drawn, draw_bits(), 8);
    draw_values(&drawn->in);
}

static bool has_vex(const struct instruction *drawn)
{
    return memchr(drawn->bytes, 0xc4, INSTRUCTION_MOST) != NULL ||
           memchr(drawn->bytes, 0xc5, INSTRUCTION_MOST) != NULL;
}

static bool is_store(const struct instruction *drawn, struct adsm_stored *store)
{
    make_context(&drawn->in, drawn->at);
    return adsm_store_decode(&made.context, store);
}

/* Change one register, or else four bytes of the instruction, so that it stores
 * to `address`. Which they are is found by trying. */
static bool send_to(struct instruction *drawn, uintptr_t address)
{
    struct adsm_stored store;
    struct instruction changed = *drawn;
    uintptr_t off;
    if (!is_store(drawn, &store))
        return false;
    off = address - store.address;
    for (int i = 0; i < 16; i++, changed = *drawn) {
        changed.in.general[i] += off;
        if (is_store(&changed, &store) && store.address == address) {
            *drawn = changed;
            return true;
        }
    }
    for (unsigned i = 2; i + 4 <= drawn->length; i++, changed = *drawn) {
        uint32_t distance;
        memcpy(&distance, changed.bytes + i, sizeof distance);
        distance += (uint32_t)off;
        memcpy(changed.bytes + i, &distance, sizeof distance);
        memcpy(changed.at, changed.bytes, changed.length);
        if (is_store(&changed, &store) && store.address == address &&
            store.next == (uintptr_t)changed.at + changed.length) {
            *drawn = changed;
            return true;
        }
    }
    return false;
}

/* Does the instruction end where the page does? With one byte less, nothing of
 * it is carried out. */
static void must_end_with_page(struct instruction *drawn)
{
    struct instruction later = *drawn;
    later.at++;
    later.length--;
    const char *odd = run(&later, false);
    if (odd == NULL || strcmp(odd, "is longer") != 0)
        failed(drawn, odd ? odd : "is shorter");
}

static void serve_any(struct instruction *drawn)
{
    static struct result native;
    must_end_with_page(drawn);
    const char *odd = run(drawn, false);
    if (odd != NULL)
        failed(drawn, odd);
    take_result(&native);
    protect(memory, MEMORY_BYTES, PROT_NONE);
    odd = run(drawn, true);
    if (odd != NULL)
        failed(drawn, odd);
    must_be_same(drawn, &native);
    protect(memory, MEMORY_BYTES, PROT_READ | PROT_WRITE);
}

START_TEST(any_bytes_are_served_as_the_processor_does_them_or_refused)
{
    enum { TRIES = 400000 };
    static struct instruction drawn;
    struct adsm_stored store;
    int told = 0, unplaced = 0;
    start();
    made_begin();
    for (int i = 0; i < TRIES; i++) {
        draw_bytes(&drawn);
        if (!instruction_avx && has_vex(&drawn))
            continue;
        drawn.at = code;
        memcpy(code, drawn.bytes, INSTRUCTION_MOST);
        if (!is_store(&drawn, &store))
            continue;
        drawn.length = (unsigned)(store.next - (uintptr_t)code);
        ck_assert_uint_le(drawn.length, INSTRUCTION_MOST);
        drawn.at = code + CODE_PAGE - drawn.length;
        memcpy(drawn.at, drawn.bytes, drawn.length);
        told++;
        if (send_to(&drawn, draw_address(32)))
            serve_any(&drawn);
        else
            unplaced++;
    }
    printf("%d of %d are told, %d of them could not be run\n", told, TRIES,
           unplaced);
    ck_assert_int_gt(told, TRIES / 20);
    ck_assert_int_lt(unplaced, told / 10);
}
END_TEST

SUITE_MAIN("store", 120, listed_stores_are_served_as_the_processor_does_them,
           any_bytes_are_served_as_the_processor_does_them_or_refused)

#else

int main(void)
{
    return 77;
}

#endif
