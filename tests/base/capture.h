/*
 * Catching what is written to standard error, for tests of messages.
 */
#ifndef TESTS_BASE_CAPTURE_H
#define TESTS_BASE_CAPTURE_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct capture {
    int file, saved;
    char text[65536];
};

/** Send file descriptor 2 to a memory file from here on. */
static inline void capture_begin(struct capture *capture)
{
    capture->saved = dup(STDERR_FILENO);
    capture->file = memfd_create("capture", 0);
    /* The kernel does not guard the position of a memory file. */
    fcntl(capture->file, F_SETFL, O_APPEND);
    dup2(capture->file, STDERR_FILENO);
}

/** Put file descriptor 2 back; the text is in `capture->text`. */
static inline const char *capture_end(struct capture *capture)
{
    dup2(capture->saved, STDERR_FILENO);
    ssize_t n =
        pread(capture->file, capture->text, sizeof capture->text - 1, 0);
    capture->text[n > 0 ? n : 0] = '\0';
    close(capture->file);
    close(capture->saved);
    return capture->text;
}

#endif
