/*
 * fread and fwrite: item counts, partial items, ends of files, errors, all
 * kinds of buffering. See memory.h for the command line.
 */
#include "memory.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

enum { HALF = 6 << 20, FILE_BYTES = 10000000 };

static uint8_t *memory;
static enum memory_state state;
static FILE *file;

static void make_file(void)
{
    file = tmpfile();
    if (!file)
        exit(3);
    for (size_t i = 0; i < FILE_BYTES; i++)
        putc_unlocked(victim_byte(i, 2), file);
    fflush(file);
}

static void show(const char *name, FILE *stream, size_t items)
{
    printf("%s/%d %zu eof %d error %d at %ld sum %016llx\n", name, state, items,
           feof(stream) != 0, ferror(stream) != 0, ftell(stream),
           (unsigned long long)victim_hash(memory, 2 * HALF));
    fflush(stdout);
    clearerr(stream);
}

static void fill(void)
{
    memory_fill(memory, 2 * HALF, 0x33, state);
}

#define CASE(stream, ...)                                                      \
    do {                                                                       \
        fill();                                                                \
        size_t items_ = __VA_ARGS__;                                           \
        show(#__VA_ARGS__, stream, items_);                                    \
    } while (0)

static size_t read_at(long offset, uint8_t *to, size_t size, size_t items)
{
    fseek(file, offset, SEEK_SET);
    return fread(to, size, items, file);
}

static void reads(void)
{
    uint8_t *m = memory;
    CASE(file, read_at(0, m, 1, 100));
    CASE(file, read_at(7, m + 1, 3, 100000));
    CASE(file, read_at(0, m, 4096, 1000));
    CASE(file, read_at(0, m + 5, 1, 9000001));
    CASE(file, read_at(0, m + HALF - 100, 10, 20));
    CASE(file, read_at(FILE_BYTES - 100, m, 1, 1000));
    CASE(file, read_at(FILE_BYTES - 100, m + 9, 30, 4));
    CASE(file, read_at(FILE_BYTES - 500000, m, 300000, 4));
    CASE(file, read_at(FILE_BYTES, m, 4, 4));
    CASE(file, read_at(0, m, 0, 10));
    CASE(file, read_at(0, m, 10, 0));
    fseek(file, 10, SEEK_SET);
    ungetc('q', file);
    CASE(file, fread(m + 2, 1, 5000, file));
    CASE(file, fread_unlocked(m + 2, 7, 5000, file));
    CASE(file, fread(m, 1, 1, file));
}

/* Two objects' worth through a pipe that another thread fills slowly. */
static void *feed(void *end)
{
    static uint8_t piece[100000];
    victim_write(piece, sizeof piece, 4);
    for (int i = 0; i < 30; i++)
        if (write(*(int *)end, piece, sizeof piece) < 0)
            break;
    close(*(int *)end);
    return NULL;
}

static void from_pipe(int buffering)
{
    int ends[2];
    pthread_t thread;
    if (pipe(ends) != 0)
        exit(3);
    FILE *in = fdopen(ends[0], "r");
    setvbuf(in, NULL, buffering, BUFSIZ);
    pthread_create(&thread, NULL, feed, &ends[1]);
    CASE(in, fread(memory + 1, 1000, 1500, in));
    CASE(in, fread(memory + 1, 999, 3000, in));
    pthread_join(thread, NULL);
    fclose(in);
}

static void from_memory(void)
{
    char text[] = "the quick brown fox jumps over the lazy dog";
    FILE *in = fmemopen(text, sizeof text, "r");
    CASE(in, fread(memory + 4094, 4, 5, in));
    CASE(in, fread(memory, 1, 100, in));
    fclose(in);
}

static void writes(int buffering)
{
    uint8_t *m = memory;
    static uint8_t back[2 * HALF];
    FILE *out = tmpfile();
    setvbuf(out, NULL, buffering, BUFSIZ);
    CASE(out, fwrite(m, 1, 10, out));
    CASE(out, fwrite(m + 3, 5, 100000, out));
    fputs("plain text\nand more", out);
    CASE(out, fwrite(m, 9000000, 1, out));
    CASE(out, fwrite(m + HALF - 5, 2, 5, out));
    CASE(out, fwrite(m, 0, 5, out));
    CASE(out, fwrite(m, 5, 0, out));
    CASE(out, fwrite_unlocked(m + 1, 1, 4095, out));
    fflush(out);
    ssize_t got = pread(fileno(out), back, sizeof back, 0);
    printf("file %zd %016llx\n", got,
           (unsigned long long)victim_hash(back, got > 0 ? (size_t)got : 0));
    fclose(out);
}

static void failing(void)
{
    FILE *full = fopen("/dev/full", "w");
    setvbuf(full, NULL, _IONBF, 0);
    CASE(full, fwrite(memory, 1000, 30, full));
    fclose(full);
    FILE *read_only = fopen("/dev/null", "r");
    CASE(read_only, fwrite(memory, 1, 30, read_only));
    CASE(read_only, fread(memory, 1, 30, read_only));
    fclose(read_only);
    FILE *folder = fopen("/", "r");
    CASE(folder, fread(memory, 3, 30, folder));
    fclose(folder);
}

int main(int argc, char **argv)
{
    memory_start(argc, argv);
    memory = memory_pair(HALF);
    make_file();
    /* The other two are what io.c looks at. */
    for (int s = MEMORY_DEVICE; s < MEMORY_STATES; s += MEMORY_MIXED) {
        state = (enum memory_state)s;
        reads();
        from_pipe(_IOFBF);
        from_pipe(_IONBF);
        from_memory();
        writes(_IOFBF);
        writes(_IOLBF);
        writes(_IONBF);
        failing();
    }
    return 0;
}
