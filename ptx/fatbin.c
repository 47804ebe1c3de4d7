/*
 * Owns: the layout of fat binaries and the choice of the PTX in them.
 * Does not own: decompression (unpack.c), joining texts (joint.c), the text's
 * meaning.  No lock.
 *
 * Layout: wrapper {magic, version, data, prelinked parts}; container {magic,
 * u16 version, u16 header bytes, u64 bytes}; entries {u16 kind, u16, u32
 * header bytes, u64 payload bytes @8, u32 compressed bytes @16, u32 sm @28,
 * u64 flags @40, u64 uncompressed bytes @56}.
 */
#include "ptx/fatbin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/joint.h"
#include "ptx/provided.h"
#include "ptx/unpack.h"

#define WRAPPER_MAGIC   0x466243b1u
#define CONTAINER_MAGIC 0xba55ed50u
#define OLD_MAGIC       0x1ee55a01u /* CUDA 3 and earlier */
#define KIND_PTX        1
#define KIND_ELF        2
#define SMALLEST_ENTRY  64u
#define MOST_ENTRIES    4096u
#define MOST_PARTS      4096u

#define FLAG_LZ4  0x2000u
#define FLAG_ZSTD 0x8000u
/* For one architecture (sm_90a) or family (sm_100f) only. */
#define FLAGS_SPECIAL 0x300000u

struct wrapper {
    uint32_t magic, version;
    const uint8_t *data;
    const uint8_t *const *parts; /* version 2: NULL-terminated containers */
};

struct container {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
};

struct entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t payload_bytes;
    uint32_t compressed_bytes, unknown;
    uint32_t minor, sm;
    uint32_t name[2];
    uint64_t flags, reserved, full_bytes;
};

_Static_assert(sizeof(struct container) == 16, "as nvcc writes it");
_Static_assert(sizeof(struct entry) == SMALLEST_ENTRY, "as nvcc writes it");

/* What the entries of a container amount to. */
struct survey {
    struct sc_fatbin_device device;
    unsigned code; /* capability of the machine code that it would run */
    bool code_special;
    const uint8_t *payload; /* of the PTX chosen */
    struct entry chosen;
    uint32_t newer; /* lowest capability above ours */
    bool unknown_packing, machine_code, damaged;
};

static bool is_better(const struct entry *e, const struct entry *than)
{
    bool special = e->flags & FLAGS_SPECIAL;
    bool than_special = than->flags & FLAGS_SPECIAL;
    /* code for one architecture uses what only that one has */
    return special != than_special ? than_special : e->sm > than->sm;
}

/* Machine code runs on later devices of its generation, too. */
static void look_at_code(struct survey *survey, const struct entry *e)
{
    unsigned sm = survey->device.sm;
    bool special = e->flags & FLAGS_SPECIAL;
    survey->machine_code = true;
    if (e->sm / 10 != sm / 10 || e->sm > sm || (special && e->sm != sm) ||
        e->sm < survey->code)
        return;
    survey->code = e->sm;
    survey->code_special |= special;
}

/* Is the PTX chosen what the device runs, or what that was made from? */
static bool is_what_runs(const struct survey *survey)
{
    bool special = survey->chosen.flags & FLAGS_SPECIAL;
    return !survey->device.runs_machine_code || !survey->code ||
           (survey->chosen.sm == survey->code && !survey->code_special &&
            !special);
}

static void look_at_entry(struct survey *survey, const struct entry *e,
                          const uint8_t *payload)
{
    if (e->kind == KIND_ELF)
        look_at_code(survey, e);
    if (e->kind != KIND_PTX)
        return;
    bool packed = e->compressed_bytes != 0 || e->full_bytes != 0;
    bool special = e->flags & FLAGS_SPECIAL;
    if (packed && !(e->flags & (FLAG_LZ4 | FLAG_ZSTD))) {
        survey->unknown_packing = true;
    } else if (e->sm > survey->device.sm ||
               (special && e->sm != survey->device.sm)) {
        if (!survey->newer || e->sm < survey->newer)
            survey->newer = e->sm;
    } else if (!survey->payload || is_better(e, &survey->chosen)) {
        survey->payload = payload;
        survey->chosen = *e;
    }
}

/* Addresses there are from `at` on: no entry goes round their end. */
static uint64_t left_above(const uint8_t *at)
{
    return UINTPTR_MAX - (uintptr_t)at;
}

static void look_at_container(struct survey *survey, const uint8_t *at)
{
    struct container head;
    struct entry entry;
    if (!sc_unpack_peek(&head, at, sizeof head) ||
        head.magic != CONTAINER_MAGIC || head.header_bytes < sizeof head) {
        survey->damaged = true;
        return;
    }
    uint64_t left = head.bytes;
    at += head.header_bytes;
    for (unsigned n = 0; left >= SMALLEST_ENTRY && n < MOST_ENTRIES; n++) {
        if (!sc_unpack_peek(&entry, at, sizeof entry) ||
            entry.header_bytes < SMALLEST_ENTRY || entry.header_bytes > left ||
            entry.payload_bytes > left - entry.header_bytes ||
            entry.header_bytes + entry.payload_bytes > left_above(at)) {
            survey->damaged = true;
            return;
        }
        look_at_entry(survey, &entry, at + entry.header_bytes);
        at += entry.header_bytes + entry.payload_bytes;
        left -= entry.header_bytes + entry.payload_bytes;
    }
}

