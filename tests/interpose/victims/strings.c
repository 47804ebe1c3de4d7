/*
 * Functions of libc that only load and store: faults serve them, in vector
 * forms too, which load beyond what they were given up to the end of its page.
 * Ranges go across blocks and across the border of two allocations. See
 * memory.h for the command line.
 */
#include "memory.h"

#include <search.h>
#include <unistd.h>
#include <wchar.h>

enum { HALF = 2 << 20 };

/* The checked forms, as _FORTIFY_SOURCE has them called. */
char *__strcpy_chk(char *, const char *, size_t);
char *__strncpy_chk(char *, const char *, size_t, size_t);
char *__strcat_chk(char *, const char *, size_t);
char *__stpcpy_chk(char *, const char *, size_t);

static enum memory_state state;
static char *memory, *border;

static void show(const char *name, int shift, long result)
{
    printf("%s/%d/%d %ld %016llx\n", name, state, shift, result,
           (unsigned long long)victim_hash((uint8_t *)memory, 2 * HALF));
}

/* Each at several distances from the border of a page. */
#define CASE(...)                                                              \
    for (int shift = 0; shift < 40; shift += 31) {                             \
        memory_fill((uint8_t *)memory, 2 * HALF, 'k', state);                  \
        border = memory + HALF - shift;                                        \
        border[20000] = '\0';                                                  \
        show(#__VA_ARGS__, shift, (long)(__VA_ARGS__));                        \
    }

static int order(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static long sorted(int *at, size_t count)
{
    int key = 500 * 7 % 1009;
    for (size_t i = 0; i < count; i++)
        at[i] = (int)(i * 7 % 1009);
    qsort(at, count, sizeof *at, order);
    size_t found = count;
    long sum = *(int *)bsearch(&key, at, count, sizeof *at, order);
    return sum + *(int *)lfind(&at[9], at, &found, sizeof *at, order);
}

static long tokens(char *at)
{
    char *rest, *second;
    at[5000] = at[9000] = ',';
    char *first = strtok_r(at, ",", &rest);
    second = strtok_r(NULL, ",", &rest);
    return second - first + (long)strlen(second);
}

static long sign(long value)
{
    return value > 0 ? 1 : value < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
    memory_start(argc, argv);
    memory = (char *)memory_pair(HALF);
    for (int s = 0; s < MEMORY_STATES; s += MEMORY_MIXED) {
        state = (enum memory_state)s;
        CASE(strlen(border - 50000));
        CASE(strnlen(border - 50000, 60000));
        CASE((char *)memchr(border - 9000, 0, 100000) - border);
        CASE((char *)memrchr(border - 9000, 'k', 10000) - border);
        CASE((char *)rawmemchr(border - 9000, 0) - border);
        CASE(strchr(border - 9000, 0) - border);
        CASE(strrchr(border - 9000, 'k') - border);
        CASE(strchrnul(border - 9000, 'z') - border);
        CASE(strspn(border - 9000, "kl"));
        CASE(strcspn(border - 9000, "xyz"));
        CASE(strpbrk(border - 9000, "xyz") == NULL);
        CASE(strstr(border - 9000, "kkkl") == NULL);
        CASE(memmem(border - 9000, 20000, "l", 1) == NULL);
        CASE(sign(strcmp(border - 9000, border - 9001)));
        CASE(sign(strncmp(border - 9000, memory, 12000)));
        CASE(sign(strcasecmp(border - 9000, border - 9001)));
        CASE(sign(strcoll(border - 9000, border - 9001)));
        CASE(strcpy(memory + 100, border - 9000) - memory);
        CASE(stpcpy(border - 30000, border + 100) - border);
        CASE(strncpy(border - 60000, border + 15000, 30000) - border);
        CASE(strcat(border - 9000, "some more") - border);
        CASE(strncat(border - 9000, "some more", 4) - border);
        CASE(__strcpy_chk(memory + 100, border - 9000, HALF) - memory);
        CASE(__stpcpy_chk(border - 30000, border + 100, HALF) - border);
        CASE(__strncpy_chk(border - 60000, border + 15000, 30000, HALF) -
             border);
        CASE(__strcat_chk(border - 9000, "some more", HALF) - border);
        CASE((char *)memccpy(border - 60000, border, 0, 40000) - border);
        CASE((char *)memfrob(border - 5000, 9000) - border);
        CASE((swab(border - 9000, border - 60000, 20000), 0));
        CASE(wcsnlen((wchar_t *)(memory + HALF - 4096), 4000));
        CASE(wmemset((wchar_t *)(memory + HALF - 4096), L'q', 3000) != NULL);
        CASE(wmemchr((wchar_t *)(memory + HALF - 4096), L'q', 3000) == NULL);
        CASE(strtol(strcpy(border - 2, "1234567 "), NULL, 10));
        CASE(sorted((int *)(memory + HALF - 8192), 5000));
        CASE(tokens(border - 7000));
    }
    return 0;
}
