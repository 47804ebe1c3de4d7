/* Rows: what files are, and their names. */
#include "contract.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

static struct stat status;

/* Close what a call opened. */
static long opened(long fd)
{
    int error = errno;
    if (fd >= 0)
        close((int)fd);
    errno = error;
    return fd < 0 ? fd : 0;
}

static long opened_stream(FILE *stream)
{
    int error = errno;
    if (stream)
        fclose(stream);
    errno = error;
    return stream != NULL;
}

static long opened_folder(DIR *folder)
{
    int error = errno;
    if (folder)
        closedir(folder);
    errno = error;
    return folder != NULL;
}

/* Make a file with a call, remove it again. */
static long made(long result)
{
    char path[96];
    int error = errno;
    snprintf(path, sizeof path, "%s/new", now.folder);
    if (unlink(path) != 0 && rmdir(path) != 0 && result == 0)
        result = -1000;
    errno = error;
    return result;
}

static long undone(long result, const char *from)
{
    char path[96];
    int error = errno;
    snprintf(path, sizeof path, "%s/new", now.folder);
    if (result == 0 && rename(path, from) != 0)
        result = -1000;
    errno = error;
    return result;
}

static const char *new_name(void)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/new", now.folder);
    return path;
}

static long folder_in(uint8_t *p, size_t bytes)
{
    int fd = open(now.folder, O_RDONLY | O_DIRECTORY);
    long result = getdents64(fd, p, bytes);
    return opened(fd), result;
}

static long attribute(uint8_t *p)
{
    fsetxattr(now.file, "user.contract", "twelve bytes", 12, 0);
    return fgetxattr(now.file, "user.contract", p, 12);
}

#define NAME (const char *)p

RUN(stat, stat(now.file_path, (struct stat *)p))
RUN(stat_name, stat(NAME, &status))
RUN(stat_none, stat("/tmp/nobody/is/here", (struct stat *)p))
RUN(lstat, lstat(now.link_path, (struct stat *)p))
RUN(fstat, fstat(now.file, (struct stat *)p))
RUN(fstat_bad, fstat(-1, (struct stat *)p))
RUN(fstatat, fstatat(AT_FDCWD, now.file_path, (struct stat *)p, 0))
RUN(fstatat_name, fstatat(AT_FDCWD, NAME, &status, 0))
RUN(fstat64, fstat64(now.file, (struct stat64 *)p))
RUN(statx,
    statx(AT_FDCWD, now.file_path, 0, STATX_BASIC_STATS, (struct statx *)p))
RUN(statfs, statfs("/proc", (struct statfs *)p))
RUN(fstatfs, fstatfs(now.pipe[0], (struct statfs *)p))
RUN(statvfs, statvfs("/proc", (struct statvfs *)p))
RUN(readlink, readlink(now.link_path, (char *)p, 200))
RUN(readlink_cut, readlink(now.link_path, (char *)p, 10))
RUN(readlink_bad, readlink(now.file_path, (char *)p, 10))
RUN(readlink_name, readlink(NAME, (char *)&status, 10))
RUN(readlinkat, readlinkat(AT_FDCWD, now.link_path, (char *)p, 200))
RUN(getcwd, getcwd((char *)p, 1000) == (char *)p)
RUN(getcwd_short, getcwd((char *)p, 3) == (char *)p)
RUN(getdents64, folder_in(p, 1000))
RUN(getdents64_short, folder_in(p, 10))
RUN(getxattr, attribute(p))
RUN(getxattr_name, getxattr(now.file_path, NAME, &status, 10))
RUN(setxattr, fsetxattr(now.file, "user.contract", p, 12, 0))
RUN(listxattr, listxattr(now.file_path, (char *)p, 100))
RUN(listxattr_size, listxattr(now.file_path, (char *)p, 0))
RUN(access, access(NAME, R_OK))
RUN(faccessat, faccessat(AT_FDCWD, NAME, R_OK, 0))
RUN(open, opened(open(NAME, O_RDONLY)))
RUN(openat, opened(openat(AT_FDCWD, NAME, O_RDONLY)))
RUN(creat, made(opened(creat(NAME, 0600))))
RUN(mkdir, made(mkdir(NAME, 0700)))
RUN(mkfifo, made(mkfifo(NAME, 0600)))
RUN(symlink, made(symlink("anything", NAME)))
RUN(symlink_text, made(symlink(NAME, new_name())))
RUN(link, made(link(now.file_path, NAME)))
RUN(rename, undone(rename(now.file_path, NAME), now.file_path))
RUN(rename_from, undone(rename(NAME, new_name()), now.file_path))
RUN(chmod, chmod(NAME, 0640))
RUN(chown, chown(NAME, (uid_t)-1, (gid_t)-1))
RUN(truncate, truncate(NAME, 5000))
RUN(unlink, unlink(NAME))
RUN(rmdir, rmdir(NAME))
RUN(chdir, chdir(NAME))
RUN(utimensat, utimensat(AT_FDCWD, now.file_path, (struct timespec *)p, 0))
RUN(utimensat_name, utimensat(AT_FDCWD, NAME, NULL, 0))
RUN(utimes, utimes(now.file_path, (struct timeval *)p))
RUN(utime, utime(now.file_path, (struct utimbuf *)p))
RUN(fopen, opened_stream(fopen(NAME, "r")))
RUN(opendir, opened_folder(opendir(NAME)))

