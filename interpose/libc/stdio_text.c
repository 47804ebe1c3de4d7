/*
 * Strings that may be shared, to streams; lines from them; streams' buffers.
 *
 * fputs and puts hand a string that is longer than the room in the stream's
 * buffer to the kernel as it is; here they are writes of known length
 * (stdio.c). A buffer in shared memory would be what every inner read and write
 * of its stream is given: such a stream keeps a buffer of its own, which the C
 * standard leaves to setvbuf, and the array stays as it is.
 */
#include "interpose/hook.h"
#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int fputs_unlocked(const char *text, FILE *stream)
{
    size_t bytes;
    if (hook_likely(hook_is_plain(text, 1)) || (bytes = strlen(text)) == 0)
        return HOOK_REAL(fputs_unlocked)(text, stream);
    return fwrite_unlocked(text, 1, bytes, stream) == bytes ? 1 : EOF;
}

int fputs(const char *text, FILE *stream)
{
    if (hook_likely(hook_is_plain(text, 1)))
        return HOOK_REAL(fputs)(text, stream);
    flockfile(stream);
    int put = fputs_unlocked(text, stream);
    funlockfile(stream);
    return put;
}

int puts(const char *text)
{
    if (hook_likely(hook_is_plain(text, 1)))
        return HOOK_REAL(puts)(text);
    flockfile(stdout);
    size_t bytes = strlen(text);
    int put = EOF;
    if (fputs_unlocked(text, stdout) != EOF &&
        putc_unlocked('\n', stdout) != EOF)
        put = bytes < INT_MAX ? (int)bytes + 1 : INT_MAX;
    funlockfile(stdout);
    return put;
}

/* ---- lines ------------------------------------------------------------------ */

/* Up to `end`, and a byte 0. Return: its length; -1: it does not fit, or there
 * is none. */
static ssize_t read_line(char *line, size_t room, int end, FILE *stream)
{
    size_t length = 0;
    int c = EOF;
    while (length + 1 < room && c != end && (c = getc_unlocked(stream)) != EOF)
        line[length++] = (char)c;
    line[length] = '\0';
    if (c == EOF && length + 1 < room)
        return length > 0 && !ferror_unlocked(stream) ? (ssize_t)length : -1;
    if (c == end || (c = getc_unlocked(stream)) == EOF)
        return length > 0 ? (ssize_t)length : -1;
    ungetc(c, stream);
    adsm_log_once(ADSM_LOG_ERROR,
                  "getline: a line that is longer than the shared memory it is "
                  "to go to fails (ENOMEM): realloc cannot make that larger");
    errno = ENOMEM;
    return -1;
}

/* Is there a line to read into that malloc has not given? */
static bool is_shared(char *const *line, const size_t *room)
{
    return line && room && *line && *room > 0 && !hook_is_plain(*line, *room);
}

static ssize_t line_shared(char *line, size_t room, int end, FILE *stream)
{
    flockfile(stream);
    ssize_t length = read_line(line, room, end, stream);
    funlockfile(stream);
    return length;
}

ssize_t getdelim(char **line, size_t *room, int end, FILE *stream)
{
    if (hook_unlikely(is_shared(line, room)))
        return line_shared(*line, *room, (unsigned char)end, stream);
    return HOOK_REAL(getdelim)(line, room, end, stream);
}

ssize_t __getdelim(char **line, size_t *room, int end, FILE *stream)
{
    return getdelim(line, room, end, stream);
}

ssize_t getline(char **line, size_t *room, FILE *stream)
{
    if (hook_unlikely(is_shared(line, room)))
        return line_shared(*line, *room, '\n', stream);
    return HOOK_REAL(getline)(line, room, stream);
}

/* ---- messages, buffers ---------------------------------------------------- */

/* A plain copy of a text that goes before a message; errno is kept. Without
 * memory the message has none. */
static char *copy_of(const char *text)
{
    int saved = errno;
    char *copy = strdup(text);
    errno = saved;
    return copy;
}

void perror(const char *text)
{
    if (hook_likely(hook_is_plain(text, 1))) {
        HOOK_REAL(perror)(text);
        return;
    }
    char *copy = copy_of(text);
    HOOK_REAL(perror)(copy);
    free(copy);
}

void psignal(int number, const char *text)
{
    if (hook_likely(hook_is_plain(text, 1))) {
        HOOK_REAL(psignal)(number, text);
        return;
    }
    char *copy = copy_of(text);
    HOOK_REAL(psignal)(number, copy);
    free(copy);
}

int setvbuf(FILE *stream, char *buffer, int mode, size_t bytes)
{
    if (hook_likely(hook_is_plain(buffer, bytes)))
        return HOOK_REAL(setvbuf)(stream, buffer, mode, bytes);
    return HOOK_REAL(setvbuf)(stream, NULL, mode, bytes);
}

void setbuffer(FILE *stream, char *buffer, size_t bytes)
{
    if (hook_likely(hook_is_plain(buffer, bytes)))
        HOOK_REAL(setbuffer)(stream, buffer, bytes);
    else
        HOOK_REAL(setvbuf)(stream, NULL, _IOFBF, bytes);
}

void setbuf(FILE *stream, char *buffer)
{
    setbuffer(stream, buffer, BUFSIZ);
}
