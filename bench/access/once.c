/*
 * Patterns in which whole arrays go from one side to the other. See parts.h.
 */
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct array a, b, c;
static size_t extent;
static int round_count;

/* ---- stream, fresh -------------------------------------------------------- */

static void allocate(void)
{
    a = array_new(extent, USE_HANDED_OVER);
    b = array_new(extent, USE_HANDED_OVER);
    c = array_new(extent, USE_HANDED_OVER);
}

static void write_floats(struct array *array, int offset)
{
    float *p = array->host;
    for (size_t i = 0; i < extent / sizeof *p; i++)
        p[i] = (float)((int)(i & 1023) + offset);
    array_written(array, 0, extent);
}

static void write_compute_read(void)
{
    long n = (long)(extent / sizeof(float));
    form_before_writing();
    write_floats(&a, round_count++);
    write_floats(&b, 3);
    void *arguments[] = {&a.device, &b.device, &c.device, &n};
    form_launch(KERNEL_scale_add, (size_t)n, 1, arguments);
    array_wanted(&c, 0, extent);
    form_wait();
    sum_words(c.host, extent);
}

void stream_setup(size_t bytes)
{
    extent = bytes;
    allocate();
}

void stream_repeat(int steps)
{
    for (int k = 0; k < steps; k++)
        write_compute_read();
}

void stream_end(void)
{
    array_end(&a);
    array_end(&b);
    array_end(&c);
}

void fresh_setup(size_t bytes)
{
    extent = bytes;
}

void fresh_repeat(int steps)
{
    for (int k = 0; k < steps; k++) {
        allocate();
        write_compute_read();
        array_free(&a);
        array_free(&b);
        array_free(&c);
    }
}

void fresh_end(void)
{
}

/* ---- file ----------------------------------------------------------------- */

static int from, to;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int new_file(void)
{
    const char *folder = getenv("TMPDIR");
    char name[4096];
    snprintf(name, sizeof name, "%s/bench_access-XXXXXX",
             folder && *folder ? folder : "/tmp");
    int fd = mkstemp(name);
    if (fd < 0 || unlink(name) != 0)
        die(name);
    return fd;
}

static void read_file(int fd, char *to_here, size_t bytes)
{
    if (lseek(fd, 0, SEEK_SET) != 0)
        die("seek");
    while (bytes > 0) {
        ssize_t n = read(fd, to_here, bytes);
        if (n <= 0)
            die("read");
        to_here += n;
        bytes -= (size_t)n;
    }
}

static void write_file(int fd, const char *from_here, size_t bytes)
{
    if (lseek(fd, 0, SEEK_SET) != 0)
        die("seek");
    while (bytes > 0) {
        ssize_t n = write(fd, from_here, bytes);
        if (n <= 0)
            die("write");
        from_here += n;
        bytes -= (size_t)n;
    }
}

void file_setup(size_t bytes)
{
    uint32_t *words = malloc(bytes);
    if (!words)
        die("memory");
    for (size_t i = 0; i < bytes / sizeof *words; i++)
        words[i] = (uint32_t)i * 31;
    extent = bytes;
    from = new_file();
    to = new_file();
    write_file(from, (const char *)words, bytes);
    free(words);
    a = array_new(bytes, USE_HANDED_OVER);
    b = array_new(bytes, USE_HANDED_OVER);
}

void file_repeat(int steps)
{
    long n = (long)(extent / sizeof(uint32_t));
    for (int k = 0; k < steps; k++) {
        form_before_writing();
        read_file(from, a.host, extent);
        array_written(&a, 0, extent);
        void *arguments[] = {&a.device, &b.device, &n};
        form_launch(KERNEL_mix, (size_t)n, 1, arguments);
        array_wanted(&b, 0, extent);
        form_wait();
        write_file(to, b.host, extent);
    }
}

void file_end(void)
{
    char *words = malloc(extent);
    if (!words)
        die("memory");
    read_file(to, words, extent);
    sum_words(words, extent);
    free(words);
    array_end(&a);
    array_end(&b);
}
