/*
 * Owns: finding PTX text inside fat binaries.
 * Does not own: the text's meaning.  No lock.
 *
 * Layout: wrapper {magic, version, data, prelinked parts}; container {magic,
 * u16 version, u16 header bytes, u64 bytes}; entries {u16 kind, u16, u32
 * header bytes, u64 payload bytes @8, u32 compressed bytes @16, u32 sm @28,
 * u64 flags @40, u64 uncompressed bytes @56}.
 */
#include <stdio.h>
#include <string.h>

#include "driver/module.h"

#define WRAPPER_MAGIC   0x466243b1u
#define CONTAINER_MAGIC 0xba55ed50u
#define KIND_PTX        1
#define KIND_ELF        2
#define SMALLEST_ENTRY  64u

struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *parts; /* version 2: NULL-terminated containers */
};

/* What the entries of the containers amount to. */
struct survey {
    const char *text;
    size_t bytes;
    uint32_t sm;    /* of the text chosen */
    uint32_t newer; /* lowest capability above ours */
    bool compressed, machine_code, damaged;
};

static uint64_t load(const uint8_t *at, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes); /* little-endian, as the producers are */
    return value;
}

static void look_at_entry(struct survey *survey, const uint8_t *entry,
                          uint64_t header_bytes, uint64_t payload_bytes)
{
    uint32_t sm = (uint32_t)load(entry + 28, 4);
    switch (load(entry, 2)) {
    case KIND_ELF:
        survey->machine_code = true;
        return;
    case KIND_PTX:
        break;
    default:
        return;
    }
    if (load(entry + 16, 4) != 0 || load(entry + 56, 8) != 0) {
        survey->compressed = true;
    } else if (sm > SC_SM) {
        if (!survey->newer || sm < survey->newer)
            survey->newer = sm;
    } else if (!survey->text || sm > survey->sm) {
        survey->text = (const char *)entry + header_bytes;
        survey->bytes = strnlen(survey->text, payload_bytes);
        survey->sm = sm;
    }
}

static void look_at_container(struct survey *survey, const uint8_t *at)
{
    if (load(at, 4) != CONTAINER_MAGIC) {
        survey->damaged = true;
        return;
    }
    uint64_t header = load(at + 6, 2), left = load(at + 8, 8);
    at += header;
    while (left >= SMALLEST_ENTRY) {
        uint64_t header_bytes = load(at + 4, 4), payload = load(at + 8, 8);
        if (header_bytes < SMALLEST_ENTRY || header_bytes > left ||
            payload > left - header_bytes) {
            survey->damaged = true;
            return;
        }
        look_at_entry(survey, at, header_bytes, payload);
        at += header_bytes + payload;
        left -= header_bytes + payload;
    }
}

static CUresult judge(const struct survey *survey, const char **text,
                      size_t *bytes, char *why, size_t why_bytes)
{
    if (survey->text) {
        *text = survey->text;
        *bytes = survey->bytes;
        return CUDA_SUCCESS;
    }
    if (survey->compressed)
        snprintf(why, why_bytes,
                 "the PTX in this fat binary is compressed; compile with "
                 "nvcc --no-compress");
    else if (survey->newer)
        snprintf(why, why_bytes,
                 "the PTX in this fat binary is for sm_%u, newer than this "
                 "device's sm_%d; compile with nvcc -arch=compute_%d",
                 survey->newer, SC_SM, SC_SM);
    else if (survey->machine_code)
        snprintf(why, why_bytes,
                 "this fat binary holds machine code only; compile with nvcc "
                 "-arch=compute_%d to keep PTX in it",
                 SC_SM);
    else
        snprintf(why, why_bytes, "this fat binary is %s",
                 survey->damaged ? "damaged" : "empty");
    return survey->damaged ? CUDA_ERROR_INVALID_IMAGE
                           : CUDA_ERROR_NO_BINARY_FOR_GPU;
}

CUresult sc_fatbin_find(const void *image, const char **text, size_t *bytes,
                        char *why, size_t why_bytes)
{
    const uint8_t *start = image;
    struct survey survey = {0};
    why[0] = '\0';
    /* An empty string is text too, so look no further than its NUL. */
    uint32_t magic = 0;
    memcpy(&magic, start, strnlen((const char *)start, 4));
    if (magic == WRAPPER_MAGIC) {
        const struct wrapper *wrapper = image;
        if (wrapper->data)
            look_at_container(&survey, wrapper->data);
        for (size_t i = 0;
             wrapper->version == 2 && wrapper->parts && wrapper->parts[i]; i++)
            look_at_container(&survey, wrapper->parts[i]);
        return judge(&survey, text, bytes, why, why_bytes);
    }
    if (magic == CONTAINER_MAGIC) {
        look_at_container(&survey, start);
        return judge(&survey, text, bytes, why, why_bytes);
    }
    if (memcmp(&magic, "\177ELF", 4) == 0) {
        survey.machine_code = true;
        snprintf(why, why_bytes,
                 "this image is machine code (a cubin); compile with nvcc "
                 "-ptx or -arch=compute_%d",
                 SC_SM);
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    *text = image;
    *bytes = strlen(image);
    return CUDA_SUCCESS;
}
