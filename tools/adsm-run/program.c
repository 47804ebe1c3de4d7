/*
 * Looks at the file that is about to be run. See program.h.
 */
#include "program.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MOST_HEADERS 128

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           access(path, X_OK) == 0;
}

int program_find(const char *name, char *path, size_t bytes)
{
    snprintf(path, bytes, "%s", name);
    if (strchr(name, '/'))
        return is_program(name) ? 0 : -1;
    const char *dirs = getenv("PATH");
    for (const char *dir = dirs ? dirs : "/bin:/usr/bin"; *dir;) {
        size_t length = strcspn(dir, ":");
        snprintf(path, bytes, "%.*s%s%s", (int)length, dir, length ? "/" : "",
                 name);
        if (is_program(path))
            return 0;
        dir += length + (dir[length] == ':');
    }
    snprintf(path, bytes, "%s", name);
    return -1;
}

/* The loader ignores LD_PRELOAD with a slash when the program gains rights. */
static bool gains_rights(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    bool user = (st.st_mode & S_ISUID) && st.st_uid != getuid();
    bool group = (st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) &&
                 st.st_gid != getgid();
    bool capable =
        getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
    return user || group || capable;
}

static bool has_interpreter(int fd, const Elf64_Ehdr *head)
{
    Elf64_Phdr headers[MOST_HEADERS];
    size_t count = head->e_phnum < MOST_HEADERS ? head->e_phnum : MOST_HEADERS;
    ssize_t got =
        head->e_phentsize == sizeof *headers
            ? pread(fd, headers, count * sizeof *headers, (off_t)head->e_phoff)
            : -1;
    if (got != (ssize_t)(count * sizeof *headers))
        return true; /* damaged: let exec say so */
    for (size_t i = 0; i < count; i++)
        if (headers[i].p_type == PT_INTERP)
            return true;
    return false;
}

static enum program_kind classify_open(int fd)
{
    Elf64_Ehdr head;
    if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return PROGRAM_UNKNOWN;
    if (head.e_ident[EI_CLASS] != ELFCLASS64)
        return PROGRAM_OTHER_BITS;
    if (!has_interpreter(fd, &head))
        return PROGRAM_STATIC;
    return gains_rights(fd) ? PROGRAM_PRIVILEGED : PROGRAM_DYNAMIC;
}

enum program_kind program_classify(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return PROGRAM_UNKNOWN;
    enum program_kind kind = classify_open(fd);
    close(fd);
    return kind;
}
