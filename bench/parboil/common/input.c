/*
 * Reading input files and refusing bad ones. See input.h.
 */
#include "common/input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/bench.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "values are read and written as they lie in memory");

struct packed_header {
    char magic[8], kind[8];
    uint32_t value[INPUT_FIELDS_MAX];
};

_Static_assert(sizeof(struct packed_header) == INPUT_HEADER_BYTES,
               "the header has no padding");

void input_refuse(const struct input *input, const char *format, ...)
{
    char message[300];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    bench_die(BENCH_EXIT_INPUT, "'%s' %s", input->path, message);
}

/* The system refuses memory it cannot reach; a preloaded runtime can. */
static const char *hint(void)
{
    return errno == EFAULT ? " (run this program with adsm-run)" : "";
}

static void header_read(struct input *input, struct packed_header *header,
                        const char *kind)
{
    errno = 0;
    if (fread(header, sizeof *header, 1, input->file) != 1) {
        if (ferror(input->file))
            input_refuse(input, "cannot be read: %s", strerror(errno));
        input_refuse(input, "is truncated: it ends within the %d-byte header",
                     INPUT_HEADER_BYTES);
    }
    if (memcmp(header->magic, INPUT_MAGIC, sizeof header->magic) != 0)
        input_refuse(input, "is no input file: it does not begin with \"%s\"",
                     INPUT_MAGIC);
    char wanted[8] = "";
    memcpy(wanted, kind, strnlen(kind, sizeof wanted));
    if (memcmp(header->kind, wanted, sizeof wanted) != 0)
        input_refuse(input, "is of another kind: \"%.8s\" is wanted here",
                     kind);
}

void input_open(struct input *input, const char *path, const char *kind,
                const struct input_field *fields, int count)
{
    enum bench_phase before = bench_enter(BENCH_READ);
    struct packed_header header;
    *input = (struct input){.path = path, .file = fopen(path, "rb")};
    if (!input->file)
        bench_die(BENCH_EXIT_INPUT, "cannot open '%s': %s", path,
                  strerror(errno));
    header_read(input, &header, kind);
    for (int i = 0; i < INPUT_FIELDS_MAX; i++) {
        uint32_t value = header.value[i];
        if (i >= count && value != 0)
            input_refuse(input, "has a %d. number in its header, there are %d",
                         i + 1, count);
        if (i < count && (value < fields[i].min || value > fields[i].max))
            input_refuse(input,
                         "has %s = %" PRIu32 ", it must be %" PRIu32
                         " to %" PRIu32,
                         fields[i].name, value, fields[i].min, fields[i].max);
        input->value[i] = value;
    }
    bench_enter(before);
}

void input_expect(const struct input *input, uint64_t bytes)
{
    struct stat st;
    if (bytes > INPUT_BYTES_MAX)
        input_refuse(
            input, "describes %" PRIu64 " bytes, at most %" PRIu64 " are read",
            bytes, INPUT_BYTES_MAX);
    if (fstat(fileno(input->file), &st) != 0 || !S_ISREG(st.st_mode))
        return;
    uint64_t has = (uint64_t)st.st_size - INPUT_HEADER_BYTES;
    if (has != bytes)
        input_refuse(input,
                     "is %s: its header promises %" PRIu64 " bytes, %" PRIu64
                     " follow it",
                     has < bytes ? "truncated" : "too long", bytes, has);
}

void input_read(struct input *input, void *to, size_t bytes)
{
    enum bench_phase before = bench_enter(BENCH_READ);
    errno = 0;
    size_t got = fread(to, 1, bytes, input->file);
    if (ferror(input->file))
        input_refuse(input, "cannot be read: %s%s", strerror(errno), hint());
    if (got != bytes)
        input_refuse(input, "is truncated: %zu bytes are missing", bytes - got);
    bench_enter(before);
}

void input_check(const struct input *input, const char *what,
                 const float *values, size_t count, float min, float max)
{
    for (size_t i = 0; i < count; i++)
        if (!(values[i] >= min && values[i] <= max))
            input_refuse(input, "has %g as %s %zu, it must be %g to %g",
                         (double)values[i], what, i, (double)min, (double)max);
}

void input_close(struct input *input)
{
    fclose(input->file);
    input->file = NULL;
}

int input_write_header(FILE *file, const char *kind, const uint32_t *values,
                       int count)
{
    struct packed_header header = {.magic = INPUT_MAGIC};
    memcpy(header.kind, kind, strnlen(kind, sizeof header.kind));
    memcpy(header.value, values, (size_t)count * sizeof *values);
    return fwrite(&header, sizeof header, 1, file) == 1 ? 0 : -1;
}
