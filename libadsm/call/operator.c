/* Operators, shipped and found by name. */
#include "call/operator.h"

#include "call/detail.h"
#include "call/kernel.h"
#include "call/scratch.h"
#include "call/shipped.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAME = 255 };

struct adsmOperator {
    adsmOperator *next;
    const char *name;
    size_t bytes;
    _Atomic(adsmModule *) module; /* NULL: shipped, not loaded yet */
    uint64_t serial;              /* of the module; 0: shipped */
    const struct adsm_shipped *shipped;
};

static const char *const suffixes[] = {
    [ADSM_OPERATOR_FOLD] = "fold",       [ADSM_OPERATOR_NONE] = "none",
    [ADSM_OPERATOR_BYTES] = "bytes",     [ADSM_OPERATOR_ROWS] = "rows",
    [ADSM_OPERATOR_COLUMNS] = "columns", [ADSM_OPERATOR_LAST] = "last",
    [ADSM_OPERATOR_SCAN] = "scan",
};

static struct {
    pthread_mutex_t lock;
    adsmOperator *first;
} of_programs = {.lock = PTHREAD_MUTEX_INITIALIZER};
static adsmOperator shipped[ADSM_SHIPPED];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(void)
{
    for (int i = 0; i < ADSM_SHIPPED; i++) {
        shipped[i].name = adsm_shipped[i].name;
        shipped[i].bytes = adsm_shipped_bytes(&adsm_shipped[i]);
        shipped[i].shipped = &adsm_shipped[i];
    }
    adsm_shipped_add_cpu();
}

const adsmOperator *adsm_operator_of(adsmOp op, adsmType type)
{
    int i = adsm_shipped_find(op, type);
    pthread_once(&once, fill);
    return i < 0 ? NULL : &shipped[i];
}

size_t adsm_operator_bytes(const adsmOperator *op)
{
    return op->bytes;
}

size_t adsm_operator_align(const adsmOperator *op)
{
    return op->serial == 0 ? op->bytes : 1;
}

const char *adsm_operator_name(const adsmOperator *op)
{
    return op->name;
}

int adsm_operator_check(const adsmOperator *op)
{
    bool is = op >= shipped && op < shipped + ADSM_SHIPPED;
    pthread_mutex_lock(&of_programs.lock);
    for (const adsmOperator *o = of_programs.first; o && !is; o = o->next)
        is = o == op;
    pthread_mutex_unlock(&of_programs.lock);
    if (!op)
        return adsm_detail(ADSM_E_INVALID, "op must not be NULL");
    if (!is)
        return adsm_detail(ADSM_E_INVALID,
                           "op (%p) is no operator: adsmOperatorOf and "
                           "adsmOperatorGet give them",
                           (const void *)op);
    return ADSM_OK;
}

/* The module of what is shipped. Of two threads that load it, one finds that it
 * need not have. */
static int load(adsmOperator *op, adsmModule **module)
{
    adsmModule *none = NULL;
    *module = atomic_load(&op->module);
    if (*module)
        return ADSM_OK;
    char *text = adsm_shipped_text(op->shipped);
    if (!text)
        return adsm_detail(ADSM_E_NOMEM, "no memory for operator '%s'",
                           op->name);
    int rc = adsmModuleLoad(module, text, strlen(text));
    free(text);
    if (rc != ADSM_OK)
        return rc;
    if (!atomic_compare_exchange_strong(&op->module, &none, *module)) {
        (void)adsmModuleUnload(*module);
        *module = none;
    }
    return ADSM_OK;
}

static int kernel_of(adsmModule *module, const char *name,
                     enum adsm_operator_kernel which, adsmKernel **kernel)
{
    char full[MOST_NAME + 16];
    if (strlen(name) > MOST_NAME)
        return adsm_detail(ADSM_E_INVALID,
                           "an operator's name has up to %d characters",
                           MOST_NAME);
    snprintf(full, sizeof full, "%s_%s", name, suffixes[which]);
    return adsmKernelGet(kernel, module, full, ADSM_ONLY_ARGUMENTS);
}

