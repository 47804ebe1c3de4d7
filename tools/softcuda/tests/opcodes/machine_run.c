/*
 * A whole run on whichever machine is linked.
 */
#include "machine.h"

#include <check.h>
#include <stdio.h>

enum sc_exec_status machine_run(const char *ptx, uint32_t ctas,
                                uint32_t threads, const uint64_t *arguments,
                                size_t count)
{
    char log[512] = "";
    struct sc_module *module = NULL;
    struct sc_exec_fault fault = {0};
    enum sc_exec_status status = machine_load(&module, ptx, log, sizeof log);
    if (status == SC_EXEC_UNSUPPORTED) {
        printf("refused: %s\n", log);
        return status;
    }
    ck_assert_msg(status == SC_EXEC_OK, "load: %d, %s\n%s", status, log, ptx);
    status = machine_launch(module, ctas, threads, arguments, count, &fault);
    ck_assert_msg(status == SC_EXEC_OK, "launch: %d, line %u: %s\n%s", status,
                  fault.line, fault.text, ptx);
    machine_unload(module);
    return status;
}
