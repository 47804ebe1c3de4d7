/*
 * What would be better on this machine: a row where something is to be mended,
 * with the command for it. Each is looked at or tried, none is guessed from a
 * version. See sections.h.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

#include "accel/accel.h"
#include "accel/inspect.h"
#include "base/option.h"
#include "os/fault.h"
#include "os/huge.h"
#include "os/vm.h"
#include "sections.h"

static void add(struct table *table, const char *what, const char *why,
                const char *command)
{
    table_add(table, (const char *[]){what, command, why});
}

static bool find_engine(const char *name, struct adsm_fault_engine_info *engine)
{
    for (size_t i = 0; adsm_fault_engine_info(i, engine); i++)
        if (strcmp(engine->name, name) == 0)
            return true;
    return false;
}

static bool uses_uffd(void)
{
    return strcmp(engine_in_use(), "uffd") == 0;
}

static void add_huge_pages(struct table *table)
{
    const char *why, *command = "";
    if (uses_uffd() || adsm_vm_page_bytes() != 4096 || adsm_huge_try(&why))
        return;
    if (adsm_options_get()->huge_pages == ADSM_OPT_HUGE_PAGES_OFF)
        command = "unset ADSM_HUGE_PAGES";
    else if (strstr(why, "compact_memory"))
        command = "echo 1 | sudo tee /proc/sys/vm/compact_memory";
    add(table, "huge pages", why, command);
}

static size_t bytes_of_devices(void)
{
    size_t sum = 0, total, available;
    for (int i = 0; i < adsm_accel_devices(); i++) {
        char name[8];
        total = 0;
        if (adsm_accel_describe(i, name, sizeof name, &total, &available) !=
            ADSM_OK)
            adsm_accel_error_forget();
        sum += total;
    }
    return sum;
}

/* At worst each block is a mapping of its own; uffd never splits one. */
static void add_mappings(struct table *table)
{
    enum { OTHERS = 4096 };
    size_t limit = adsm_vm_map_limit(), better = 1 << 20,
           block = adsm_options_get()->block_size,
           blocks = bytes_of_devices() / block;
    char why[256], command[64];
    if (uses_uffd() || blocks + OTHERS <= limit)
        return;
    while (better < 2 * blocks)
        better *= 2;
    snprintf(
        why, sizeof why,
        "%zu are possible (vm.max_map_count), and what the devices hold is "
        "%zu blocks of %zu KiB, each of which may need one: beyond the "
        "limit blocks are widened",
        limit, blocks, block >> 10);
    snprintf(command, sizeof command, "sudo sysctl -w vm.max_map_count=%zu",
             better);
    add(table, "mappings", why, command);
}

static bool is_locked(int device)
{
    struct adsm_finding found[ADSM_FINDINGS];
    struct adsm_accel *accel;
    int count = adsm_accel_open(device, &accel) == ADSM_OK
                    ? adsm_inspect_device(accel, found)
                    : 0;
    for (int i = 0; i < count; i++)
        if (strcmp(found[i].what, "page-locked memory") == 0)
            return strcmp(found[i].state, "no") != 0;
    return true;
}

/* Drivers lock pages by themselves, but where the process may not, some do not
 * either. Where it may, the limit is not what stands in the way. */
static void add_locking(struct table *table)
{
    struct rlimit limit;
    char why[256];
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 ||
        limit.rlim_cur == RLIM_INFINITY)
        return;
    for (int i = 0; i < adsm_accel_devices(); i++) {
        if (is_locked(i))
            continue;
        snprintf(
            why, sizeof why,
            "the driver does not page-lock the runtime's memory for device "
            "%d, and %llu KiB may be locked: copies are staged",
            i, (unsigned long long)limit.rlim_cur >> 10);
        add(table, "locked memory", why,
            limit.rlim_max == RLIM_INFINITY
                ? "ulimit -l unlimited"
                : "sudo prlimit --pid $$ --memlock=unlimited");
        return;
    }
}

/* What is asked for cannot run, or what notices scattered stores for less could
 * run and is not asked for. */
static void add_engine(struct table *table)
{
    struct adsm_option_info asked;
    struct adsm_fault_engine_info engine;
    char why[400];
    adsm_option_info(ADSM_OPTION_ID_fault_engine, &asked);
    if (find_engine(asked.value_text, &engine) && engine.refused) {
        snprintf(why, sizeof why, "ADSM_FAULT_ENGINE asks for %s: %s",
                 engine.name, engine.refused);
        add(table, "fault engine", why, "export ADSM_FAULT_ENGINE=auto");
    } else if (strcmp(asked.source, "default") == 0 &&
               find_engine("async", &engine) && !engine.refused &&
               !engine.is_chosen) {
        add(table, "fault engine",
            "async works here: writes are noticed by page, and without a "
            "signal, which is quicker where they are scattered",
            "export ADSM_FAULT_ENGINE=auto");
    }
}

static void add_permission(struct table *table)
{
    struct adsm_fault_engine_info engine;
    if (find_engine("uffd", &engine) && engine.refused &&
        strstr(engine.refused, "unprivileged_userfaultfd"))
        add(table, "userfaultfd",
            "not permitted: accesses of system calls that no hook knows fail "
            "on shared memory (ADSM_FAULT_ENGINE=uffd serves them)",
            "sudo sysctl -w vm.unprivileged_userfaultfd=1");
}

void section_advice(struct table *table)
{
    table_columns(table, "advice", "nothing is to be mended here", "what",
                  "command", "why", NULL);
    add_huge_pages(table);
    if (adsm_accel_init() == ADSM_OK) {
        add_mappings(table);
        add_locking(table);
    }
    add_engine(table);
    add_permission(table);
}
