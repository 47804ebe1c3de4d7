/* Reading and writing, without what depends on the locale; see code/model.h. */
#include "code/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HEAD "libadsm model 1\n"

enum { MILLIONTHS = 1000 * 1000 };

static const double most_ns = 1e12;

int adsm_model_footprint(double indices)
{
    int class = 0;
    for (; indices >= 4 && class < ADSM_MODEL_FOOTPRINTS - 1; indices /= 4)
        class ++;
    return class;
}

static bool is_plain(char c)
{
    return (unsigned char)c >= ' ' && c != '"' && c != 0x7f;
}

void adsm_model_text(char *to, size_t bytes, const char *from)
{
    size_t n = 0;
    for (; from[n] && n < bytes - 1; n++)
        to[n] = is_plain(from[n]) ? from[n] : '?';
    to[n] = '\0';
}

/* ---- reading -------------------------------------------------------------- */

struct cursor {
    const char *at, *end;
};

static bool take(struct cursor *in, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(in->end - in->at) < n || memcmp(in->at, word, n) != 0)
        return false;
    in->at += n;
    return true;
}

/* What is before `stop`, and that. */
static bool take_text(struct cursor *in, char stop, char *to, size_t bytes)
{
    size_t n = 0;
    while (in->at < in->end && is_plain(*in->at) && n < bytes - 1)
        to[n++] = *in->at++;
    to[n] = '\0';
    return in->at < in->end && *in->at++ == stop;
}

static bool is_digit(const struct cursor *in)
{
    return in->at < in->end && *in->at >= '0' && *in->at <= '9';
}

static bool take_number(struct cursor *in, uint64_t most, uint64_t *number)
{
    const char *begin = in->at;
    for (*number = 0; is_digit(in) && *number <= most; in->at++)
        *number = 10 * *number + (uint64_t)(*in->at - '0');
    return in->at > begin && *number <= most;
}

static bool take_key(struct cursor *in, uint64_t *key)
{
    static const char digits[] = "0123456789abcdef";
    *key = 0;
    for (int i = 0; i < 16; i++) {
        const char *digit =
            in->at < in->end ? memchr(digits, *in->at, 16) : NULL;
        if (!digit)
            return false;
        *key = *key << 4 | (uint64_t)(digit - digits);
        in->at++;
    }
    return take(in, "\n");
}

/* With six digits behind the point. */
static bool take_ns(struct cursor *in, double *ns)
{
    uint64_t whole, part;
    const char *point;
    if (!take_number(in, (uint64_t)most_ns, &whole) || !take(in, "."))
        return false;
    point = in->at;
    if (!take_number(in, MILLIONTHS - 1, &part) || in->at != point + 6)
        return false;
    *ns = (double)whole + (double)part / MILLIONTHS;
    return *ns > 0;
}

static bool take_times(struct cursor *in, struct adsm_model_line *line)
{
    line->count = 0;
    while (line->count < ADSM_TIMES_KEPT && take(in, " "))
        if (!take_ns(in, &line->ns[line->count++]))
            return false;
    return line->count > 0 && take(in, "\n");
}

static bool take_line(struct cursor *in, struct adsm_model_line *line)
{
    uint64_t device, footprint, spikes;
    bool whole =
        take_number(in, ADSM_TIMES_DEVICES - 1, &device) && take(in, " \"") &&
        take_text(in, '"', line->kind, sizeof line->kind) && take(in, " 4^") &&
        take_number(in, ADSM_MODEL_FOOTPRINTS - 1, &footprint) &&
        take(in, " spikes ") && take_number(in, UINT32_MAX, &spikes) &&
        take(in, ":") && take_times(in, line);
    if (!whole)
        return false;
    line->device = (int)device;
    line->footprint = (int)footprint;
    line->spikes = (uint32_t)spikes;
    return true;
}

bool adsm_model_parse(struct adsm_model *model, const char *text, size_t bytes)
{
    struct cursor in = {text, text + bytes};
    model->count = 0;
    bool whole = take(&in, HEAD "kernel ") &&
                 take_text(&in, '\n', model->kernel, sizeof model->kernel) &&
                 take(&in, "key ") && take_key(&in, &model->key) &&
                 take(&in, "machine ") &&
                 take_text(&in, '\n', model->machine, sizeof model->machine);
    while (whole && !take(&in, "end\n"))
        whole = model->count < ADSM_MODEL_LINES &&
                take_line(&in, &model->line[model->count++]);
    return whole && in.at == in.end;
}

/* ---- writing -------------------------------------------------------------- */

static int print_line(const struct adsm_model_line *line, char *text,
                      size_t bytes)
{
    int used =
        snprintf(text, bytes, "%d \"%s\" 4^%d spikes %" PRIu32 ":",
                 line->device, line->kind, line->footprint, line->spikes);
    for (int i = 0; i < line->count; i++) {
        double ns = line->ns[i] < most_ns ? line->ns[i] : most_ns - 1;
        uint64_t millionths = (uint64_t)(ns * MILLIONTHS + 0.5);
        if (millionths == 0)
            millionths = 1;
        used += snprintf(text + used, bytes - (size_t)used,
                         " %" PRIu64 ".%06" PRIu64, millionths / MILLIONTHS,
                         millionths % MILLIONTHS);
    }
    return used + snprintf(text + used, bytes - (size_t)used, "\n");
}

/* A line is shorter than LINE: there is room for all. */
enum { LINE = ADSM_MODEL_KIND + 64 + 21 * ADSM_TIMES_KEPT };

_Static_assert(ADSM_MODEL_LINES *LINE + ADSM_MODEL_NAME + ADSM_MODEL_MACHINE +
                       128 <=
                   ADSM_MODEL_BYTES,
               "every model has room");

size_t adsm_model_print(const struct adsm_model *model, char *text)
{
    size_t used =
        (size_t)snprintf(text, ADSM_MODEL_BYTES,
                         HEAD "kernel %s\nkey %016" PRIx64 "\nmachine %s\n",
                         model->kernel, model->key, model->machine);
    for (int i = 0; i < model->count; i++)
        used += (size_t)print_line(&model->line[i], text + used,
                                   ADSM_MODEL_BYTES - used);
    used += (size_t)snprintf(text + used, ADSM_MODEL_BYTES - used, "end\n");
    return used;
}

/* ---- lines ---------------------------------------------------------------- */

static bool is_of(const struct adsm_model_line *line, int device,
                  const char *kind, int footprint)
{
    return line->footprint == footprint && strcmp(line->kind, kind) == 0 &&
           (device < 0 || line->device == device);
}

static const struct adsm_model_line *find(const struct adsm_model *model,
                                          int device, const char *kind,
                                          int footprint)
{
    for (int i = 0; i < model->count; i++)
        if (is_of(&model->line[i], device, kind, footprint))
            return &model->line[i];
    return NULL;
}

const struct adsm_model_line *adsm_model_find(const struct adsm_model *model,
                                              int device, const char *kind,
                                              int footprint)
{
    const struct adsm_model_line *own = find(model, device, kind, footprint);
    return own ? own : find(model, -1, kind, footprint);
}

void adsm_model_put(struct adsm_model *model,
                    const struct adsm_model_line *line)
{
    const struct adsm_model_line *there =
        find(model, line->device, line->kind, line->footprint);
    if (there)
        model->line[there - model->line] = *line;
    else if (model->count < ADSM_MODEL_LINES)
        model->line[model->count++] = *line;
}