int adsm_operator_kernel(const adsmOperator *op,
                         enum adsm_operator_kernel which, adsmKernel **kernel)
{
    adsmModule *module;
    int rc = load((adsmOperator *)op, &module);
    if (rc == ADSM_OK)
        rc = kernel_of(module, op->name, which, kernel);
    if (rc == ADSM_E_NOT_FOUND && which >= ADSM_OPERATOR_ROWS)
        rc = adsm_detail(rc,
                         "operator '%s' has no kernel '%s_%s': ADSM_OPERATOR "
                         "makes all of them",
                         op->name, op->name, suffixes[which]);
    return rc;
}

/* ---- of programs ---------------------------------------------------------- */

/* What a kernel says of itself: waits for it. */
static int ask_bytes(adsmKernel *kernel, size_t *bytes)
{
    int rc;
    struct adsm_scratch *s = adsm_scratch_take(sizeof(int), adsmR1(1), &rc);
    if (!s)
        return rc;
    int *said = s->array;
    const adsmOpts opts = {.sync = 1};
    rc = adsmCallWith(&opts, kernel, adsmR1(1), adsmOut(said));
    *bytes = rc == ADSM_OK ? (size_t)said[0] : 0;
    adsm_scratch_give(s);
    return rc;
}

static const adsmOperator *find(uint64_t serial, const char *name)
{
    const adsmOperator *op;
    pthread_mutex_lock(&of_programs.lock);
    for (op = of_programs.first; op; op = op->next)
        if (op->serial == serial && strcmp(op->name, name) == 0)
            break;
    pthread_mutex_unlock(&of_programs.lock);
    return op;
}

static const adsmOperator *make(adsmModule *module, uint64_t serial,
                                const char *name, size_t bytes)
{
    adsmOperator *op = calloc(1, sizeof *op + strlen(name) + 1);
    if (!op)
        return NULL;
    op->name = strcpy((char *)(op + 1), name);
    op->bytes = bytes;
    op->serial = serial;
    atomic_init(&op->module, module);
    pthread_mutex_lock(&of_programs.lock);
    op->next = of_programs.first; /* a second one of that name is as good */
    of_programs.first = op;
    pthread_mutex_unlock(&of_programs.lock);
    return op;
}

static int get(adsmModule *module, uint64_t serial, const char *name,
               const adsmOperator **op)
{
    adsmKernel *kernel;
    size_t bytes = 0;
    *op = find(serial, name);
    if (*op)
        return ADSM_OK;
    int rc = kernel_of(module, name, ADSM_OPERATOR_BYTES, &kernel);
    if (rc == ADSM_OK)
        rc = ask_bytes(kernel, &bytes);
    if (rc != ADSM_OK)
        return rc;
    *op = make(module, serial, name, bytes);
    return *op ? ADSM_OK
               : adsm_detail(ADSM_E_NOMEM, "no memory for operator '%s'", name);
}

int adsm_operator_get(adsmModule *module, const char *name,
                      const adsmOperator **op)
{
    struct adsm_kernel_view view;
    adsmKernel *fold;
    int rc = kernel_of(module, name, ADSM_OPERATOR_FOLD, &fold);
    if (rc == ADSM_E_NOT_FOUND)
        return adsm_detail(rc,
                           "the module has no operator '%s': "
                           "ADSM_OPERATOR(%s, ...) in its source makes one",
                           name, name);
    if (rc == ADSM_OK)
        rc = adsm_kernel_hold(fold, &view);
    if (rc != ADSM_OK)
        return rc;
    rc = get(module, view.serial, name, op);
    adsm_kernel_release(&view);
    return rc;
}

int adsm_operator_of_map(const adsmKernel *map, const adsmOperator **op)
{
    struct adsm_kernel_view view;
    adsmKernel *fold;
    int rc = adsm_kernel_hold(map, &view);
    if (rc != ADSM_OK)
        return rc;
    rc = kernel_of(view.module, view.name, ADSM_OPERATOR_FOLD, &fold);
    if (rc == ADSM_E_NOT_FOUND)
        rc = adsm_detail(ADSM_E_INVALID,
                         "kernel '%s' was not made by ADSM_MAP_REDUCE: its "
                         "module has no '%s_fold'",
                         view.name, view.name);
    if (rc == ADSM_OK)
        rc = get(view.module, view.serial, view.name, op);
    adsm_kernel_release(&view);
    return rc;
}