/* Nothing usable was found: say why, and what would help. */
static enum sc_image_status explain(const struct survey *survey, char *why,
                                    size_t why_bytes)
{
    if (survey->newer)
        snprintf(why, why_bytes,
                 "the PTX in this fat binary is for sm_%u%s, which this "
                 "device's sm_%u cannot run; compile with nvcc -gencode "
                 "arch=compute_75,code=compute_75",
                 survey->newer, survey->newer > survey->device.sm ? "" : "a",
                 survey->device.sm);
    else if (survey->unknown_packing)
        snprintf(why, why_bytes,
                 "the PTX in this fat binary is compressed in an unknown way; "
                 "compile with nvcc --no-compress");
    else if (survey->machine_code)
        snprintf(why, why_bytes,
                 "this fat binary holds machine code only; compile with nvcc "
                 "-gencode arch=compute_75,code=compute_75 to keep PTX in it");
    else
        snprintf(why, why_bytes, "this fat binary is %s",
                 survey->damaged ? "damaged" : "empty");
    return survey->damaged && !survey->newer ? SC_IMAGE_DAMAGED
                                             : SC_IMAGE_NO_CODE;
}

static enum sc_image_status say_damaged(char *why, size_t why_bytes)
{
    snprintf(why, why_bytes, "the PTX in this fat binary is damaged");
    return SC_IMAGE_DAMAGED;
}

static enum sc_image_status take(const struct survey *survey,
                                 struct sc_packed *packed, char *why,
                                 size_t why_bytes)
{
    const struct entry *e = &survey->chosen;
    if (!survey->payload)
        return explain(survey, why, why_bytes);
    if (!is_what_runs(survey))
        return SC_IMAGE_NO_CODE;
    enum sc_packing packing = e->full_bytes == 0     ? SC_PACKED_NOT
                              : e->flags & FLAG_ZSTD ? SC_PACKED_ZSTD
                                                     : SC_PACKED_LZ4;
    uint64_t bytes = e->payload_bytes;
    if (packing != SC_PACKED_NOT && e->compressed_bytes <= bytes)
        bytes = e->compressed_bytes; /* the payload is padded */
    return sc_unpack_copy(packing, survey->payload, bytes, e->full_bytes,
                          packed)
               ? SC_IMAGE_FOUND
               : say_damaged(why, why_bytes);
}

static enum sc_image_status take_container(const uint8_t *at,
                                           struct sc_fatbin_device device,
                                           struct sc_packed *packed, char *why,
                                           size_t why_bytes)
{
    struct survey survey = {.device = device};
    look_at_container(&survey, at);
    return take(&survey, packed, why, why_bytes);
}

static enum sc_image_status open_packed(struct sc_packed *packed,
                                        struct sc_text *text, char *why,
                                        size_t why_bytes)
{
    text->bytes = sc_unpack(packed, &text->text);
    return text->bytes == SIZE_MAX ? say_damaged(why, why_bytes)
                                   : SC_IMAGE_FOUND;
}

/* A part was left out: is it needed? */
static enum sc_image_status check_missing(const struct sc_joint *joint,
                                          struct sc_text *text, char *why,
                                          size_t why_bytes)
{
    char name[100];
    if (!sc_joint_missing(joint, name, sizeof name))
        return SC_IMAGE_FOUND;
    if (sc_is_device_runtime(name))
        snprintf(why, why_bytes, SC_DEVICE_RUNTIME_REFUSED, name);
    else
        snprintf(why, why_bytes,
                 "a part of this program holds no PTX this device can run and "
                 "'%s' is defined nowhere else; compile every part with nvcc "
                 "-gencode arch=compute_75,code=compute_75",
                 name);
    free(text->text);
    *text = (struct sc_text){0};
    return SC_IMAGE_NO_CODE;
}

/* One part into the joint. Return: SC_IMAGE_NO_CODE: it has none of use */
static enum sc_image_status add_part(struct sc_joint *joint,
                                     const uint8_t *part,
                                     struct sc_fatbin_device device, char *why,
                                     size_t why_bytes)
{
    struct sc_packed packed;
    struct sc_text one = {0};
    enum sc_image_status status =
        take_container(part, device, &packed, why, why_bytes);
    if (status == SC_IMAGE_FOUND)
        status = open_packed(&packed, &one, why, why_bytes);
    if (status == SC_IMAGE_FOUND && !sc_joint_add(joint, one.text))
        status = SC_IMAGE_NO_MEMORY;
    free(one.text);
    return status;
}

/* All parts; `skipped` those of nvcc's own libraries, maybe, that are machine
 * code. */
