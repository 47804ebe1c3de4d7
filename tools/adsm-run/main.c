/*
 * adsm-run: run a program with libadsm preloaded.
 *
 * Sets the environment and becomes the program by exec, so signals, the
 * terminal and the exit status are the program's own. What preloading cannot
 * work with is said before.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "exits.h"
#include "find.h"
#include "gdb.h"
#include "needs.h"
#include "preload.h"
#include "program.h"

/* Is the program linked with MPI, or has something that starts MPI programs
 * started this one, which may load MPI later? The functions of MPI must not be
 * seen in any other program. */
static bool may_have_mpi(const char *path)
{
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                        "PMI_RANK"};
    char name[NAME_MAX + 1];
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (getenv(ranks[i]))
            return true;
    return needs_library(path, "libmpi", name, sizeof name) == 0;
}

/* A program linked with libadsm has to find ours and no other, whatever folders
 * it names: the preload library goes with that one. */
static int use_preload(const struct args *args, const char *program)
{
    char libadsm[NAME_MAX + 1];
    if (needs_library(program, "libadsm.so.", libadsm, sizeof libadsm) == 0 &&
        preload_own(libadsm) != 0)
        return -1;
    if ((args->mpi || may_have_mpi(program)) &&
        preload_own("libadsm-mpi.so") != 0)
        return -1;
    return preload_own("libadsm-preload.so");
}

/* For the program, or what it starts, where that is Python. */
static int use_python(void)
{
    char folder[PATH_MAX];
    return find_python(folder, sizeof folder) == 0
               ? preload_prepend("PYTHONPATH", folder)
               : 0;
}

/* Say so when the software device's folder lacks a file. */
static bool device_has(const char *folder, const char *name, const char *advice)
{
    char path[PATH_MAX * 2];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (access(path, R_OK) == 0)
        return true;
    fprintf(stderr, "adsm-run: --soft: there is no %s in %s; %s\n", name,
            folder, advice);
    return false;
}

/* Preload the driver and the runtime of a program that names folders which the
 * loader would look into first. */
static int preload_device(const char *folder, const char *program,
                          const char *runtime)
{
    if (!needs_from_own_path(program))
        return 0;
    if (*runtime && preload_from(folder, runtime) != 0)
        return -1;
    return preload_from(folder, "libcuda.so.1");
}

/* Without its own libcudart a program gets NVIDIA's, if there is one, which
 * does not work on this driver. */
static bool device_serves(const char *folder, const char *runtime)
{
    if (!getenv("SOFTCUDA_DEVICE_PROGRAM") &&
        !device_has(folder, "softcuda-device",
                    "build it with `ninja -C build`"))
        return false;
    return !*runtime ||
           device_has(folder, runtime,
                      "the program is linked with it: build it with `ninja -C "
                      "build`, or link with the runtime of CUDA 11, 12 or 13");
}

static int use_softcuda(const char *program)
{
    char folder[PATH_MAX], runtime[NAME_MAX + 1];
    if (find_softcuda(folder, sizeof folder) != 0) {
        fputs("adsm-run: --soft: the software device's libcuda.so.1 is not "
              "beside this adsm-run, neither as built nor as installed; "
              "build it with `ninja -C build`\n",
              stderr);
        return -1;
    }
    if (needs_library(program, "libcudart.so.", runtime, sizeof runtime) != 0)
        *runtime = '\0';
    if (!preload_takes_folder(folder) || !device_serves(folder, runtime) ||
        preload_device(folder, program, runtime) != 0)
        return -1;
    return preload_prepend("LD_LIBRARY_PATH", folder);
}

static void warn_without_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (driver)
        dlclose(driver);
    else
        fputs("adsm-run: there is no CUDA driver (libcuda.so.1) here; "
              "`adsm-run --soft ...` runs on the software device\n",
              stderr);
}

static void warn_about_program(const char *path)
{
    const char *why = NULL;
    switch (program_classify(path)) {
    case PROGRAM_STATIC:
        why = "is linked statically, so nothing can be preloaded into it";
        break;
    case PROGRAM_PRIVILEGED:
        why = "runs with more rights than you (set-user-ID, set-group-ID or "
              "capabilities), so the loader ignores LD_PRELOAD";
        break;
    case PROGRAM_OTHER_BITS:
        why = "is not a 64-bit program, so this libadsm cannot be preloaded";
        break;
    case PROGRAM_DYNAMIC:
    case PROGRAM_UNKNOWN:
        return;
    }
    fprintf(stderr, "adsm-run: warning: %s %s; it runs as without adsm-run\n",
            path, why);
}

static int run(const struct args *args)
{
    char path[PATH_MAX];
    bool found = program_find(args->program[0], path, sizeof path) == 0;
    if (found)
        warn_about_program(path);
    if (found && !args->soft)
        warn_without_driver();
    if ((args->soft && use_softcuda(path) != 0) ||
        use_preload(args, path) != 0 || use_python() != 0)
        return EXIT_SETUP;
    if (preload_is_by_name() && needs_from_own_path(path))
        fprintf(stderr,
                "adsm-run: warning: %s names folders (RPATH) that the loader "
                "searches before ours, which have a space in their name; put "
                "libadsm in another folder if it finds other libraries\n",
                path);
    for (int i = 0; i < args->settings; i++)
        if (setenv(args->setting[i].name, args->setting[i].value, 1) != 0)
            return EXIT_SETUP;
    execvp(args->program[0], args->program);
    int error = errno;
    bool loader = found && (error == ENOENT || error == ENOTDIR);
    fprintf(stderr, "adsm-run: %s: %s\n", args->program[0],
            loader ? "the interpreter or loader it names does not exist"
                   : strerror(error));
    return error == ENOENT && !loader ? EXIT_ABSENT : EXIT_CANNOT;
}

int main(int argc, char **argv)
{
    struct args args;
    (void)argc;
    switch (args_parse(&args, argv)) {
    case ARGS_HELP:
        args_help();
        return EXIT_SUCCESS;
    case ARGS_VERSION:
        puts("adsm-run " ADSM_VERSION_TEXT);
        return EXIT_SUCCESS;
    case ARGS_WRONG:
        return EXIT_USAGE;
    case ARGS_RUN:
        break;
    }
    return args.gdb ? gdb_run(argv, &args) : run(&args);
}
