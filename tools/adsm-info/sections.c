/*
 * Gathers what adsm-info prints. See sections.h.
 */
#include "sections.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "accel/accel.h"
#include "accel/address/address.h"
#include "accel/inspect.h"
#include "base/option.h"
#include "os/barrier.h"
#include "os/fault.h"
#include "os/huge.h"

static void add_device(struct table *table, int device)
{
    char number[16], model[128] = "", total[32] = "", available[32] = "";
    size_t total_bytes = 0, free_bytes = 0;
    struct adsm_accel *accel = NULL;
    const char *why = "", *strategy = "";
    bool usable = adsm_accel_open(device, &accel) == 0;
    if (usable)
        strategy = adsm_strategy_name(adsm_address_strategy(accel, &why));
    else
        why = adsm_accel_error_text();
    (void)adsm_accel_describe(device, model, sizeof model, &total_bytes,
                              usable ? &free_bytes : NULL);
    if (total_bytes)
        snprintf(total, sizeof total, "%zu", total_bytes >> 20);
    if (usable)
        snprintf(available, sizeof available, "%zu", free_bytes >> 20);
    snprintf(number, sizeof number, "%d", device);
    table_add(table,
              (const char *[]){number, model, total, available, strategy, why});
}

void section_devices(struct table *table)
{
    table_columns(table, "devices", "no device is visible", "#device", "model",
                  "#MiB", "#free MiB", "address", "why", NULL);
    if (adsm_accel_init() != 0)
        table->empty = adsm_accel_why();
    for (int i = 0; i < adsm_accel_devices(); i++)
        add_device(table, i);
}

/* ---- when a program's memory is shared ------------------------------------ */

static bool asks_for(const char *address)
{
    struct adsm_option_info asked;
    adsm_option_info(ADSM_OPTION_ID_address, &asked);
    return strcmp(asked.value_text, address) == 0;
}

/* From its allocation on, by the strategy of section_devices. */
static void add_at_once(struct table *table, const char *device,
                        enum adsm_strategy strategy, bool adopts)
{
    bool apart = strategy == ADSM_TRANSLATE;
    const char *state = adopts  ? "not in force"
                        : apart ? "cannot be had"
                                : "in force";
    const char *why =
        adopts  ? "for adsmAlloc alone: ADSM_ADDRESS leaves what the program "
                  "allocates to the driver"
        : apart ? "device pointers cannot be host pointers: nothing is shared"
        : asks_for("adopt") ? "ADSM_ADDRESS=adopt cannot be had"
        : asks_for("auto")  ? "the default, for adopt has run on no GPU yet"
                            : "ADSM_ADDRESS asks for it";
    table_add(table,
              (const char *[]){device, "at once", adsm_strategy_name(strategy),
                               state, why});
}

/* From the first touch on. */
static void add_adopt(struct table *table, const char *device,
                      struct adsm_accel *accel, bool adopts,
                      const char *refused)
{
    char why[400];
    const char *lacks =
        adsm_barrier_is_call()
            ? ""
            : "; the kernel has no membarrier, or denies it: a first touch "
              "stops calls on their way by a change of protection";
    if (!refused && adsm_address_try_adopting(accel) != ADSM_OK)
        refused = adsm_accel_error_text();
    if (refused)
        snprintf(why, sizeof why, "%s%s", refused,
                 adopts
                     ? "; ADSM_ADDRESS asks for it all the same, and of this "
                       "device nothing is shared"
                     : "");
    else
        snprintf(why, sizeof why, "%s%s",
                 adopts ? "ADSM_ADDRESS asks for it"
                        : "tried, it works: ADSM_ADDRESS=adopt asks for it",
                 lacks);
    table_add(table, (const char *[]){device, "at the first touch", "adopt",
                                      refused  ? "cannot be had"
                                      : adopts ? "in force"
                                               : "not in force",
                                      why});
}

