/*
 * Owns: which options ask for machine code, and what they say instead.
 * No state, no lock.
 */
#include <stdlib.h>
#include <string.h>

#include "nvrtc/nvrtc.h"

/* What comes behind the name of the option, NULL: it is another option. */
static const char *behind(const char *option, const char *name)
{
    size_t length = strlen(name);
    return strncmp(option, name, length) == 0 ? option + length : NULL;
}

/* The architecture an option gives; "": the next one gives it; NULL: none. */
static const char *architecture(const char *option)
{
    const char *rest = behind(option, "--gpu-architecture");
    if (!rest)
        rest = behind(option, "-arch");
    if (!rest || (*rest && *rest != '='))
        return NULL;
    return *rest ? rest + 1 : rest;
}

/* `option` with compute_ for the sm_ at `arch`, which lies in it. */
static char *rewrite(const char *option, const char *arch, bool *changed)
{
    char *text = malloc(strlen(option) + sizeof "compute_");
    const char *number = behind(arch, "sm_");
    if (!text)
        return NULL;
    if (!number)
        return strcpy(text, option);
    *changed = true;
    memcpy(text, option, (size_t)(arch - option));
    strcpy(text + (arch - option), "compute_");
    return strcat(text, number);
}

char **sc_nvrtc_options(int count, const char *const *options, bool *changed)
{
    char **list = calloc((size_t)(count > 0 ? count : 0) + 1, sizeof *list);
    bool next = false;
    *changed = false;
    for (int i = 0; list && i < count; i++) {
        const char *arch = next ? options[i] : architecture(options[i]);
        next = !next && arch && !*arch;
        list[i] = rewrite(options[i], arch ? arch : "", changed);
        if (!list[i]) {
            sc_nvrtc_options_free(i, list);
            return NULL;
        }
    }
    return list;
}

void sc_nvrtc_options_free(int count, char **options)
{
    for (int i = 0; i < count; i++)
        free(options[i]);
    free(options);
}
