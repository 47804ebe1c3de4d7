/* The list of functions for the CPU; see cpu_code.h. */
#include "accel/cpu_code.h"

#include "accel/error.h"
#include "base/lock.h"

#include <string.h>

static struct {
    struct adsm_lock lock;
    adsmCpuCode *first;
} known = {.lock = ADSM_LOCK_INIT(ADSM_RANK_ACCEL)};

static adsmCpuCode *find(const char *name)
{
    adsmCpuCode *code = known.first;
    while (code && strcmp(code->name, name) != 0)
        code = code->next;
    return code;
}

int adsm_cpu_code_add(adsmCpuCode *code)
{
    int rc = ADSM_OK;
    if (!code || !code->name || !code->run || code->count < 0 ||
        (code->count > 0 && !code->bytes))
        return adsm_accel_fail(ADSM_E_INVALID,
                               "a kernel for the CPU has a name, a function "
                               "and the sizes of its parameters",
                               NULL);
    adsm_lock_acquire(&known.lock);
    if (find(code->name)) {
        rc = adsm_accel_fail(ADSM_E_INVALID, "there is a kernel '", code->name,
                             "' for the CPU already", NULL);
    } else {
        code->next = known.first;
        known.first = code;
    }
    adsm_lock_release(&known.lock);
    return rc;
}

void adsm_cpu_code_remove(adsmCpuCode *code)
{
    adsm_lock_acquire(&known.lock);
    adsmCpuCode **link = &known.first;
    while (*link && *link != code)
        link = &(*link)->next;
    if (*link)
        *link = code->next;
    adsm_lock_release(&known.lock);
}

adsmCpuCode *adsm_cpu_code_find(const char *name)
{
    adsm_lock_acquire(&known.lock);
    adsmCpuCode *code = find(name);
    adsm_lock_release(&known.lock);
    return code;
}
