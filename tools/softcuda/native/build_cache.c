/*
 * Owns: the layout and the trust rules of cached objects, and their number.
 * Does not own: compiling, loading. Lock: none, see build_cache.h.
 */
#include "native/build_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC       UINT64_C(0x31766974616e6373) /* "scnativ1" */
#define MOST_BYTES  ((off_t)64 << 20)
#define STALE_S     3600
#define NAME_DIGITS 32

struct hash {
    uint64_t a, b;
};

/** Last bytes of a cached file. */
struct trailer {
    uint64_t object_bytes, key_bytes;
    struct hash sum; /* of all before the trailer */
    uint64_t magic;
};

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 29;
    x *= UINT64_C(0xa0761d6478bd642f);
    return x ^ x >> 32;
}

/* Two independent 64-bit lanes. Nobody who could forge a file is kept out by
 * a hash: the owner check does that; and a key is compared in full. */
static struct hash hash_bytes(const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    struct hash h = {UINT64_C(0x9e3779b97f4a7c15) ^ n,
                     UINT64_C(0xc2b2ae3d27d4eb4f) + n};
    for (; n;) {
        uint64_t word = 0;
        size_t take = n < 8 ? n : 8;
        memcpy(&word, at, take);
        h.a = (h.a ^ word) * UINT64_C(0x9fb21c651e98df25);
        h.a ^= h.a >> 31;
        h.b = (h.b + word) * UINT64_C(0x8ebc6af09c88c6e3);
        h.b ^= h.b >> 29;
        at += take;
        n -= take;
    }
    return (struct hash){mix(h.a ^ h.b << 7), mix(h.b)};
}

static bool make_folders(const char *folder)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s", folder) >= (int)sizeof path)
        return false;
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST && errno != EROFS &&
            errno != EACCES)
            return false;
        *slash = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

bool sc_build_cache_open(const char *folder, char *why, size_t why_bytes)
{
    struct stat st;
    const char *reason = NULL;
    if (!make_folders(folder) || stat(folder, &st) != 0)
        reason = strerror(errno);
    else if (!S_ISDIR(st.st_mode))
        reason = "not a folder";
    else if (st.st_uid != geteuid())
        reason = "belongs to another user";
    else if (st.st_mode & (S_IWGRP | S_IWOTH))
        reason = "others may write to it";
    else if (access(folder, W_OK | X_OK) != 0)
        reason = strerror(errno);
    if (reason)
        snprintf(why, why_bytes, "%s", reason);
    return !reason;
}

void sc_build_cache_path(const char *folder, const char *key, size_t key_bytes,
                         char *path, size_t bytes)
{
    struct hash h = hash_bytes(key, key_bytes);
    snprintf(path, bytes, "%s/%016llx%016llx" SC_BUILD_CACHE_OBJECT, folder,
             (unsigned long long)h.a, (unsigned long long)h.b);
}

static bool read_whole(int fd, char *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(fd, bytes + done, n - done, (off_t)done);
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static bool is_intact(const char *bytes, size_t n, const char *key,
                      size_t key_bytes)
{
    struct trailer t;
    memcpy(&t, bytes + n - sizeof t, sizeof t);
    size_t body = n - sizeof t;
    if (t.magic != MAGIC || t.key_bytes != key_bytes || key_bytes > body ||
        t.object_bytes != body - key_bytes)
        return false;
    struct hash sum = hash_bytes(bytes, body);
    return sum.a == t.sum.a && sum.b == t.sum.b &&
           memcmp(bytes + t.object_bytes, key, key_bytes) == 0;
}

static bool is_ours(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
           !(st->st_mode & (S_IWGRP | S_IWOTH));
}

bool sc_build_cache_check(const char *path, const char *key, size_t key_bytes)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool good = fstat(fd, &st) == 0 && is_ours(&st);
    bool damaged = good && (st.st_size < (off_t)sizeof(struct trailer) ||
                            st.st_size > MOST_BYTES);
    if (good && !damaged) {
        size_t n = (size_t)st.st_size;
        char *bytes = malloc(n);
        good = bytes && read_whole(fd, bytes, n);
        damaged = good && !is_intact(bytes, n, key, key_bytes);
        free(bytes);
    }
    if (good && !damaged)
        futimens(fd, NULL);
    close(fd);
    if (damaged)
        unlink(path);
    return good && !damaged;
}

