/*
 * Owns: nothing; see driver/file.h. System calls directly: wrappers may be
 * hooked by a preloaded library.
 */
#include "driver/file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool look(int number, struct stat *about)
{
    return number >= 0 && syscall(SYS_fstat, number, about) == 0;
}

int sc_file_make(const char *name, uint64_t bytes)
{
    struct rlimit limit;
    int number = memfd_create(name, MFD_CLOEXEC);
    if (number < 0)
        return -1;
    bool fits = getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
                limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes;
    if (fits && ftruncate(number, (off_t)bytes) == 0)
        return number;
    int why = fits ? errno : EFBIG;
    close(number);
    errno = why;
    return -1;
}

const char *sc_file_why(void)
{
    switch (errno) {
    case EMFILE:
        return "no descriptor is left (ulimit -n)";
    case EFBIG:
        return "files may not be that large (ulimit -f)";
    default:
        return strerror(errno);
    }
}

struct sc_file sc_file_note(int number)
{
    struct stat about;
    if (!look(number, &about))
        return (struct sc_file){.number = -1};
    return (struct sc_file){.number = number,
                            .open = true,
                            .device = about.st_dev,
                            .inode = about.st_ino};
}

int sc_file_number(const struct sc_file *file)
{
    struct stat about;
    return file->open && look(file->number, &about) &&
                   about.st_dev == file->device && about.st_ino == file->inode
               ? file->number
               : -1;
}
