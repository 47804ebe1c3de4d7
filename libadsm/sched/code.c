/* Code of modules, from a file or from memory; see code.h. */
#include "sched/code.h"

#include "sched/detail.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int adsm_code_read(const char *path, char **image, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return adsm_detail(ADSM_E_NOT_FOUND, "cannot open module '%s': %s",
                           path, strerror(errno));
    size_t capacity = 1 << 16, n = 0;
    char *text = malloc(capacity + 1);
    while (text) {
        size_t got = fread(text + n, 1, capacity - n, file);
        n += got;
        if (n < capacity)
            break;
        capacity *= 2;
        char *more = realloc(text, capacity + 1);
        if (!more)
            free(text);
        text = more;
    }
    bool failed = ferror(file);
    fclose(file);
    if (!text)
        return adsm_detail(ADSM_E_NOMEM, "no memory for module '%s'", path);
    if (failed || n == 0) {
        free(text);
        return adsm_detail(ADSM_E_INVALID, "module '%s' %s", path,
                           failed ? "cannot be read" : "is empty");
    }
    text[n] = '\0';
    *image = text;
    *bytes = n;
    return ADSM_OK;
}

int adsm_code_copy(const void *image, size_t bytes, char **copy)
{
    *copy = malloc(bytes + 1);
    if (!*copy)
        return adsm_detail(ADSM_E_NOMEM, "no memory for %zu bytes of code",
                           bytes);
    memcpy(*copy, image, bytes);
    (*copy)[bytes] = '\0';
    return ADSM_OK;
}
