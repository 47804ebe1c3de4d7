/*
 * /proc/self/maps: is somebody's data at an address?
 *
 * Owns the question by mapping and the parser of the text. Uses system calls
 * only, so that it works early in a preloaded program. No lock: a snapshot.
 */
#include "os/vm_maps.h"

#include "os/vm.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- by mapping ---------------------------------------------------------- */

/* PROCMAP_QUERY of linux/fs.h, which the headers of most systems have not. */
struct map_query {
    uint64_t size, flags, address;
    uint64_t start, end, is, page_size, offset, inode;
    uint32_t device[2], name_bytes, build_id_bytes;
    uint64_t name, build_id;
};
#define MAP_QUERY   _IOWR('f', 17, struct map_query)
#define MAP_OR_NEXT 0x10u
enum { MAP_IS_ANYTHING = 0xf }; /* readable, writable, executable, shared */

/* The mapping at `at`, or the next one, and whether it is a placeholder: closed,
 * without the name of a file, or of the kernel's. Asked at once: other threads
 * cut mappings and join them meanwhile. Return: 0; an errno, ENOENT behind the
 * last one */
static int map_next(int maps, uintptr_t at, struct map_query *map,
                    bool *is_placeholder)
{
    char name[4096];
    *map = (struct map_query){.size = sizeof *map,
                              .flags = MAP_OR_NEXT,
                              .address = at,
                              .name_bytes = sizeof name,
                              .name = (uintptr_t)name};
    if (syscall(SYS_ioctl, maps, MAP_QUERY, map) != 0)
        return errno;
    *is_placeholder = !(map->is & MAP_IS_ANYTHING) &&
                      (map->name_bytes == 0 || memcmp(name, "[anon", 5) == 0);
    return 0;
}

adsm_status_t adsm_vm_maps_ask(int maps, uintptr_t addr, size_t bytes)
{
    for (uintptr_t at = addr; at < addr + bytes;) {
        struct map_query map;
        bool is_placeholder;
        int error = map_next(maps, at, &map, &is_placeholder);
        if (error == ENOENT || (!error && map.start >= addr + bytes))
            return ADSM_OK;
        if (error)
            return ADSM_E_SYSTEM;
        if (!is_placeholder)
            return ADSM_E_INVALID;
        at = map.end;
    }
    return ADSM_OK;
}

/* ---- by text ------------------------------------------------------------- */

struct maps_line {
    uintptr_t start, end;
    bool is_placeholder; /* ---p, no file, no name of the kernel's */
};

/* Hexadecimal number at *at; moves *at behind it. */
static uintptr_t maps_number(const char **at)
{
    uintptr_t value = 0;
    for (;; (*at)++) {
        unsigned c = (unsigned char)**at;
        if (c >= '0' && c <= '9')
            value = value * 16 + (c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value * 16 + (c - 'a' + 10);
        else
            return value;
    }
}

static const char *maps_field(const char *at)
{
    while (*at != ' ' && *at != '\0')
        at++;
    while (*at == ' ')
        at++;
    return at;
}

/* "7f00-7f10 ---p 00000000 00:00 0   [anon:name]" */
static bool maps_parse(const char *text, struct maps_line *line)
{
    line->start = maps_number(&text);
    if (*text++ != '-')
        return false;
    line->end = maps_number(&text);
    if (*text++ != ' ' || strlen(text) < 4)
        return false;
    const char *mode = text;
    text = maps_field(text); /* offset */
    text = maps_field(text); /* device */
    text = maps_field(text); /* inode  */
    text = maps_field(text); /* name, of a file or the kernel's own */
    line->is_placeholder = memcmp(mode, "---p", 4) == 0 &&
                           (*text == '\0' || memcmp(text, "[anon", 5) == 0);
    return true;
}

/* May the line be there when [addr, addr+bytes) is nobody's? */
static bool maps_allows(const char *text, uintptr_t addr, size_t bytes,
                        bool *past)
{
    struct maps_line line;
    if (!maps_parse(text, &line))
        return false;
    *past = line.start >= addr + bytes;
    return *past || line.end <= addr || line.is_placeholder;
}

/* Check the complete lines of a buffer; returns the bytes they take. */
static size_t maps_check(char *text, size_t used, uintptr_t addr, size_t bytes,
                         bool *allowed, bool *past)
{
    size_t done = 0;
    while (*allowed && !*past) {
        char *end = memchr(text + done, '\n', used - done);
        if (end == NULL)
            break;
        *end = '\0';
        *allowed = maps_allows(text + done, addr, bytes, past);
        done = (size_t)(end - text) + 1;
    }
    return done;
}

adsm_status_t adsm_vm_maps_read(int maps, uintptr_t addr, size_t bytes)
{
    char text[8192]; /* a line is at most a path and a hundred bytes */
    size_t used = 0;
    bool allowed = true, past = false, complete = false;
    while (allowed && !past) {
        ssize_t n = syscall(SYS_read, maps, text + used, sizeof text - used);
        complete = n == 0 && used == 0;
        if (n <= 0)
            break;
        used += (size_t)n;
        size_t done = maps_check(text, used, addr, bytes, &allowed, &past);
        memmove(text, text + done, used - done);
        used -= done;
    }
    if (!allowed)
        return ADSM_E_INVALID;
    return past || complete ? ADSM_OK : ADSM_E_SYSTEM;
}

/* ---- either -------------------------------------------------------------- */

adsm_status_t adsm_vm_look(uintptr_t addr, size_t bytes)
{
    int maps = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps",
                            O_RDONLY | O_CLOEXEC);
    if (maps < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM
                   ? ADSM_E_NOMEM
                   : ADSM_E_SYSTEM;
    adsm_status_t status = adsm_vm_maps_ask(maps, addr, bytes);
    if (status == ADSM_E_SYSTEM)
        status = adsm_vm_maps_read(maps, addr, bytes);
    close(maps);
    return status;
}

bool adsm_vm_is_placeholder(uintptr_t addr, size_t bytes)
{
    return adsm_vm_look(addr, bytes) == ADSM_OK;
}