static bool write_whole(int fd, const void *bytes, size_t n, off_t at)
{
    for (size_t done = 0; done < n;) {
        ssize_t put =
            pwrite(fd, (const char *)bytes + done, n - done, at + (off_t)done);
        if (put <= 0)
            return false;
        done += (size_t)put;
    }
    return true;
}

bool sc_build_cache_seal(const char *object, const char *key, size_t key_bytes)
{
    struct stat st;
    int fd = open(object, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool good = fstat(fd, &st) == 0 && st.st_size < MOST_BYTES;
    size_t n = good ? (size_t)st.st_size : 0;
    char *bytes = good ? malloc(n + key_bytes) : NULL;
    good = bytes && read_whole(fd, bytes, n) && fchmod(fd, 0600) == 0;
    if (good) {
        memcpy(bytes + n, key, key_bytes);
        struct trailer t = {.object_bytes = n,
                            .key_bytes = key_bytes,
                            .sum = hash_bytes(bytes, n + key_bytes),
                            .magic = MAGIC};
        good = write_whole(fd, key, key_bytes, (off_t)n) &&
               write_whole(fd, &t, sizeof t, (off_t)(n + key_bytes));
        if (!good && ftruncate(fd, (off_t)n) != 0)
            good = false; /* what is appended does no harm to a loader */
    }
    free(bytes);
    /* a late report of a full disk comes here on some file systems */
    return close(fd) == 0 && good;
}

struct entry {
    char name[NAME_DIGITS + 4];
    uint64_t bytes;
    struct timespec used;
};

struct list {
    struct entry *entries;
    size_t count, room;
    uint64_t bytes;
};

static bool is_cached_name(const char *name)
{
    return strlen(name) == NAME_DIGITS + 3 &&
           strspn(name, "0123456789abcdef") == NAME_DIGITS &&
           (strcmp(name + NAME_DIGITS, SC_BUILD_CACHE_OBJECT) == 0 ||
            strcmp(name + NAME_DIGITS, SC_BUILD_CACHE_NOTE) == 0);
}

static void add_entry(struct list *list, const char *name,
                      const struct stat *st)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 64;
        struct entry *grown = realloc(list->entries, room * sizeof *grown);
        if (!grown)
            return;
        list->entries = grown;
        list->room = room;
    }
    struct entry *entry = &list->entries[list->count++];
    memcpy(entry->name, name, sizeof entry->name);
    entry->bytes = (uint64_t)st->st_blocks * 512;
    entry->used = st->st_mtim;
    list->bytes += entry->bytes;
}

/* What is in the folder; leftovers of killed compilers go at once. */
static struct list read_folder(DIR *dir)
{
    struct list list = {0};
    struct dirent *e;
    struct stat st;
    time_t now = time(NULL);
    while ((e = readdir(dir))) {
        bool cached = is_cached_name(e->d_name);
        bool unfinished = strncmp(e->d_name, SC_BUILD_UNFINISHED,
                                  strlen(SC_BUILD_UNFINISHED)) == 0;
        if ((!cached && !unfinished) ||
            fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (cached)
            add_entry(&list, e->d_name, &st);
        else if (now - st.st_mtime > STALE_S)
            unlinkat(dirfd(dir), e->d_name, 0);
    }
    return list;
}

static int by_use(const void *left, const void *right)
{
    const struct timespec *a = &((const struct entry *)left)->used;
    const struct timespec *b = &((const struct entry *)right)->used;
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

void sc_build_cache_trim(const char *folder, uint64_t limit)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    struct list list = read_folder(dir);
    if (list.bytes > limit) {
        qsort(list.entries, list.count, sizeof *list.entries, by_use);
        /* a little more than needed, or every build would come back here */
        uint64_t goal = limit - limit / 10;
        for (size_t i = 0; i < list.count && list.bytes > goal; i++) {
            unlinkat(dirfd(dir), list.entries[i].name, 0);
            list.bytes -= list.entries[i].bytes;
        }
    }
    free(list.entries);
    closedir(dir);
}
