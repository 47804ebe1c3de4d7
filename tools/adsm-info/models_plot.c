/*
 * Draws models of this machine, a panel for each kernel: times for an index over
 * indices of a call, those of each device with a fit.
 *
 * A call of n indices takes a + b n, so an index a / n + b: a is what a launch
 * costs, b an index of a large one. The two are chosen so that the sum of squares
 * of the medians' relative errors is least, and neither is less than 0.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models.h"
#include "picture.h"

enum { PANELS = 12, COLUMNS = 2, WIDTH = 1100, HEIGHT = 380 };

struct fit {
    bool is_known; /* from two sizes on */
    double a, b;
};

struct plot {
    FILE *script;
    int panels, left_out;
    bool draws; /* false: only count */
};

/* In the middle of what counts as one size. */
static double indices_of(const struct adsm_model_line *line)
{
    return 2 * ldexp(1, 2 * line->footprint);
}

static struct fit fit_of(const struct adsm_model *model, int device)
{
    double u = 0, v = 0, uu = 0, vv = 0, uv = 0;
    int sizes = 0;
    for (int i = 0; i < model->count; i++) {
        const struct adsm_model_line *line = &model->line[i];
        double median = models_median(line);
        if (line->device != device || !(median > 0))
            continue;
        double x = 1 / (indices_of(line) * median), y = 1 / median;
        u += x;
        v += y;
        uu += x * x;
        vv += y * y;
        uv += x * y;
        sizes++;
    }
    double det = uu * vv - uv * uv;
    struct fit fit = {.is_known = sizes >= 2};
    if (!fit.is_known)
        return fit;
    fit.a = det > 0 ? (u * vv - v * uv) / det : 0;
    fit.b = det > 0 ? (v * uu - u * uv) / det : v / vv;
    if (fit.a < 0)
        fit = (struct fit){true, 0, v / vv};
    if (fit.b < 0)
        fit = (struct fit){true, u / uu, 0};
    return fit;
}

static bool has(const struct adsm_model *model, int device)
{
    for (int i = 0; i < model->count; i++)
        if (model->line[i].device == device)
            return true;
    return false;
}

static const char *kind_of(const struct adsm_model *model, int device)
{
    for (int i = 0; i < model->count; i++)
        if (model->line[i].device == device)
            return model->line[i].kind;
    return "";
}

/* Two blocks for a device: its times, and of each size the median. */
static void put_data(FILE *out, const struct adsm_model *model, int device)
{
    for (int medians = 0; medians < 2; medians++) {
        fprintf(out, "$%c%d << EOD\n", medians ? 'm' : 's', device);
        for (int i = 0; i < model->count; i++) {
            const struct adsm_model_line *line = &model->line[i];
            if (line->device != device)
                continue;
            for (int k = 0; k < (medians ? 1 : line->count); k++)
                fprintf(out, "%.9g %.9g\n", indices_of(line),
                        medians ? models_median(line) : line->ns[k]);
        }
        fputs("EOD\n", out);
    }
}

static void put_plots(FILE *out, const struct adsm_model *model, int device,
                      const char *between)
{
    static const char *const colours[] = {"#2166ac", "#b2182b", "#1b7837",
                                          "#7b3294", "#fdae61", "#404040"};
    const char *colour = colours[device % 6];
    struct fit fit = fit_of(model, device);
    char title[ADSM_MODEL_KIND + 96];
    fprintf(out,
            "%s$s%d using 1:2 with points pt 7 ps 0.4 lc rgb '%s' notitle, "
            "$m%d using 1:2 with points pt 6 ps 1.2 lc rgb '%s' title ",
            between, device, colour, device, colour);
    snprintf(title, sizeof title, "%d: %s", device, kind_of(model, device));
    picture_text(out, title);
    if (!fit.is_known)
        return;
    snprintf(title, sizeof title, "%.3g us + %.3g ns an index", fit.a / 1e3,
             fit.b);
    fprintf(out, ", %.9g / x + %.9g with lines lc rgb '%s' title ", fit.a,
            fit.b, colour);
    picture_text(out, title);
}

/* Around all that was measured, with room for what the lines are called. */
static void put_ranges(FILE *out, const struct adsm_model *model)
{
    double x[2] = {HUGE_VAL, 0}, y[2] = {HUGE_VAL, 0};
    for (int i = 0; i < model->count; i++) {
        const struct adsm_model_line *line = &model->line[i];
        x[0] = fmin(x[0], indices_of(line));
        x[1] = fmax(x[1], indices_of(line));
        for (int k = 0; k < line->count; k++) {
            y[0] = fmin(y[0], line->ns[k]);
            y[1] = fmax(y[1], line->ns[k]);
        }
    }
    fprintf(out, "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n", x[0] / 3,
            x[1] * 3, y[0] / 1.5, y[1] * pow(fmax(y[1] / y[0], 4), 0.6));
}

static void put_panel(FILE *out, const struct adsm_model *model)
{
    const char *between = "plot ";
    put_ranges(out, model);
    fputs("set title ", out);
    picture_text(out, model->kernel);
    fputc('\n', out);
    for (int d = 0; d < ADSM_TIMES_DEVICES; d++)
        if (has(model, d))
            put_data(out, model, d);
    for (int d = 0; d < ADSM_TIMES_DEVICES; d++) {
        if (!has(model, d))
            continue;
        put_plots(out, model, d, between);
        between = ", ";
    }
    fputc('\n', out);
}

static void take(void *context, const char *name,
                 const struct adsm_model *model, enum adsm_model_state state)
{
    struct plot *plot = context;
    if (state != ADSM_MODEL_USED || model->count == 0)
        return;
    if (plot->panels == PANELS) {
        plot->left_out++;
        return;
    }
    plot->panels++;
    if (plot->draws)
        put_panel(plot->script, model);
}

static bool draw(struct plot plot, const char *path)
{
    int columns = plot.panels < COLUMNS ? plot.panels : COLUMNS;
    int rows = (plot.panels + columns - 1) / columns;
    plot.script = picture_begin(WIDTH / COLUMNS * columns, HEIGHT * rows);
    if (!plot.script)
        return false;
    fprintf(plot.script,
            "set multiplot layout %d,%d\n"
            "set logscale xy\nset border 3\nset tics nomirror out\n"
            "set format x '%%.0s%%c'\nset grid lc rgb '#d0d0d0'\n"
            "set key top right\n"
            "set samples 200\n"
            "set xlabel 'indices of a call'\nset ylabel 'ns for an index'\n",
            rows, columns);
    plot.draws = true;
    plot.panels = plot.left_out = 0;
    models_each(take, &plot);
    fputs("unset multiplot\n", plot.script);
    if (!picture_end(plot.script, path))
        return false;
    if (plot.left_out)
        fprintf(stderr, "adsm-info: %d kernels are in %s, %d more are not\n",
                plot.panels, path, plot.left_out);
    return true;
}

bool models_plot(const char *path)
{
    struct plot plot = {.draws = false};
    models_each(take, &plot);
    if (plot.panels > 0)
        return draw(plot, path);
    fputs("adsm-info: no picture: no kernel was measured on this machine\n",
          stderr);
    return false;
}
