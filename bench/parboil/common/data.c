/*
 * parboil-data and ranges-data: make input files of any size. See data.h,
 * FORMATS.md and bench/ranges/README.md.
 */
#include "common/data.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void die(const char *what, const char *value)
{
    fprintf(stderr, "%s: %s '%s' (see --help)\n", program_invocation_short_name,
            what, value);
    exit(2);
}

static void help(void)
{
    printf("usage: %s benchmark small|medium|large|gpu file [seed=n]"
           " [number=value ...]\n"
           "Writes an input file. The benchmarks and the numbers of their "
           "files,\nsmall, medium and large, and gpu where there is one:\n",
           program_invocation_short_name);
    for (int k = 0; k < data_kind_count; k++) {
        const struct data_kind *kind = data_kinds[k];
        for (int i = 0; i < kind->count; i++) {
            printf("  %-12s %-12s %8" PRIu32 " %8" PRIu32 " %8" PRIu32,
                   i ? "" : kind->name, kind->fields[i].name, kind->small[i],
                   kind->medium[i], kind->large[i]);
            if (kind->gpu)
                printf(" %9" PRIu32, kind->gpu[i]);
            putchar('\n');
        }
    }
}

FILE *data_create(const char *path, const struct data_kind *kind,
                  const uint32_t *values)
{
    FILE *file = fopen(path, "wb");
    if (!file || input_write_header(file, kind->name, values, kind->count) != 0)
        die(strerror(errno), path);
    return file;
}

void data_write(FILE *file, const void *data, size_t bytes)
{
    fwrite(data, 1, bytes, file);
}

void data_close(FILE *file, const char *path)
{
    int failed = ferror(file);
    if (fclose(file) != 0 || failed)
        die("cannot write", path);
}

void data_write_numbers(const struct data_request *request)
{
    struct data_request it = *request;
    for (int i = 0; i < it.kind->count; i++)
        if (strcmp(it.kind->fields[i].name, "seed") == 0)
            it.value[i] = (uint32_t)it.seed;
    data_close(data_create(it.path, it.kind, it.value), it.path);
}

void *data_alloc(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory)
        die("out of memory for", "the values");
    return memory;
}

static const struct data_kind *kind_find(const char *name)
{
    for (int i = 0; i < data_kind_count; i++)
        if (strcmp(data_kinds[i]->name, name) == 0)
            return data_kinds[i];
    die("there is no benchmark", name);
}

static void size_set(const struct data_kind *kind, const char *size,
                     struct data_request *request)
{
    const uint32_t *values = strcmp(size, "small") == 0    ? kind->small
                             : strcmp(size, "medium") == 0 ? kind->medium
                             : strcmp(size, "large") == 0  ? kind->large
                             : strcmp(size, "gpu") == 0    ? kind->gpu
                                                           : NULL;
    if (!values && strcmp(size, "gpu") == 0)
        die("there is no size gpu of", kind->name);
    if (!values)
        die("small, medium, large or gpu, not", size);
    memcpy(request->value, values, (size_t)kind->count * sizeof *values);
}

/* "number=value": one value of the header, or the seed. */
static void value_set(const struct data_kind *kind, const char *word,
                      struct data_request *request)
{
    const char *equals = strchr(word, '=');
    if (!equals)
        die("not of the form number=value:", word);
    char *end;
    errno = 0;
    uint64_t value = strtoull(equals + 1, &end, 10);
    if (errno != 0 || end == equals + 1 || *end || equals[1] == '-')
        die("not a whole number:", word);
    size_t length = (size_t)(equals - word);
    if (length == 4 && memcmp(word, "seed", 4) == 0) {
        request->seed = value;
        return;
    }
    for (int i = 0; i < kind->count; i++) {
        const struct input_field *field = &kind->fields[i];
        if (strlen(field->name) != length ||
            memcmp(field->name, word, length) != 0)
            continue;
        if (value < field->min || value > field->max)
            die("out of range:", word);
        request->value[i] = (uint32_t)value;
        return;
    }
    die("there is no such number:", word);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        help();
        return 0;
    }
    if (argc < 4)
        die("needs a benchmark, a size and a file, got only",
            argc > 1 ? argv[argc - 1] : "nothing");
    const struct data_kind *kind = kind_find(argv[1]);
    struct data_request request = {.kind = kind, .path = argv[3], .seed = 1};
    size_set(kind, argv[2], &request);
    for (int i = 4; i < argc; i++)
        value_set(kind, argv[i], &request);
    kind->write(&request);
    return 0;
}
