/* Modules' code in memory. */
#include "call/code.h"

#include "adsm.h"
#include "call/detail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 30 };

static int is_empty(const char *path)
{
    return adsm_detail(ADSM_E_INVALID, "module '%s' is empty", path);
}

/* Open a file whose size is its end: of a pipe or a device nobody knows when it
 * comes, or whether. */
static int open_file(const char *path, int *fd, size_t *bytes)
{
    struct stat is;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0 || fstat(*fd, &is) != 0) {
        int why = errno;
        if (*fd >= 0)
            close(*fd);
        return adsm_detail(ADSM_E_NOT_FOUND, "cannot open module '%s': %s",
                           path, strerror(why));
    }
    *bytes = (size_t)is.st_size;
    if (S_ISREG(is.st_mode) && *bytes > 0 && *bytes <= MOST_BYTES)
        return ADSM_OK;
    close(*fd);
    if (!S_ISREG(is.st_mode))
        return adsm_detail(ADSM_E_INVALID,
                           "module '%s' is no file of code, but a %s", path,
                           S_ISDIR(is.st_mode)    ? "directory"
                           : S_ISFIFO(is.st_mode) ? "pipe"
                           : S_ISSOCK(is.st_mode) ? "socket"
                                                  : "device");
    if (*bytes == 0)
        return is_empty(path);
    return adsm_detail(ADSM_E_INVALID,
                       "module '%s' has %zu bytes; up to 2^30 are possible",
                       path, *bytes);
}

int adsm_code_read(const char *path, char **code, size_t *bytes)
{
    size_t n = 0, all = 0;
    int fd, why = 0;
    int rc = open_file(path, &fd, &all);
    if (rc != ADSM_OK)
        return rc;
    char *text = malloc(all + 1);
    while (text && n < all && why == 0) {
        ssize_t got = read(fd, text + n, all - n);
        if (got > 0)
            n += (size_t)got;
        else if (got == 0)
            break; /* it has become shorter */
        else if (errno != EINTR)
            why = errno;
    }
    close(fd);
    if (!text)
        return adsm_detail(ADSM_E_NOMEM, "no memory for module '%s'", path);
    if (why != 0) {
        free(text);
        return adsm_detail(ADSM_E_INVALID, "module '%s' cannot be read: %s",
                           path, strerror(why));
    }
    if (n == 0) {
        free(text);
        return is_empty(path);
    }
    text[n] = '\0';
    *code = text;
    *bytes = n;
    return ADSM_OK;
}

int adsm_code_copy(const void *image, size_t bytes, char **code)
{
    *code = malloc(bytes + 1);
    if (!*code)
        return adsm_detail(ADSM_E_NOMEM, "no memory for %zu bytes of code",
                           bytes);
    memcpy(*code, image, bytes);
    (*code)[bytes] = '\0';
    return ADSM_OK;
}