static enum sc_image_status add_parts(struct sc_joint *joint,
                                      const uint8_t *const *parts,
                                      struct sc_fatbin_device device,
                                      bool *skipped, char *why,
                                      size_t why_bytes)
{
    enum sc_image_status status = SC_IMAGE_FOUND;
    for (size_t i = 0; status == SC_IMAGE_FOUND && i < MOST_PARTS; i++) {
        const uint8_t *part;
        if (!sc_unpack_peek(&part, parts + i, sizeof part)) {
            snprintf(why, why_bytes, "this fat binary is damaged");
            return SC_IMAGE_DAMAGED;
        }
        if (!part)
            break;
        status = add_part(joint, part, device, why, why_bytes);
        if (status == SC_IMAGE_NO_CODE) {
            *skipped = true;
            status = SC_IMAGE_FOUND;
        }
    }
    return status;
}

/* Parts of a program compiled with -rdc=true: one text out of each. */
static enum sc_image_status take_parts(const uint8_t *const *parts,
                                       struct sc_fatbin_device device,
                                       struct sc_packed *packed, char *why,
                                       size_t why_bytes)
{
    struct sc_joint joint = {0};
    struct sc_text text = {0};
    bool skipped = false;
    enum sc_image_status status =
        add_parts(&joint, parts, device, &skipped, why, why_bytes);
    if (status == SC_IMAGE_FOUND &&
        (joint.count == 0 || (skipped && device.runs_machine_code)))
        status = SC_IMAGE_NO_CODE;
    if (status == SC_IMAGE_FOUND && !sc_joint_finish(&joint, &text))
        status = SC_IMAGE_NO_MEMORY;
    if (status == SC_IMAGE_FOUND && skipped)
        status = check_missing(&joint, &text, why, why_bytes);
    sc_joint_fini(&joint);
    *packed = (struct sc_packed){SC_PACKED_NOT, text.text, text.bytes, 0};
    return status;
}

static enum sc_image_status take_wrapper(const void *image,
                                         struct sc_fatbin_device device,
                                         struct sc_packed *packed, char *why,
                                         size_t why_bytes)
{
    struct wrapper wrapper;
    const uint8_t *first = NULL;
    struct survey survey = {.device = device};
    if (!sc_unpack_peek(&wrapper, image, sizeof wrapper)) {
        snprintf(why, why_bytes, "this fat binary is damaged");
        return SC_IMAGE_DAMAGED;
    }
    if (wrapper.data)
        look_at_container(&survey, wrapper.data);
    /* whether that was linked from the parts' PTX or from other code of theirs
     * nobody can tell */
    if (device.runs_machine_code && survey.code && !survey.payload)
        return SC_IMAGE_NO_CODE;
    /* what a linker joined already serves better than its parts */
    if (!survey.payload && wrapper.version == 2 && wrapper.parts &&
        sc_unpack_peek(&first, wrapper.parts, sizeof first) && first)
        return take_parts(wrapper.parts, device, packed, why, why_bytes);
    return take(&survey, packed, why, why_bytes);
}

static enum sc_image_status take_plain(const char *image,
                                       struct sc_packed *packed)
{
    char *copy = strdup(image);
    *packed = (struct sc_packed){SC_PACKED_NOT, copy, strlen(image), 0};
    return copy ? SC_IMAGE_FOUND : SC_IMAGE_NO_MEMORY;
}

enum sc_image_status sc_fatbin_pick(const void *image,
                                    struct sc_fatbin_device device,
                                    struct sc_packed *packed, char *why,
                                    size_t why_bytes)
{
    /* An empty string is text too, so look no further than its NUL. */
    uint32_t magic = 0;
    why[0] = '\0';
    *packed = (struct sc_packed){.payload = NULL};
    memcpy(&magic, image, strnlen(image, 4));
    if (magic == WRAPPER_MAGIC)
        return take_wrapper(image, device, packed, why, why_bytes);
    if (magic == CONTAINER_MAGIC)
        return take_container(image, device, packed, why, why_bytes);
    if (magic == OLD_MAGIC) {
        snprintf(why, why_bytes,
                 "this fat binary has the layout of CUDA 3; "
                 "compile it again with a newer nvcc");
        return SC_IMAGE_DAMAGED;
    }
    if (memcmp(&magic, "\177ELF", 4) == 0) {
        snprintf(why, why_bytes,
                 "this image is machine code (a cubin); compile with nvcc "
                 "-ptx, or -fatbin -gencode arch=compute_75,code=compute_75");
        return SC_IMAGE_NO_CODE;
    }
    return take_plain(image, packed);
}

enum sc_image_status sc_fatbin_find(const void *image, unsigned sm,
                                    struct sc_text *text, char *why,
                                    size_t why_bytes)
{
    struct sc_packed packed;
    *text = (struct sc_text){0};
    enum sc_image_status status = sc_fatbin_pick(
        image, (struct sc_fatbin_device){.sm = sm}, &packed, why, why_bytes);
    return status == SC_IMAGE_FOUND ? open_packed(&packed, text, why, why_bytes)
                                    : status;
}