void section_sharing(struct table *table)
{
    const char *refused;
    bool adopts = adsm_address_adopts(&refused);
    table_columns(table, "sharing", "no device is visible", "#device", "when",
                  "address", "state", "why", NULL);
    if (adsm_accel_init() != 0)
        table->empty = adsm_accel_why();
    for (int i = 0; i < adsm_accel_devices(); i++) {
        char number[16];
        const char *why;
        struct adsm_accel *accel;
        snprintf(number, sizeof number, "%d", i);
        if (adsm_accel_open(i, &accel) != 0)
            continue;
        add_at_once(table, number, adsm_address_strategy(accel, &why), adopts);
        add_adopt(table, number, accel, adopts, refused);
    }
}

static void add_findings(struct table *table, const char *device,
                         const struct adsm_finding *found, int count)
{
    for (int i = 0; i < count; i++)
        table_add(table, (const char *[]){device, found[i].what, found[i].state,
                                          found[i].why});
}

void section_driver(struct table *table)
{
    struct adsm_finding found[ADSM_FINDINGS];
    table_columns(table, "driver", "", "#device", "what", "state", "why", NULL);
    if (adsm_accel_init() != 0)
        table->empty = adsm_accel_why();
    add_findings(table, "", found, adsm_inspect_driver(found));
    for (int i = 0; i < adsm_accel_devices(); i++) {
        char number[16];
        struct adsm_accel *accel;
        snprintf(number, sizeof number, "%d", i);
        if (adsm_accel_open(i, &accel) == 0)
            add_findings(table, number, found,
                         adsm_inspect_device(accel, found));
    }
}

/* Why an engine that can run is in use, or is not. */
static const char *why_engine(const struct adsm_fault_engine_info *engine)
{
    struct adsm_option_info asked;
    adsm_option_info(ADSM_OPTION_ID_fault_engine, &asked);
    bool is_default = strcmp(asked.source, "default") == 0;
    if (!engine->is_chosen)
        return "tried, it works: ADSM_FAULT_ENGINE can ask for it";
    if (strcmp(asked.value_text, engine->name) == 0)
        return is_default ? "the default" : "ADSM_FAULT_ENGINE asks for it";
    return strcmp(asked.value_text, "auto") == 0
               ? "ADSM_FAULT_ENGINE=auto, and it is the quickest that works "
                 "here"
               : "what ADSM_FAULT_ENGINE asks for cannot run here";
}

void section_engines(struct table *table)
{
    table_columns(table, "engines", "", "engine", "state", "why", NULL);
    struct adsm_fault_engine_info engine;
    for (size_t i = 0; adsm_fault_engine_info(i, &engine); i++) {
        const char *state = engine.is_chosen ? "in use"
                            : engine.refused ? "cannot run here"
                                             : "not in use";
        table_add(table,
                  (const char *[]){engine.name, state,
                                   engine.refused ? engine.refused
                                                  : why_engine(&engine)});
    }
}

/* The engine that is chosen is not installed here. */
const char *engine_in_use(void)
{
    struct adsm_fault_engine_info engine;
    for (size_t i = 0; adsm_fault_engine_info(i, &engine); i++)
        if (engine.is_chosen)
            return engine.name;
    return "";
}

void section_memory(struct table *table)
{
    const char *why;
    bool works = adsm_huge_try(&why);
    if (works && strcmp(engine_in_use(), "uffd") == 0) {
        works = false;
        why = "the fault engine uffd opens memory page by page";
    }
    table_columns(table, "memory", "", "memory", "state", "why", NULL);
    table_add(table, (const char *[]){"huge pages",
                                      works ? "in use" : "not in use", why});
}

void section_options(struct table *table)
{
    table_columns(table, "options", "", "option", "value", "source", "~default",
                  "~takes", "help", NULL);
    struct adsm_option_info info;
    for (size_t i = 0; adsm_option_info(i, &info); i++)
        table_add(table, (const char *[]){info.env, info.value_text,
                                          info.source, info.default_text,
                                          info.type_text, info.help});
}

