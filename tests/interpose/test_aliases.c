/*
 * Other names that the C library has for functions that are hooked: all of them
 * are hooked, by its own table of symbols, and do the same.
 */
#include "regress/interpose/preloaded.h"

#include "interpose/hooks_list.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* ---- the library's symbols --------------------------------------------------- */

struct table {
    const ElfW(Sym) * symbols;
    const char *names;
    const uint32_t *hash; /* DT_GNU_HASH */
    size_t count;
};

/* Symbols that are defined come last, in chains of the hash table. */
static size_t count_symbols(const uint32_t *hash)
{
    uint32_t buckets = hash[0], first = hash[1], words = hash[2], last = 0;
    const uint32_t *bucket = hash + 4 + words * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain = bucket + buckets;
    for (uint32_t i = 0; i < buckets; i++)
        last = bucket[i] > last ? bucket[i] : last;
    if (last < first)
        return 0;
    while (!(chain[last - first] & 1))
        last++;
    return last + 1;
}

static struct table table_of(const void *inside)
{
    Dl_info info;
    struct link_map *map;
    struct table table = {0};
    ck_assert(dladdr1(inside, &info, (void **)&map, RTLD_DL_LINKMAP));
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        const void *at = (const void *)d->d_un.d_ptr; /* the loader adds */
        if (d->d_tag == DT_SYMTAB)
            table.symbols = at;
        else if (d->d_tag == DT_STRTAB)
            table.names = at;
        else if (d->d_tag == DT_GNU_HASH)
            table.hash = at;
    }
    ck_assert_ptr_nonnull(table.hash);
    table.count = count_symbols(table.hash);
    return table;
}

static bool is_function(const ElfW(Sym) * symbol)
{
    int type = symbol->st_info & 15;
    return symbol->st_shndx != SHN_UNDEF &&
           (type == STT_FUNC || type == STT_GNU_IFUNC);
}

static bool is_hooked(const char *name)
{
    size_t count;
    const struct adsm_hook *(*list)(size_t *) =
        dlsym(RTLD_DEFAULT, "adsm_hooks_list");
    ck_assert_ptr_nonnull(list);
    const struct adsm_hook *hooks = list(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(hooks[i].name, name) == 0)
            return true;
    return false;
}

START_TEST(every_name_of_a_hooked_function_is_hooked)
{
    struct table table = table_of(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
    bool *hooked = calloc(table.count, sizeof *hooked);
    int missing = 0, found = 0;
    ck_assert_uint_gt(table.count, 1000);
    for (size_t i = 0; i < table.count; i++)
        hooked[i] = is_function(&table.symbols[i]) &&
                    is_hooked(table.names + table.symbols[i].st_name);
    for (size_t i = 0; i < table.count; i++)
        for (size_t k = 0; hooked[i] && k < table.count; k++) {
            if (!is_function(&table.symbols[k]) ||
                table.symbols[k].st_value != table.symbols[i].st_value)
                continue;
            found++;
            if (hooked[k])
                continue;
            printf("%s is %s\n", table.names + table.symbols[k].st_name,
                   table.names + table.symbols[i].st_name);
            missing++;
        }
    ck_assert_int_gt(found, 300);
    ck_assert_int_eq(missing, 0);
    free(hooked);
}
END_TEST

/* ---- what they do --------------------------------------------------------------- */

/* As programs have them that were linked by these names. */
ssize_t __read(int, void *, size_t);
ssize_t __write(int, const void *, size_t);
ssize_t __pread64(int, void *, size_t, off64_t);
int __open64(const char *, int, ...);
int __pipe(int *);
size_t _IO_fread(void *, size_t, size_t, FILE *);

enum { BYTES = 1 << 20, FILE_BYTES = 100000 };

/* Memory that the device wrote last. */
static uint8_t *given_away(void)
{
    return device_bytes(BYTES, 'a');
}

START_TEST(they_do_the_same)
{
    char path[] = "/tmp/adsm-aliases-XXXXXX";
    device_start();
    uint8_t *memory = given_away();
    int file = mkstemp(path), ends[2];
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(__write(file, memory, FILE_BYTES), FILE_BYTES);
    memory = given_away();
    ck_assert_int_eq(lseek(file, 0, SEEK_SET), 0);
    ck_assert_int_eq(__read(file, memory, FILE_BYTES), FILE_BYTES);
    memory = given_away();
    ck_assert_int_eq(__pread64(file, memory, FILE_BYTES, 3), FILE_BYTES - 3);
    memory = given_away();
    memcpy(memory, path, sizeof path);
    must(cuMemsetD8((CUdeviceptr)memory + 4096, 1, 4096));
    int again = __open64((const char *)memory, O_RDONLY);
    ck_assert_int_ge(again, 0);
    FILE *stream = fdopen(again, "r");
    memory = given_away();
    ck_assert_uint_eq(_IO_fread(memory, 1, BYTES, stream), FILE_BYTES);
    memory = given_away();
    ck_assert_int_eq(__pipe((int *)memory), 0);
    memcpy(ends, memory, sizeof ends);
    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    fclose(stream);
    unlink(path);
}
END_TEST

/* Does a function lie in the C library? */
static bool is_its_own(void *function, void *library)
{
    Dl_info info;
    ck_assert(dladdr(function, &info));
    void *there = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return there == library;
}

/* Looked up in the C library itself, too, and by version. */
START_TEST(they_are_found_by_name)
{
    void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    ck_assert_ptr_nonnull(library);
    ck_assert(is_its_own(dlsym(library, "getenv"), library));
    ck_assert(!is_its_own(dlsym(RTLD_DEFAULT, "__read"), library));
    ck_assert(!is_its_own(dlsym(library, "__read"), library));
    void *old = dlvsym(library, "__pthread_mutex_lock", "GLIBC_2.2.5");
    ck_assert(!old || !is_its_own(old, library)); /* where there is one */
}
END_TEST

SUITE_MAIN("aliases", 60, every_name_of_a_hooked_function_is_hooked,
           they_do_the_same, they_are_found_by_name)
