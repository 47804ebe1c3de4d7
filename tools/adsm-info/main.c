/*
 * adsm-info: what libadsm finds and decides on this machine.
 *
 * Prints sections as tables, or all as one JSON object. Gathering is in
 * sections.c; nothing here changes the system.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "links.h"
#include "models.h"
#include "sections.h"

static struct section {
    const char *flag, *help;
    void (*fill)(struct table *);
    void (*kept)(struct table *); /* where it is not named: what is known */
    void (*print)(const struct table *, FILE *); /* NULL: as a table */
    bool asked_only; /* takes its time: only when it is named */
    bool wanted;
    struct table table;
} sections[] = {
    {.flag = "--devices",
     .help = "devices and how their addresses are shared",
     .fill = section_devices},
    {.flag = "--sharing",
     .help = "when the memory of a preloaded program is shared",
     .fill = section_sharing},
    {.flag = "--driver",
     .help = "the driver, and how host memory is copied",
     .fill = section_driver},
    {.flag = "--engines",
     .help = "ways to notice a CPU access",
     .fill = section_engines},
    {.flag = "--memory", .help = "pages of the host", .fill = section_memory},
    {.flag = "--options",
     .help = "options, their values and where those come from",
     .fill = section_options},
    {.flag = "--hooks",
     .help = "entry points that preloading takes over",
     .fill = section_hooks},
    {.flag = "--hooks=all",
     .help = "every call of the driver, and why it is passed on; only when "
             "named",
     .fill = section_surface,
     .asked_only = true},
    {.flag = "--models",
     .help = "how fast kernels were (ADSM_MODELS); only when named",
     .fill = section_models,
     .asked_only = true},
    {.flag = "--links",
     .help = "copies between host and devices: measured when named, else as "
             "they were",
     .fill = section_links,
     .kept = section_links_kept,
     .print = links_print},
    {.flag = "--advice",
     .help = "what would be better on this machine, and the command for it",
     .fill = section_advice},
};
#define SECTIONS (sizeof sections / sizeof *sections)

static void print_help(void)
{
    puts(
        "usage: adsm-info [--json] [section ...]\n"
        "\n"
        "Says what libadsm finds here and what it decides. When no section is\n"
        "named, all that need not be named. To ask about the software device, "
        "run it as\n"
        "`adsm-run --soft adsm-info`.\n");
    for (size_t i = 0; i < SECTIONS; i++)
        printf("  %-11s %s\n", sections[i].flag, sections[i].help);
    puts("  --plot FILE draw what --models shows, as PNG (gnuplot)\n"
         "  --json      one JSON object instead of tables\n"
         "  --version   print the version\n"
         "  --help      print this");
}

static struct section *find_section(const char *flag)
{
    for (size_t i = 0; i < SECTIONS; i++)
        if (strcmp(sections[i].flag, flag) == 0)
            return &sections[i];
    return NULL;
}

static void print_json(void)
{
    fputs("{\"version\": \"" ADSM_VERSION_TEXT "\"", stdout);
    for (size_t i = 0; i < SECTIONS; i++) {
        if (!sections[i].wanted)
            continue;
        fputs(",\n", stdout);
        table_print_json(&sections[i].table, stdout);
    }
    puts("}");
}

static void print_text(void)
{
    puts("libadsm " ADSM_VERSION_TEXT);
    for (size_t i = 0; i < SECTIONS; i++) {
        if (!sections[i].wanted)
            continue;
        putchar('\n');
        (sections[i].print ? sections[i].print
                           : table_print)(&sections[i].table, stdout);
    }
}

static void fill(struct section *section, bool named)
{
    (section->kept && !named ? section->kept : section->fill)(&section->table);
}

static void print_sections(bool json, bool named)
{
    adsm_options_load();
    for (size_t i = 0; i < SECTIONS; i++)
        if (sections[i].wanted)
            fill(&sections[i], named);
    if (json)
        print_json();
    else
        print_text();
    for (size_t i = 0; i < SECTIONS; i++)
        table_clear(&sections[i].table);
}

static int wrong(const char *text, const char *word)
{
    fprintf(stderr, "adsm-info: %s '%s'; see --help\n", text, word);
    return 2;
}

int main(int argc, char **argv)
{
    bool json = false, some = false;
    const char *plot = NULL;
    for (int i = 1; i < argc; i++) {
        struct section *section = find_section(argv[i]);
        if (section) {
            section->wanted = some = true;
        } else if (strcmp(argv[i], "--plot") == 0 && i + 1 < argc) {
            plot = argv[++i];
        } else if (strncmp(argv[i], "--plot=", 7) == 0) {
            plot = argv[i] + 7;
        } else if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--version") == 0) {
            puts("adsm-info " ADSM_VERSION_TEXT);
            return EXIT_SUCCESS;
        } else if (strcmp(argv[i], "--help") == 0 ||
                   strcmp(argv[i], "-h") == 0) {
            print_help();
            return EXIT_SUCCESS;
        } else {
            return wrong("unknown argument", argv[i]);
        }
    }
    if (plot && !find_section("--models")->wanted)
        return wrong("what --models shows is drawn, which is to be named for",
                     "--plot");
    for (size_t i = 0; i < SECTIONS; i++)
        sections[i].wanted |= !some && !sections[i].asked_only;
    print_sections(json, some);
    bool drawn = !plot || models_plot(plot);
    return fflush(stdout) == 0 && drawn ? EXIT_SUCCESS : EXIT_FAILURE;
}
