/*
 * Owns: nothing; see driver/file.h. System calls directly: wrappers may be
 * hooked by a preloaded library.
 */
#include "driver/file.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool look(int number, struct stat *about)
{
    return number >= 0 && syscall(SYS_fstat, number, about) == 0;
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