/* Names are as long as the row says, with their 0. */
static void fill_path(uint8_t *init)
{
    strcpy((char *)init, now.file_path);
}

static void fill_link(uint8_t *init)
{
    strcpy((char *)init, now.link_path);
}

static void fill_new(uint8_t *init)
{
    strcpy((char *)init, new_name());
}

static void fill_none(uint8_t *init)
{
    strcpy((char *)init, "/tmp/nobody/is/here");
}

static void fill_root(uint8_t *init)
{
    strcpy((char *)init, "/././././././././.");
}

static void fill_long(uint8_t *init)
{
    memset(init, 'a', 5000);
}

FILL(attribute, char[14], "user.contract")

static void fill_times(uint8_t *init)
{
    struct timespec times[2] = {{100000, 7}, {200000, 9}};
    memcpy(init, times, sizeof times);
}

static void fill_longs(uint8_t *init)
{
    long times[4] = {100000, 7, 200000, 9};
    memcpy(init, times, sizeof times);
}

const struct contract_row rows_names[] = {
    {"stat", sizeof status, NULL, run_stat, 0},
    {"stat name", 25, fill_path, run_stat_name, 0},
    {"stat no such name", 20, fill_none, run_stat_name, 0},
    {"stat long name", 5000, fill_long, run_stat_name, 0},
    {"stat of nothing", sizeof status, NULL, run_stat_none, 0},
    {"lstat", sizeof status, NULL, run_lstat, CONTRACT_LOOSE},
    {"fstat", sizeof status, NULL, run_fstat, 0},
    {"fstat bad file", sizeof status, NULL, run_fstat_bad, 0},
    {"fstatat", sizeof status, NULL, run_fstatat, 0},
    {"fstatat name", 25, fill_path, run_fstatat_name, 0},
    {"fstat64", sizeof status, NULL, run_fstat64, 0},
    {"statx", sizeof(struct statx), NULL, run_statx, 0},
    {"statfs", sizeof(struct statfs), NULL, run_statfs, 0},
    {"fstatfs", sizeof(struct statfs), NULL, run_fstatfs, 0},
    {"statvfs", sizeof(struct statvfs), NULL, run_statvfs, CONTRACT_WHOLE},
    {"readlink", 200, NULL, run_readlink, 0},
    {"readlink cut", 10, NULL, run_readlink_cut, 0},
    {"readlink of a file", 10, NULL, run_readlink_bad, 0},
    {"readlink name", 25, fill_link, run_readlink_name, 0},
    {"readlinkat", 200, NULL, run_readlinkat, 0},
    {"getcwd", 1000, NULL, run_getcwd, 0},
    {"getcwd too short", 3, NULL, run_getcwd_short, 0},
    {"getdents64", 1000, NULL, run_getdents64, 0},
    {"getdents64 too short", 10, NULL, run_getdents64_short, 0},
    {"getxattr", 12, NULL, run_getxattr, 0},
    {"getxattr name", 14, fill_attribute, run_getxattr_name, 0},
    {"setxattr", 12, NULL, run_setxattr, 0},
    {"listxattr", 100, NULL, run_listxattr, 0},
    {"listxattr size", 100, NULL, run_listxattr_size, 0},
    {"access", 25, fill_path, run_access, 0},
    {"access no such name", 20, fill_none, run_access, 0},
    {"faccessat", 25, fill_path, run_faccessat, 0},
    {"open", 25, fill_path, run_open, 0},
    {"open no such name", 20, fill_none, run_open, 0},
    {"openat", 25, fill_path, run_openat, 0},
    {"creat", 24, fill_new, run_creat, 0},
    {"mkdir", 24, fill_new, run_mkdir, 0},
    {"mkfifo", 24, fill_new, run_mkfifo, 0},
    {"symlink", 24, fill_new, run_symlink, 0},
    {"symlink text", 25, fill_path, run_symlink_text, 0},
    {"link", 24, fill_new, run_link, 0},
    {"rename", 24, fill_new, run_rename, 0},
    {"rename from", 25, fill_path, run_rename_from, 0},
    {"chmod", 25, fill_path, run_chmod, 0},
    {"chown", 25, fill_path, run_chown, 0},
    {"truncate", 25, fill_path, run_truncate, 0},
    {"unlink no such name", 20, fill_none, run_unlink, 0},
    {"rmdir no such name", 20, fill_none, run_rmdir, 0},
    {"chdir", 19, fill_root, run_chdir, 0},
    {"utimensat", 32, fill_times, run_utimensat, 0},
    {"utimensat name", 25, fill_path, run_utimensat_name, 0},
    {"utimes", 32, fill_longs, run_utimes, CONTRACT_WHOLE},
    {"utime", 16, fill_longs, run_utime, CONTRACT_WHOLE},
    {"fopen", 25, fill_path, run_fopen, 0},
    {"opendir", 19, fill_root, run_opendir, 0},
    {"opendir no folder", 25, fill_path, run_opendir, 0},
};
const size_t rows_names_count = sizeof rows_names / sizeof *rows_names;
