/*
 * Run a test under the fault engine uffd:
 *
 *   with_uffd <program> [<argument> ...]
 *
 * Exit status 77, which is "skipped", and the reason, where this machine cannot
 * run the engine; else the program's.
 */
#include "os/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct adsm_fault_engine_info engine;
    for (size_t i = 0; adsm_fault_engine_info(i, &engine); i++)
        if (strcmp(engine.name, "uffd") == 0 && engine.refused) {
            printf("SKIP: engine uffd: %s\n", engine.refused);
            return 77;
        }
    if (argc < 2)
        return EXIT_FAILURE;
    setenv("ADSM_FAULT_ENGINE", "uffd", 1);
    execv(argv[1], argv + 1);
    perror(argv[1]);
    return EXIT_FAILURE;
}