/* What a call does with its memory, in the roles of interpose/calls/roles.h:
 * arguments count from 1 here. */
#define NTH(at) NTH_##at
#define NTH_0   "1"
#define NTH_1   "2"
#define NTH_2   "3"
#define NTH_3   "4"
#define NTH_4   "5"
#define NTH_5   "6"

#define IN(at, type)              ", reads " NTH(at) " (" #type ")"
#define IN_EACH(at, count, type)  ", reads " NTH(at) " (" #type " each)"
#define OUT(at, type)             ", writes " NTH(at) " (" #type ")"
#define OUT_EACH(at, count, type) ", writes " NTH(at) " (" #type " each)"
#define FILL(at, count, type)     ", fills " NTH(at) " (" #type " each)"
#define PATH(at)                  ", reads " NTH(at) " (name)"
#define TEXT(at)                  ", reads " NTH(at) " (text)"
#define SIZED(at, length, most)                                                \
    ", writes " NTH(at) " (sized by " NTH(length) ")"
#define FDSET(at, count)       ", writes " NTH(at) " (fd_set)"
#define BULK_IN(at, count)     ", reads " NTH(at)
#define BULK_OUT(at, count)    ", fills " NTH(at)
#define LIST_IN(at, count)     ", reads what " NTH(at) " lists"
#define LIST_OUT(at, count)    ", fills what " NTH(at) " lists"
#define HEADER_IN(at)          ", reads what " NTH(at) " (msghdr) lists"
#define HEADER_OUT(at)         ", fills what " NTH(at) " (msghdr) lists"
#define HEADERS_IN(at, count)  ", reads what " NTH(at) " (mmsghdr) lists"
#define HEADERS_OUT(at, count) ", fills what " NTH(at) " (mmsghdr) lists"
#define REQUEST(at, request)   ", writes " NTH(at) " (by request)"
#define COMMAND(at, whose)     ", writes " NTH(at) " (by command)"
#define NUMBER
#define WAITS(file, flags)

/* The lists the preload libraries are made from, as texts. */
static const struct hook {
    const char *name, *kind;
    int since; /* CUDA version, 1000 * major + 10 * minor; 0 for others */
    const char *memory; /* behind two characters; NULL for others */
} hooks[] = {
#define ADSM_HOOK_STUB(name, family)          {#name, family, 0, NULL},
#define ADSM_HOOK_LIBC(returns, name, params) {#name, "libc", 0, NULL},
#define ADSM_HOOK_CALL(returns, name, params, parts)                           \
    {#name, "libc", 0, "" parts},
#define ADSM_HOOK_OWN(returns, name, params, parts)                            \
    {#name, "libc", 0, "" parts},
#define ADSM_HOOK_ODD(returns, name, params, parts)                            \
    {#name, "libc", 0, "" parts},
#define ADSM_HOOK_ALIAS(alias, name) {#alias, "libc", 0, ", as " #name},
#define ADSM_HOOK_CUDA(name, api, since, flags, params)                        \
    {#name, "CUDA driver", since, NULL},
#include "interpose/hooks.def"
#define MPI_CALL(name, arity, how, ...) {"MPI_" #name, "MPI", 0, NULL},
#define MPI_HOOK(name, arity)           {"MPI_" #name, "MPI", 0, NULL},
#include "interpose/mpi/calls.def"
};

void section_hooks(struct table *table)
{
    table_columns(table, "hooks", "", "symbol", "kind", "since CUDA", "memory",
                  NULL);
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        char since[24] = "";
        const char *memory = hooks[i].memory;
        if (hooks[i].since)
            snprintf(since, sizeof since, "%d.%d", hooks[i].since / 1000,
                     hooks[i].since % 1000 / 10);
        table_add(table, (const char *[]){hooks[i].name, hooks[i].kind, since,
                                          memory && *memory ? memory + 2 : ""});
    }
}
