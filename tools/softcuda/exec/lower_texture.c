/*
 * Decodes tex, tld4, txq, suld, sust, sured, suq; see exec/lower.h.
 *
 * Lock: none.
 */
#include "exec/lower.h"
#include "exec/texture.h"

#include <string.h>

static enum sc_texture_shape take_shape(struct sc_lower *lower)
{
    static const struct {
        enum sc_modifier mod;
        enum sc_texture_shape shape;
    } shapes[] = {{SC_MOD__1d, SC_SHAPE_1D},     {SC_MOD__2d, SC_SHAPE_2D},
                  {SC_MOD__3d, SC_SHAPE_3D},     {SC_MOD_a1d, SC_SHAPE_A1D},
                  {SC_MOD_a2d, SC_SHAPE_A2D},    {SC_MOD_cube, SC_SHAPE_CUBE},
                  {SC_MOD_acube, SC_SHAPE_ACUBE}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (sc_lower_take(lower, shapes[i].mod))
            return shapes[i].shape;
    sc_lower_refuse(lower, "unsupported geometry in");
}

static bool is_layered(const struct sc_texture_form *form)
{
    return form->shape == SC_SHAPE_A1D || form->shape == SC_SHAPE_A2D ||
           form->shape == SC_SHAPE_ACUBE;
}

static uint32_t axes(const struct sc_texture_form *form)
{
    switch ((enum sc_texture_shape)form->shape) {
    case SC_SHAPE_1D:
    case SC_SHAPE_A1D:
        return 1;
    case SC_SHAPE_2D:
    case SC_SHAPE_A2D:
        return 2;
    default:
        return 3;
    }
}

static struct sc_texture_form empty_form(void)
{
    struct sc_texture_form form;
    memset(&form, 0, sizeof form);
    memset(form.x, 0xff, sizeof form.x);
    memset(form.dx, 0xff, sizeof form.dx);
    memset(form.dy, 0xff, sizeof form.dy);
    memset(form.offset, 0xff, sizeof form.offset);
    memset(form.data, 0xff, sizeof form.data);
    form.layer = form.lod = form.present = SC_NO_SLOT;
    return form;
}

/* The handle: in a register, a parameter, or a .texref variable. */
static uint32_t handle_slot(struct sc_lower *lower,
                            const struct sc_operand *operand)
{
    if (operand->kind == SC_OPERAND_REG)
        return sc_lower_source(lower, operand, 8, SC_T_u64);
    if (operand->kind != SC_OPERAND_SYMBOL || operand->bits)
        sc_lower_invalid(lower, "handle of the wrong kind in");
    const struct sc_var *var = operand->var;
    if (var->space == SC_SPACE_PARAM && var->bytes == 8)
        return sc_lower_fill(lower, (struct sc_fill){.kind = SC_FILL_PARAM,
                                                     .bytes = 8,
                                                     .load_bytes = 8,
                                                     .value = var->address});
    if (var->space != SC_SPACE_GLOBAL || !var->reference)
        sc_lower_invalid(lower, "variable that holds no handle in");
    uint32_t slot = sc_lower_temp(lower, 8);
    struct sc_op *op =
        sc_lower_emit(lower, lower->isa->load(SC_T_u64, 8, SC_ADDR_GLOBAL, 8));
    op->d = slot;
    op->a = sc_lower_constant(lower, 8, var->address);
    op->mode = SC_ADDR_GLOBAL;
    return slot;
}

/* Items of "{x, y}" or a lone x. */
static const struct sc_operand *items(const struct sc_operand *operand,
                                      uint32_t *count)
{
    bool vector = operand->kind == SC_OPERAND_VECTOR;
    *count = vector ? operand->reg : 1;
    return vector ? operand->sub : operand;
}

static void place_vector(struct sc_lower *lower,
                         const struct sc_operand *operand, uint32_t n,
                         enum sc_type type, uint32_t *slots)
{
    uint32_t have;
    const struct sc_operand *item = items(operand, &have);
    if (have < n)
        sc_lower_invalid(lower, "too few components in");
    for (uint32_t i = 0; i < n; i++)
        slots[i] = sc_lower_source(lower, &item[i], 4, type);
}

/* "[handle, {layer, x, y}]" */
static void place_coordinates(struct sc_lower *lower,
                              const struct sc_operand *operand,
                              struct sc_texture_form *form)
{
    if (operand->kind != SC_OPERAND_LIST)
        sc_lower_invalid(lower, "coordinates are missing in");
    if (operand->reg != 2)
        sc_lower_refuse(lower, "separate samplers are not supported in");
    form->handle = handle_slot(lower, &operand->sub[0]);
    uint32_t have, n = axes(form), first = is_layered(form);
    const struct sc_operand *item = items(&operand->sub[1], &have);
    if (have < n + first)
        sc_lower_invalid(lower, "too few coordinates in");
    if (first)
        form->layer = sc_lower_source(lower, item, 4, SC_T_b32);
    for (uint32_t i = 0; i < n; i++)
        form->x[i] = sc_lower_source(lower, &item[first + i], 4,
                                     form->integer ? SC_T_b32 : SC_T_f32);
}

static void emit(struct sc_lower *lower, sc_handler run,
                 const struct sc_texture_form *form)
{
    struct sc_code *code = lower->code;
    code->textures =
        sc_load_grow(lower->load, code->textures, code->texture_count,
                     &lower->texture_capacity, sizeof *code->textures);
    code->textures[code->texture_count] = *form;
    sc_lower_emit(lower, run)->target = code->texture_count++;
}

static uint32_t take_count(struct sc_lower *lower)
{
    return sc_lower_take(lower, SC_MOD_v2)   ? 2
           : sc_lower_take(lower, SC_MOD_v4) ? 4
                                             : 1;
}

/* ---- textures ---- */

static void place_results(struct sc_lower *lower, struct sc_texture_form *form)
{
    const struct sc_operand *to = sc_lower_operand(lower, 0);
    enum sc_type type = lower->inst->types[0];
    if (to->kind == SC_OPERAND_PAIR) {
        if (to->sub[1].kind != SC_OPERAND_SINK)
            form->present = sc_lower_predicate_dest(lower, &to->sub[1]);
        to = &to->sub[0];
    }
    uint32_t have;
    const struct sc_operand *item = items(to, &have);
    form->packed = type == SC_T_f16x2;
    form->bytes = type == SC_T_f16 ? 2 : 4;
    if (have != form->count || form->count != (form->packed ? 2 : 4))
        sc_lower_invalid(lower, "wrong number of components in");
    bool known = form->packed || type == SC_T_f16 || type == SC_T_f32 ||
                 type == SC_T_u32 || type == SC_T_s32;
    if (!known)
        sc_lower_refuse(lower, "unsupported type in");
    for (uint32_t i = 0; i < have; i++)
        if (item[i].kind != SC_OPERAND_SINK)
            form->data[i] = sc_lower_dest(lower, &item[i], form->bytes);
}

static void begin_fetch(struct sc_lower *lower, struct sc_texture_form *form)
{
    const struct sc_inst *inst = lower->inst;
    *form = empty_form();
    form->shape = (uint8_t)take_shape(lower);
    form->count = (uint8_t)take_count(lower);
    if (inst->type_count != 2 ||
        (inst->types[1] != SC_T_f32 && inst->types[1] != SC_T_s32))
        sc_lower_invalid(lower, "needs two types:");
    form->integer = inst->types[1] == SC_T_s32;
    place_coordinates(lower, sc_lower_operand(lower, 1), form);
}

/* What may follow: offsets in texels; comparison with a depth is refused. */
static void end_fetch(struct sc_lower *lower, struct sc_texture_form *form,
                      uint32_t next)
{
    if (lower->inst->operand_count > next) {
        const struct sc_operand *offset = sc_lower_operand(lower, next);
        if (offset->kind != SC_OPERAND_VECTOR ||
            lower->inst->operand_count > next + 1)
            sc_lower_refuse(lower, "comparison with a depth in");
        place_vector(lower, offset, axes(form), SC_T_b32, form->offset);
    }
    place_results(lower, form);
    emit(lower, sc_op_tex, form);
}

static void lower_tex(struct sc_lower *lower)
{
    struct sc_texture_form form;
    begin_fetch(lower, &form);
    uint32_t next = 2;
    enum sc_type type = form.integer ? SC_T_b32 : SC_T_f32;
    if (sc_lower_take(lower, SC_MOD_level)) {
        form.lod_mode = SC_LOD_LEVEL;
        form.lod =
            sc_lower_source(lower, sc_lower_operand(lower, next++), 4, type);
    } else if (sc_lower_take(lower, SC_MOD_grad)) {
        form.lod_mode = SC_LOD_GRADIENT;
        place_vector(lower, sc_lower_operand(lower, next++), axes(&form),
                     SC_T_f32, form.dx);
        place_vector(lower, sc_lower_operand(lower, next++), axes(&form),
                     SC_T_f32, form.dy);
    } else {
        sc_lower_take(lower, SC_MOD_base);
    }
    end_fetch(lower, &form, next);
}

static void lower_tld4(struct sc_lower *lower)
{
    static const enum sc_modifier components[] = {SC_MOD_r, SC_MOD_g, SC_MOD_b,
                                                  SC_MOD_a};
    struct sc_texture_form form;
    begin_fetch(lower, &form);
    for (uint8_t i = 0; i < 4; i++)
        if (sc_lower_take(lower, components[i]))
            form.gather = i + 1;
    if (!form.gather || form.shape != SC_SHAPE_2D)
        sc_lower_refuse(lower, "unsupported form");
    end_fetch(lower, &form, 2);
}

static void lower_query(struct sc_lower *lower)
{
    static const struct {
        enum sc_modifier mod;
        enum sc_texture_query query;
    } queries[] = {{SC_MOD_width, SC_QUERY_WIDTH},
                   {SC_MOD_height, SC_QUERY_HEIGHT},
                   {SC_MOD_depth, SC_QUERY_DEPTH},
                   {SC_MOD_channel_data_type, SC_QUERY_DATA_TYPE},
                   {SC_MOD_channel_order, SC_QUERY_ORDER},
                   {SC_MOD_normalized_coords, SC_QUERY_NORMALIZED},
                   {SC_MOD_array_size, SC_QUERY_LAYERS},
                   {SC_MOD_num_mipmap_levels, SC_QUERY_LEVELS},
                   {SC_MOD_num_samples, SC_QUERY_SAMPLES},
                   {SC_MOD_filter_mode, SC_QUERY_FILTER},
                   {SC_MOD_addr_mode_0, SC_QUERY_ADDRESS_0},
                   {SC_MOD_addr_mode_1, SC_QUERY_ADDRESS_1},
                   {SC_MOD_addr_mode_2, SC_QUERY_ADDRESS_2},
                   {SC_MOD_memory_layout, SC_QUERY_MEMORY_LAYOUT}};
    struct sc_texture_form form = empty_form();
    bool found = false, level = sc_lower_take(lower, SC_MOD_level);
    for (size_t i = 0; i < sizeof queries / sizeof *queries && !found; i++) {
        found = sc_lower_take(lower, queries[i].mod);
        form.query = (uint8_t)queries[i].query;
    }
    sc_lower_count(lower, level ? 3 : 2, level ? 3 : 2);
    const struct sc_operand *from = sc_lower_operand(lower, 1);
    if (!found || lower->inst->type_count != 1 ||
        lower->inst->types[0] != SC_T_b32)
        sc_lower_refuse(lower, "unsupported form");
    if (from->kind != SC_OPERAND_ADDRESS || from->bits)
        sc_lower_invalid(lower, "handle of the wrong kind in");
    form.handle = handle_slot(lower, from->sub);
    if (level)
        form.lod =
            sc_lower_source(lower, sc_lower_operand(lower, 2), 4, SC_T_b32);
    form.data[0] = sc_lower_dest(lower, sc_lower_operand(lower, 0), 4);
    emit(lower, sc_op_txq, &form);
}

/* ---- surfaces ---- */

static void begin_surface(struct sc_lower *lower, struct sc_texture_form *form,
                          uint32_t operand)
{
    *form = empty_form();
    form->integer = true;
    if (!sc_lower_take(lower, SC_MOD_b))
        sc_lower_refuse(lower, "only unformatted access (.b) is supported:");
    form->shape = (uint8_t)take_shape(lower);
    if (form->shape > SC_SHAPE_A2D)
        sc_lower_invalid(lower, "geometry of textures in");
    sc_lower_take(lower, SC_MOD_ca);
    sc_lower_take(lower, SC_MOD_cg);
    sc_lower_take(lower, SC_MOD_cs);
    sc_lower_take(lower, SC_MOD_cv);
    sc_lower_take(lower, SC_MOD_wb);
    sc_lower_take(lower, SC_MOD_wt);
    if (sc_lower_take(lower, SC_MOD_clamp))
        form->bound = SC_BOUND_CLAMP;
    else if (sc_lower_take(lower, SC_MOD_zero))
        form->bound = SC_BOUND_ZERO;
    else if (!sc_lower_take(lower, SC_MOD_trap))
        sc_lower_invalid(lower, ".trap, .clamp or .zero is missing in");
    form->count = (uint8_t)take_count(lower);
    if (lower->inst->type_count != 1 ||
        sc_type_class(lower->inst->types[0]) == SC_CLASS_PRED)
        sc_lower_invalid(lower, "needs exactly one type:");
    form->bytes = (uint8_t)sc_type_bytes(lower->inst->types[0]);
    if (form->bytes > 8 || form->bytes * form->count > 16)
        sc_lower_invalid(lower, "more than 16 bytes in");
    place_coordinates(lower, sc_lower_operand(lower, operand), form);
}

static void lower_surface(struct sc_lower *lower, bool load)
{
    struct sc_texture_form form;
    begin_surface(lower, &form, load ? 1 : 0);
    sc_lower_count(lower, 2, 2);
    uint32_t have, bytes = form.bytes == 1 ? 2 : form.bytes;
    const struct sc_operand *item =
        items(sc_lower_operand(lower, load ? 0 : 1), &have);
    if (have != form.count)
        sc_lower_invalid(lower, "wrong number of components in");
    for (uint32_t i = 0; i < have; i++)
        form.data[i] = load ? sc_lower_dest(lower, &item[i], bytes)
                            : sc_lower_source(lower, &item[i], bytes,
                                              sc_lower_bits(bytes));
    emit(lower, load ? sc_op_suld : sc_op_sust, &form);
}

static void lower_sured(struct sc_lower *lower)
{
    static const struct {
        enum sc_modifier mod;
        enum sc_sured kind;
    } kinds[] = {{SC_MOD_add, SC_SURED_ADD},
                 {SC_MOD_min, SC_SURED_MIN},
                 {SC_MOD_max, SC_SURED_MAX},
                 {SC_MOD_and, SC_SURED_AND},
                 {SC_MOD_or, SC_SURED_OR}};
    struct sc_texture_form form;
    size_t kind = 0, count = sizeof kinds / sizeof *kinds;
    while (kind < count && !sc_lower_take(lower, kinds[kind].mod))
        kind++;
    begin_surface(lower, &form, 0);
    sc_lower_count(lower, 2, 2);
    if (kind == count || form.count != 1 || form.bytes < 4)
        sc_lower_refuse(lower, "unsupported form");
    form.data[0] = sc_lower_source(lower, sc_lower_operand(lower, 1),
                                   form.bytes, sc_lower_bits(form.bytes));
    emit(lower, sc_op_sured, &form);
    struct sc_op *op = &lower->code->ops[lower->code->op_count - 1];
    op->flags = (uint16_t)kinds[kind].kind;
    op->imm = sc_type_class(lower->inst->types[0]) == SC_CLASS_SIGNED;
}

bool sc_lower_texture(struct sc_lower *lower)
{
    switch (lower->inst->opcode) {
    case SC_OP_tex:
        return lower_tex(lower), true;
    case SC_OP_tld4:
        return lower_tld4(lower), true;
    case SC_OP_txq:
    case SC_OP_suq:
        return lower_query(lower), true;
    case SC_OP_suld:
        return lower_surface(lower, true), true;
    case SC_OP_sust:
        return lower_surface(lower, false), true;
    case SC_OP_sured:
        return lower_sured(lower), true;
    default:
        return false;
    }
}
