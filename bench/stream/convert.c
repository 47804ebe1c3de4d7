/* Pictures become grey; see convert.h. */
#include "convert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char grey_ptx[] =
#include "grey_ptx.inc"
    ;

/* In one piece: threads speak at once. */
__attribute__((format(printf, 2, 3))) static void fail(struct task *task,
                                                       const char *format, ...)
{
    char why[512];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    fprintf(stderr, "grey-stream: '%s': %s\n", task->path, why);
    task->failed = true;
}

static bool is_ok(adsmStatus status, const char *what)
{
    if (status != ADSM_OK)
        fprintf(stderr, "grey-stream: %s: %s: %s\n", what,
                adsmErrorName(status), adsmErrorDetail());
    return status == ADSM_OK;
}

static void fill(unsigned *table)
{
    static const float share[] = {0.2126f, 0.7152f, 0.0722f};
    unsigned char *curve = (unsigned char *)(table + GREY_CURVE);
    for (unsigned c = 0; c < 3; c++)
        for (unsigned i = 0; i < 256; i++)
            table[256 * c + i] =
                (unsigned)(share[c] * GREY_WHITE * grey_linear(i));
    /* Each of three was rounded down: one more than their sum is the middle. */
    for (int y = 0; y <= GREY_WHITE; y++)
        curve[y] = grey_byte((float)(y + 1) / GREY_WHITE);
}

bool converter_make(struct converter *converter, bool by_table)
{
    adsmModule *module;
    if (!is_ok(adsmModuleLoad(&module, grey_ptx, sizeof grey_ptx - 1),
               "loading kernels") ||
        !is_ok(adsmKernelGet(&converter->kernel, module,
                             by_table ? "by_table" : "exact",
                             ADSM_ONLY_ARGUMENTS),
               "finding the kernel"))
        return false;
    converter->table = NULL;
    if (!by_table)
        return true;
    converter->table = adsmAllocArray(sizeof *converter->table,
                                      adsmR1(GREY_TABLE), ADSM_NO_HOME);
    if (!converter->table)
        return is_ok(adsmLastStatus(), "memory for the table");
    fill(converter->table);
    return true;
}

void converter_free(struct converter *converter)
{
    if (converter->table)
        (void)is_ok(adsmFree(converter->table), "giving the table back");
    converter->table = NULL;
}

/* ---- steps ---------------------------------------------------------------------- */

void task_load(const struct converter *converter, struct task *task)
{
    char why[PICTURE_WHY];
    (void)converter;
    task->failed = false;
    if (!picture_load(&task->picture, task->path, why))
        fail(task, "%s", why);
}

void task_begin(const struct converter *converter, struct task *task)
{
    const struct picture *p = &task->picture;
    const adsmOpts opts = {.devices = converter->devices,
                           .chunks = converter->chunks,
                           .fetch = converter->fetch,
                           .event = &task->event};
    adsmBox all = adsmR1(picture_pixels(p));
    if (task->failed)
        return;
    adsmStatus status =
        converter->table
            ? adsmCallWith(&opts, converter->kernel, all, adsmIn(p->pixels),
                           adsmOut(p->grey), adsmAll(converter->table))
            : adsmCallWith(&opts, converter->kernel, all, adsmIn(p->pixels),
                           adsmOut(p->grey));
    if (status != ADSM_OK)
        fail(task, "%s: %s", adsmErrorName(status), adsmErrorDetail());
}

/* What the device reads the CPU may read meanwhile. */
void task_look(const struct converter *converter, struct task *task)
{
    const struct picture *p = &task->picture;
    long n = task->failed ? 0 : picture_pixels(p);
    unsigned long sum[3] = {0, 0, 0};
    (void)converter;
    for (long i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            sum[c] += p->pixels[i] >> 8 * c & 255;
    for (int c = 0; c < 3; c++)
        task->mean[c] = n > 0 ? (double)sum[c] / (double)n : 0;
}

/* Return: how many are as the CPU has them, from the first on */
static long same(const struct converter *converter, const struct picture *p)
{
    long i = 0, n = picture_pixels(p);
    while (i < n &&
           p->grey[i] == (converter->table
                              ? grey_by_table(p->pixels[i], converter->table)
                              : grey_exact(p->pixels[i])))
        i++;
    return i;
}

void task_result(const char *folder, const char *path, char *name, size_t room)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    size_t length = strlen(file);
    if (length > 4 && strcmp(file + length - 4, ".png") == 0)
        length -= 4;
    snprintf(name, room, "%s/%.*s-grey.png", folder, (int)length, file);
}

void task_store(const struct converter *converter, struct task *task)
{
    const struct picture *p = &task->picture;
    char why[PICTURE_WHY], name[4096];
    if (task->failed)
        return;
    adsmStatus status = adsmWait(task->event);
    if (status != ADSM_OK) {
        fail(task, "%s: %s", adsmErrorName(status), adsmErrorDetail());
        return;
    }
    long right = converter->verify ? same(converter, p) : picture_pixels(p);
    if (right < picture_pixels(p)) {
        fail(task, "pixel %ld is %u, and not what the CPU makes of it", right,
             p->grey[right]);
        return;
    }
    if (!converter->folder)
        return;
    task_result(converter->folder, task->path, name, sizeof name);
    if (!picture_store(p, name, why))
        fail(task, "'%s' cannot be written: %s", name, why);
}
