/*
 * The dynamic section of a program, read from its file. See needs.h.
 */
#include "needs.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST_HEADERS 128
#define MOST_ENTRIES 512

struct image {
    int fd;
    size_t headers, entries;
    Elf64_Phdr header[MOST_HEADERS];
    Elf64_Dyn entry[MOST_ENTRIES];
};

static bool read_headers(struct image *image)
{
    Elf64_Ehdr head;
    if (pread(image->fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_phentsize != sizeof *image->header)
        return false;
    image->headers = head.e_phnum < MOST_HEADERS ? head.e_phnum : MOST_HEADERS;
    size_t bytes = image->headers * sizeof *image->header;
    return pread(image->fd, image->header, bytes, (off_t)head.e_phoff) ==
           (ssize_t)bytes;
}

static bool read_entries(struct image *image)
{
    for (size_t i = 0; i < image->headers; i++) {
        const Elf64_Phdr *header = &image->header[i];
        if (header->p_type != PT_DYNAMIC)
            continue;
        size_t bytes = header->p_filesz < sizeof image->entry
                           ? header->p_filesz
                           : sizeof image->entry;
        ssize_t got =
            pread(image->fd, image->entry, bytes, (off_t)header->p_offset);
        image->entries = got > 0 ? (size_t)got / sizeof *image->entry : 0;
        return image->entries > 0;
    }
    return false;
}

/* Where in the file the names begin; -1 when that is nowhere. */
static off_t names_of(const struct image *image)
{
    Elf64_Addr at = 0;
    for (size_t i = 0; i < image->entries; i++)
        if (image->entry[i].d_tag == DT_STRTAB)
            at = image->entry[i].d_un.d_ptr;
    for (size_t i = 0; i < image->headers; i++) {
        const Elf64_Phdr *header = &image->header[i];
        if (header->p_type == PT_LOAD &&
            at - header->p_vaddr < header->p_filesz)
            return (off_t)(header->p_offset + (at - header->p_vaddr));
    }
    return -1;
}

static int find_needed(const struct image *image, const char *prefix,
                       char *name, size_t bytes)
{
    off_t names = names_of(image);
    for (size_t i = 0; names >= 0 && i < image->entries; i++) {
        const Elf64_Dyn *entry = &image->entry[i];
        char text[NAME_MAX + 1] = "";
        if (entry->d_tag == DT_NULL)
            break;
        if (entry->d_tag != DT_NEEDED ||
            pread(image->fd, text, sizeof text - 1,
                  names + (off_t)entry->d_un.d_val) <= 0 ||
            strncmp(text, prefix, strlen(prefix)) != 0)
            continue;
        return (size_t)snprintf(name, bytes, "%s", text) < bytes ? 0 : -1;
    }
    return -1;
}

static bool read_image(struct image *image, const char *path)
{
    *image = (struct image){
        .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
    };
    return image->fd >= 0 && read_headers(image) && read_entries(image);
}

static void close_image(const struct image *image)
{
    if (image->fd >= 0)
        close(image->fd);
}

int needs_library(const char *path, const char *prefix, char *name,
                  size_t bytes)
{
    struct image image;
    int rc = read_image(&image, path) ? find_needed(&image, prefix, name, bytes)
                                      : -1;
    close_image(&image);
    return rc;
}

static bool has_tag(const struct image *image, Elf64_Sxword tag)
{
    for (size_t i = 0; i < image->entries; i++) {
        if (image->entry[i].d_tag == DT_NULL)
            return false;
        if (image->entry[i].d_tag == tag)
            return true;
    }
    return false;
}

bool needs_from_own_path(const char *path)
{
    struct image image;
    bool own = read_image(&image, path) && has_tag(&image, DT_RPATH) &&
               !has_tag(&image, DT_RUNPATH);
    close_image(&image);
    return own;
}
