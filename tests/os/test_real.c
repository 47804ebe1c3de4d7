/*
 * Real entry points: found behind functions of the same name in the program.
 *
 * This program defines read, sigaction and dlsym itself, as a preloaded library
 * would; the table must hold the C library's all the same.
 */
#include "os/real.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/sanitized.h"
#include "common/suite.h"

static _Atomic int hooked;

__attribute__((visibility("default"))) ssize_t read(int fd, void *to, size_t n)
{
    hooked++;
    return -1;
}

#if !SANITIZED
/* (A sanitizer's own start needs the name.) */
__attribute__((visibility("default"))) void *dlsym(void *restrict handle,
                                                   const char *restrict name)
{
    hooked++;
    return NULL;
}
#endif

__attribute__((visibility("default"))) int
sigaction(int signal, const struct sigaction *restrict act,
          struct sigaction *restrict old)
{
    hooked++;
    return adsm_real()->sigaction(signal, act, old);
}

/* File of the library that holds an address. */
static const char *library_of(void *address)
{
    Dl_info info;
    if (dladdr(address, &info) == 0)
        return "nowhere";
    const char *slash = strrchr(info.dli_fname, '/');
    return slash != NULL ? slash + 1 : info.dli_fname;
}

START_TEST(every_entry_is_the_c_librarys)
{
    const struct adsm_real *real = adsm_real();
#define X(ret, name, params)                                                   \
    ck_assert_msg(real->name != NULL, #name);                                  \
    ck_assert_msg(                                                             \
        strncmp(library_of((void *)(uintptr_t)real->name), "libc", 4) == 0 ||  \
            strncmp(library_of((void *)(uintptr_t)real->name), "libdl", 5) ==  \
                0,                                                             \
        #name " is in %s", library_of((void *)(uintptr_t)real->name));
#include "os/real.def"
#undef X
}
END_TEST

START_TEST(real_read_is_not_the_programs)
{
    int pipes[2];
    char text[8] = "";
    ck_assert_int_eq(pipe(pipes), 0);
    ck_assert_int_eq(adsm_real()->write(pipes[1], "hello", 6), 6);
    int before = hooked;
    ck_assert_int_eq(adsm_real()->read(pipes[0], text, sizeof text), 6);
    ck_assert_int_eq(hooked, before);
    ck_assert_str_eq(text, "hello");
    ck_assert_int_eq(read(pipes[0], text, 1), -1);
    ck_assert_int_eq(hooked, before + 1);
}
END_TEST

START_TEST(memory_functions_work)
{
    char a[100], b[100];
    const struct adsm_real *real = adsm_real();
    real->memset(a, 5, sizeof a);
    real->memcpy(b, a, sizeof a);
    ck_assert_int_eq(real->memcmp(a, b, sizeof a), 0);
    b[50] = 6;
    ck_assert_int_ne(real->memcmp(a, b, sizeof a), 0);
    real->memmove(b + 1, b, 99);
    ck_assert_int_eq(b[51], 6);
}
END_TEST

START_TEST(lookup_knows_versions)
{
    void *plain = adsm_real_lookup("memcpy", NULL);
    ck_assert_ptr_eq(plain, (void *)(uintptr_t)adsm_real()->memcpy);
    ck_assert_ptr_nonnull(adsm_real_lookup("getpid", NULL));
    ck_assert_ptr_null(adsm_real_lookup("no_such_function", NULL));
    ck_assert_ptr_null(adsm_real_lookup("memcpy", "GLIBC_9.9"));
#ifdef __x86_64__
    ck_assert_ptr_nonnull(adsm_real_lookup("memcpy", "GLIBC_2.2.5"));
#endif
}
END_TEST

START_TEST(resolving_again_changes_nothing)
{
    struct adsm_real before = *adsm_real();
    ck_assert_ptr_eq(adsm_real_resolve(), adsm_real());
    ck_assert_mem_eq(&before, adsm_real(), sizeof before);
}
END_TEST

START_TEST(libraries_before_libc_are_known)
{
    static struct adsm_real_images before;
    ck_assert_ptr_eq(adsm_real_lookup_libc("getpid"),
                     adsm_real_lookup("getpid", NULL));
    ck_assert_ptr_null(adsm_real_lookup_libc("no_such_function"));
    ck_assert(adsm_real_before(_DYNAMIC, &before));
    ck_assert_uint_gt(before.count, 0);
    /* Of check, where that is a library, or of one that it needs. */
    ck_assert(adsm_real_is_before(&before, "srunner_create") ||
              adsm_real_is_before(&before, "floor"));
    ck_assert(!adsm_real_is_before(&before, "no_such_function"));
    ck_assert(!adsm_real_is_before(&before, "getppid")); /* libc's alone */
    /* It defines that, but is not behind itself. */
    ck_assert(SANITIZED || !adsm_real_is_before(&before, "dlsym"));
    ck_assert(!adsm_real_before(NULL, &before));
}
END_TEST

SUITE_MAIN("real", 10, every_entry_is_the_c_librarys,
           real_read_is_not_the_programs, memory_functions_work,
           lookup_knows_versions, resolving_again_changes_nothing,
           libraries_before_libc_are_known)
