/*
 * A program that knows nothing of MPI and loads a module that does, for itself
 * alone, as interpreters do.
 *
 *   late module [deep]
 *
 * deep: so that the module finds MPI before anything that was preloaded.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *send = dlsym(RTLD_DEFAULT, "MPI_Send");
    if (send || !dlerror()) {
        fputs("MPI_Send is there, and MPI is not\n", stderr);
        return 1;
    }
    void *module =
        dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | (argc > 2 ? RTLD_DEEPBIND : 0));
    int (*run)(void) = module ? (int (*)(void))dlsym(module, "run") : NULL;
    if (!run) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int failures = run();
    printf("%d%%: Checks: 3, Failures: %d, Errors: 0\n", failures ? 0 : 100,
           failures);
    return failures != 0;
}
