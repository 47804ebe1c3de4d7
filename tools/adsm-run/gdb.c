/*
 * Starts gdb. See gdb.h.
 */
#include "gdb.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exits.h"
#include "find.h"

/* As one word of a shell's. */
static void quote(FILE *to, const char *word)
{
    fputs(" '", to);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, to);
    fputc('\'', to);
}

/* How gdb is to start the program: by adsm-run, with its options but one. So what
 * they set is in the program's environment and in no other. */
static char *wrapper_of(char **argv, const struct args *args)
{
    char own[PATH_MAX], *command = NULL;
    size_t bytes;
    ssize_t got = readlink("/proc/self/exe", own, sizeof own - 1);
    FILE *to = got > 0 ? open_memstream(&command, &bytes) : NULL;
    if (!to)
        return NULL;
    own[got] = '\0';
    fputs("set exec-wrapper", to);
    quote(to, own);
    for (char **word = argv + 1; word < args->program; word++)
        if (strcmp(*word, "--gdb") != 0 && strcmp(*word, "--") != 0)
            quote(to, *word);
    fputs(" --", to);
    return fclose(to) == 0 ? command : NULL;
}

int gdb_run(char **argv, const struct args *args)
{
    char commands[PATH_MAX];
    if (find_gdb_commands(commands, sizeof commands) != 0) {
        fputs("adsm-run: --gdb: adsm-gdb.py is not beside this adsm-run, "
              "neither as built nor as installed; build it with `ninja -C "
              "build`\n",
              stderr);
        return EXIT_SETUP;
    }
    int words = 0;
    while (args->program[words])
        words++;
    const char *head[] = {
        "gdb", "-x", commands, "-ex", wrapper_of(argv, args), "--args"};
    enum { HEAD = sizeof head / sizeof *head };
    char **whole = calloc((size_t)words + HEAD + 1, sizeof *whole);
    if (!whole || !head[4])
        return EXIT_SETUP;
    memcpy(whole, head, sizeof head);
    memcpy(whole + HEAD, args->program, (size_t)words * sizeof *whole);
    execvp(whole[0], whole);
    fprintf(stderr, "adsm-run: --gdb: gdb cannot be started: %s\n",
            strerror(errno));
    return errno == ENOENT ? EXIT_ABSENT : EXIT_CANNOT;
}
