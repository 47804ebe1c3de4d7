/*
 * Run a test under a fault engine:
 *
 *   with_engine <engine> <program> [<argument> ...]
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
    if (argc < 3)
        return EXIT_FAILURE;
    for (size_t i = 0; adsm_fault_engine_info(i, &engine); i++)
        if (strcmp(engine.name, argv[1]) == 0 && engine.refused) {
            printf("SKIP: engine %s: %s\n", engine.name, engine.refused);
            return 77;
        }
    setenv("ADSM_FAULT_ENGINE", argv[1], 1);
    execv(argv[2], argv + 2);
    perror(argv[2]);
    return EXIT_FAILURE;
}
