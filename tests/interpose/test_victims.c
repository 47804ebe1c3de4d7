/*
 * Victims run bare and preloaded: the output must be the same under every
 * protocol and block size; where an object is one block, under one size.
 *
 *   test_victims <program> <argument of the bare run> <preloaded one>...
 *
 * An argument is a word, or words joined by ','. Where things are comes from
 * the environment: VICTIM_DIR, PRELOAD, DEVICE_DIR. NOT_UNDER names a protocol
 * that is left out; BY_PAGES: blocks of the default size, on huge pages, without
 * them, and where the kernel refuses them. With ONCE protocols and blocks have no
 * part in it, and one will do.
 */
#include "protocols/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MOST = 8, VARIANTS = 3 };

struct output {
    int status; /* exit status, or 128 + signal */
    char *text;
    size_t bytes;
};

static const char *place(const char *name)
{
    const char *value = getenv(name);
    if (!value || !*value) {
        fprintf(stderr, "%s is not set: run through meson test\n", name);
        exit(99);
    }
    return value;
}

static void run_child(const char *program, const char *argument, int out)
{
    char path[4096];
    char *words = strdup(argument);
    char *argv[WORDS_MOST + 2] = {path};
    int count = 1;
    snprintf(path, sizeof path, "%s/%s", place("VICTIM_DIR"), program);
    for (char *word = strtok(words, ","); word && count <= WORDS_MOST;
         word = strtok(NULL, ","))
        argv[count++] = word;
    dup2(out, STDOUT_FILENO);
    alarm(120);
    execv(path, argv);
    _exit(127);
}

static void collect(int in, struct output *output)
{
    size_t room = 0;
    ssize_t got;
    do {
        if (output->bytes + 65536 > room)
            output->text = realloc(output->text, room += 1 << 20);
        got = read(in, output->text + output->bytes, 65536);
        if (got > 0)
            output->bytes += (size_t)got;
    } while (got > 0 || (got < 0 && errno == EINTR));
    output->text[output->bytes] = '\0';
}

static struct output run(const char *program, const char *argument)
{
    struct output output = {0};
    int ends[2], status;
    if (pipe2(ends, O_CLOEXEC) != 0)
        exit(99);
    pid_t child = fork();
    if (child == 0)
        run_child(program, argument, ends[1]);
    close(ends[1]);
    collect(ends[0], &output);
    close(ends[0]);
    waitpid(child, &status, 0);
    output.status =
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return output;
}

/* Show the first line that differs. */
static void show_difference(const struct output *want, const struct output *got)
{
    size_t i = 0, line = 1;
    while (i < want->bytes && i < got->bytes && want->text[i] == got->text[i])
        line += want->text[i++] == '\n';
    while (i > 0 && want->text[i - 1] != '\n')
        i--;
    printf("  line %zu\n  want: %.300s\n", line,
           strtok(want->text + i, "\n") ?: "(end)");
    printf("  have: %.300s\n",
           i < got->bytes ? strtok(got->text + i, "\n") : "(end)");
}

/* What is in the environment of the next ones. Return: its name */
static const char *set_variant(size_t i)
{
    static const char *const blocks[VARIANTS] = {"4K", "64K", "1M"};
    static const char *const pages[VARIANTS] = {"on", "off", "refused"};
    if (!getenv("BY_PAGES")) {
        setenv("ADSM_BLOCK_SIZE", blocks[i], 1);
        return blocks[i];
    }
    setenv("ADSM_HUGE_PAGES", i == 1 ? "off" : "on", 1);
    /* As long as it is set, of the children as well. */
    if (prctl(PR_SET_THP_DISABLE, i == 2, 0, 0, 0) != 0)
        exit(99);
    return pages[i];
}

static bool compare(const char *program, const struct output *bare,
                    const char *argument, const char *variant)
{
    struct output want = *bare;
    want.text = strdup(bare->text);
    setenv("LD_PRELOAD", place("PRELOAD"), 1);
    struct output got = run(program, argument);
    unsetenv("LD_PRELOAD");
    bool same = want.status == 0 && got.status == 0 &&
                want.bytes == got.bytes && want.bytes > 0 &&
                memcmp(want.text, got.text, want.bytes) == 0;
    printf("%s %s %s/%s: %s (%d, %d)\n", program, argument,
           getenv("ADSM_PROTOCOL"), variant, same ? "same" : "DIFFERENT",
           want.status, got.status);
    if (!same)
        show_difference(&want, &got);
    free(want.text);
    free(got.text);
    return same;
}

/* How many variants `word` runs under: sizes of blocks need blocks. */
static size_t variants_of(enum adsm_opt_protocol word)
{
    bool whole = adsm_protocol_of(word)->granularity == ADSM_BY_OBJECT;
    return getenv("ONCE") || (whole && !getenv("BY_PAGES")) ? 1 : VARIANTS;
}

int main(int argc, char **argv)
{
#define WORD(option, constant, word, table, help) word,
    static const char *const protocols[] = {ADSM_WORDS_PROTOCOL(WORD)};
#undef WORD
    int failed = 0;
    if (argc < 4)
        return 99;
    const char *not_under = getenv("NOT_UNDER");
    bool once = getenv("ONCE") != NULL;
    setenv("LD_LIBRARY_PATH", place("DEVICE_DIR"), 1);
    struct output bare = run(argv[1], argv[2]);
    for (int a = 3; a < argc; a++) {
        for (size_t p = 0; p < sizeof protocols / sizeof *protocols; p++) {
            if ((not_under && strcmp(not_under, protocols[p]) == 0) ||
                (once && p > 0))
                continue;
            setenv("ADSM_PROTOCOL", protocols[p], 1);
            for (size_t v = 0; v < variants_of(p); v++)
                failed += !compare(argv[1], &bare, argv[a], set_variant(v));
        }
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
