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
#include "driver/fatbin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/joint.h"
#include "driver/unpack.h"

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

static void look_at_entry(struct survey *survey, const struct entry *e,
                          const uint8_t *payload)
{
    if (e->kind == KIND_ELF)
        survey->machine_code = true;
    if (e->kind != KIND_PTX)
        return;
    bool packed = e->compressed_bytes != 0 || e->full_bytes != 0;
    bool special = e->flags & FLAGS_SPECIAL;
    if (packed && !(e->flags & (FLAG_LZ4 | FLAG_ZSTD))) {
        survey->unknown_packing = true;
    } else if (e->sm > SC_SM || (special && e->sm != SC_SM)) {
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
static CUresult explain(const struct survey *survey, char *why,
                        size_t why_bytes)
{
    if (survey->newer)
        snprintf(why, why_bytes,
                 "the PTX in this fat binary is for sm_%u%s, which this "
                 "device's sm_%d cannot run; compile with nvcc -gencode "
                 "arch=compute_75,code=compute_75",
                 survey->newer, survey->newer > SC_SM ? "" : "a", SC_SM);
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
    return survey->damaged && !survey->newer ? CUDA_ERROR_INVALID_IMAGE
                                             : CUDA_ERROR_NO_BINARY_FOR_GPU;
}

static CUresult take(const struct survey *survey, struct sc_text *text,
                     char *why, size_t why_bytes)
{
    const struct entry *e = &survey->chosen;
    if (!survey->payload)
        return explain(survey, why, why_bytes);
    enum sc_packing packing = e->full_bytes == 0     ? SC_PACKED_NOT
                              : e->flags & FLAG_ZSTD ? SC_PACKED_ZSTD
                                                     : SC_PACKED_LZ4;
    uint64_t bytes = e->payload_bytes;
    if (packing != SC_PACKED_NOT && e->compressed_bytes <= bytes)
        bytes = e->compressed_bytes; /* the payload is padded */
    text->bytes =
        sc_unpack(packing, survey->payload, bytes, e->full_bytes, &text->text);
    if (text->bytes != SIZE_MAX)
        return CUDA_SUCCESS;
    snprintf(why, why_bytes, "the PTX in this fat binary is damaged");
    return CUDA_ERROR_INVALID_IMAGE;
}

static CUresult take_container(const uint8_t *at, struct sc_text *text,
                               char *why, size_t why_bytes)
{
    struct survey survey = {0};
    look_at_container(&survey, at);
    return take(&survey, text, why, why_bytes);
}

/* A part was left out: is it needed? */
static CUresult check_missing(const struct sc_joint *joint,
                              struct sc_text *text, char *why, size_t why_bytes)
{
    char name[100];
    if (!sc_joint_missing(joint, name, sizeof name))
        return CUDA_SUCCESS;
    snprintf(why, why_bytes,
             "a part of this program holds no PTX this device can run and "
             "'%s' is defined nowhere else; compile every part with nvcc "
             "-gencode arch=compute_75,code=compute_75",
             name);
    free(text->text);
    *text = (struct sc_text){0};
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* Parts of a program compiled with -rdc=true: one text out of each. */
static CUresult take_parts(const uint8_t *const *parts, struct sc_text *text,
                           char *why, size_t why_bytes)
{
    struct sc_joint joint = {0};
    CUresult result = CUDA_SUCCESS;
    bool skipped = false;
    for (size_t i = 0; result == CUDA_SUCCESS && i < MOST_PARTS; i++) {
        const uint8_t *part;
        struct sc_text one = {0};
        if (!sc_unpack_peek(&part, parts + i, sizeof part)) {
            snprintf(why, why_bytes, "this fat binary is damaged");
            result = CUDA_ERROR_INVALID_IMAGE;
        } else if (!part) {
            break;
        } else {
            result = take_container(part, &one, why, why_bytes);
            if (result == CUDA_SUCCESS && !sc_joint_add(&joint, one.text))
                result = CUDA_ERROR_OUT_OF_MEMORY;
            /* parts of nvcc's own libraries may be machine code; nobody may
             * need them */
            if (result == CUDA_ERROR_NO_BINARY_FOR_GPU) {
                skipped = true;
                result = CUDA_SUCCESS;
            }
        }
        free(one.text);
    }
    if (result == CUDA_SUCCESS && joint.count == 0)
        result = CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (result == CUDA_SUCCESS && !sc_joint_finish(&joint, text))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS && skipped)
        result = check_missing(&joint, text, why, why_bytes);
    sc_joint_fini(&joint);
    return result;
}

static CUresult take_wrapper(const void *image, struct sc_text *text, char *why,
                             size_t why_bytes)
{
    struct wrapper wrapper;
    const uint8_t *first = NULL;
    struct survey survey = {0};
    if (!sc_unpack_peek(&wrapper, image, sizeof wrapper)) {
        snprintf(why, why_bytes, "this fat binary is damaged");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    if (wrapper.data)
        look_at_container(&survey, wrapper.data);
    /* what a linker joined already serves better than its parts */
    if (!survey.payload && wrapper.version == 2 && wrapper.parts &&
        sc_unpack_peek(&first, wrapper.parts, sizeof first) && first)
        return take_parts(wrapper.parts, text, why, why_bytes);
    return take(&survey, text, why, why_bytes);
}

static CUresult take_plain(const char *image, struct sc_text *text)
{
    text->bytes = strlen(image);
    text->text = malloc(text->bytes + 1);
    if (!text->text)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(text->text, image, text->bytes + 1);
    return CUDA_SUCCESS;
}

CUresult sc_fatbin_find(const void *image, struct sc_text *text, char *why,
                        size_t why_bytes)
{
    /* An empty string is text too, so look no further than its NUL. */
    uint32_t magic = 0;
    why[0] = '\0';
    *text = (struct sc_text){0};
    memcpy(&magic, image, strnlen(image, 4));
    if (magic == WRAPPER_MAGIC)
        return take_wrapper(image, text, why, why_bytes);
    if (magic == CONTAINER_MAGIC)
        return take_container(image, text, why, why_bytes);
    if (magic == OLD_MAGIC) {
        snprintf(why, why_bytes,
                 "this fat binary has the layout of CUDA 3; "
                 "compile it again with a newer nvcc");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    if (memcmp(&magic, "\177ELF", 4) == 0) {
        snprintf(why, why_bytes,
                 "this image is machine code (a cubin); compile with nvcc "
                 "-ptx, or -fatbin -gencode arch=compute_75,code=compute_75");
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    return take_plain(image, text);
}
