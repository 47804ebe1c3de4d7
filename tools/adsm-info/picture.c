/* Runs gnuplot; see picture.h. */
#include "picture.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool fail(const char *what, const char *why)
{
    fprintf(stderr, "adsm-info: %s%s%s\n", what, *why ? ": " : "", why);
    return false;
}

FILE *picture_begin(int width, int height)
{
    FILE *script = tmpfile();
    if (!script) {
        fail("no picture", strerror(errno));
        return NULL;
    }
    fprintf(script,
            "set terminal pngcairo size %d,%d noenhanced font 'DejaVu "
            "Sans,10'\nset encoding utf8\n",
            width, height);
    return script;
}

void picture_text(FILE *script, const char *text)
{
    fputc('\'', script);
    for (; *text; text++) {
        if (*text == '\'')
            fputc('\'', script);
        fputc(*text == '\n' ? ' ' : *text, script);
    }
    fputc('\'', script);
}

/* Return: its process, or 0: why is in errno */
static pid_t start(int script, int output)
{
    char *words[] = {(char *)"gnuplot", NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                     O_WRONLY, 0);
    errno = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return errno == 0 ? child : 0;
}

/* All that it makes. Return: NULL: said why not */
static char *collect(int from, size_t *bytes)
{
    size_t room = 1 << 20;
    char *all = malloc(room);
    ssize_t n = 1;
    *bytes = 0;
    while (all && n > 0) {
        n = read(from, all + *bytes, room - *bytes);
        *bytes += n > 0 ? (size_t)n : 0;
        if (*bytes == room) {
            char *more = realloc(all, room *= 2);
            if (!more)
                free(all);
            all = more;
        }
    }
    if (!all)
        fail("no picture", "no memory");
    return all;
}

static bool write_file(const char *path, const char *data, size_t bytes)
{
    FILE *file = fopen(path, "we");
    bool whole = file && fwrite(data, 1, bytes, file) == bytes;
    int saved = errno;
    if (file && fclose(file) != 0 && whole) {
        saved = errno;
        whole = false;
    }
    if (!whole)
        fprintf(stderr, "adsm-info: cannot write %s: %s\n", path,
                strerror(saved));
    return whole;
}

static bool draw(int script, const char *path)
{
    int ends[2], status = -1;
    size_t bytes;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail("no picture", strerror(errno));
    pid_t child = start(script, ends[1]);
    int saved = errno;
    close(ends[1]);
    if (child == 0) {
        close(ends[0]);
        return saved == ENOENT
                   ? fail("pictures need gnuplot, which is not installed "
                          "(Debian: gnuplot-nox)",
                          "")
                   : fail("gnuplot does not run", strerror(saved));
    }
    char *data = collect(ends[0], &bytes);
    close(ends[0]);
    waitpid(child, &status, 0);
    bool drawn = data && status == 0 && bytes > 8;
    if (data && !drawn)
        fail("gnuplot draws nothing", "");
    if (drawn)
        drawn = write_file(path, data, bytes);
    free(data);
    return drawn;
}

bool picture_end(FILE *script, const char *path)
{
    bool whole = fflush(script) == 0 && fseek(script, 0, SEEK_SET) == 0;
    bool drawn = whole ? draw(fileno(script), path)
                       : fail("no picture", strerror(errno));
    fclose(script);
    return drawn;
}
