/*
 * The fat-binary reader. The first byte says what of an image the rest is:
 * 0: as given to cuModuleLoadData, 1: a container behind a wrapper, 2: parts
 * of a relocatable program, each from one container magic to the next.
 *
 * The rest ends where a page begins that cannot be read.
 */
#include "fuzz.h"

#include "ptx/fatbin.h"

#include <sys/mman.h>
#include <unistd.h>

enum { ROOM = 1 << 20, PAGE = 4096, PARTS_MOST = 6 };

static const uint8_t container_magic[4] = {0x50, 0xed, 0x55, 0xba};

struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *parts;
};

static uint8_t *room_end(void)
{
    static uint8_t *end;
    if (!end) {
        uint8_t *room = mmap(NULL, ROOM + PAGE, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        FUZZ_CHECK(room != MAP_FAILED);
        end = room + ROOM;
        FUZZ_CHECK(mprotect(end, PAGE, PROT_NONE) == 0);
    }
    return end;
}

static void find(const void *image)
{
    char why[256];
    struct sc_text text;
    enum sc_image_status result =
        sc_fatbin_find(image, 90, &text, why, sizeof why);
    if (result == SC_IMAGE_FOUND)
        FUZZ_CHECK(text.text && text.bytes == strlen(text.text));
    free(result == SC_IMAGE_FOUND ? text.text : NULL);
}

static void find_parts(const uint8_t *at, const uint8_t *end)
{
    const void *parts[PARTS_MOST + 1] = {NULL};
    struct wrapper wrapper = {0x466243b1u, 2, NULL, parts};
    for (int n = 0; n < PARTS_MOST && at; n++) {
        at = memmem(at, (size_t)(end - at), container_magic,
                    sizeof container_magic);
        parts[n] = at;
        at = at ? at + sizeof container_magic : NULL;
    }
    find(&wrapper);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes == 0 || bytes >= ROOM)
        return 0;
    uint8_t *end = room_end(), *image = end - bytes;
    memcpy(image, data + 1, bytes - 1);
    end[-1] = 0; /* plain text ends in one */
    if (*data == 1) {
        struct wrapper wrapper = {0x466243b1u, 1, image, NULL};
        find(&wrapper);
    } else if (*data == 2) {
        find_parts(image, end);
    } else {
        find(image);
    }
    return 0;
}
