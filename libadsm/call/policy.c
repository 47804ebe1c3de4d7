/* Policies by name; those that need no measurements. See policy.h. */
#include "call/policy.h"

#include "base/option.h"
#include "call/detail.h"

#include <string.h>

bool adsm_policy_higher(const struct adsm_waiting *a,
                        const struct adsm_waiting *b)
{
    return a->task->opts.priority > b->task->opts.priority;
}

static int anywhere(struct adsm_waiting *waiting)
{
    (void)waiting;
    return ADSM_ANY_DEVICE;
}

/* One device after the other: of all tasks, not of a call's. */
static int in_turn(struct adsm_waiting *waiting)
{
    static unsigned turn; /* the queue's lock is held */
    const struct adsm_task *task = waiting->task;
    return task->numbers[turn++ % (unsigned)task->devices];
}

const struct adsm_policy adsm_policy_static = {.name = "static"};
const struct adsm_policy adsm_policy_eager = {"eager", anywhere, NULL, false};
const struct adsm_policy adsm_policy_prio = {"prio", anywhere,
                                             adsm_policy_higher, false};
const struct adsm_policy adsm_policy_ws = {"ws", in_turn, NULL, true};

/* As ADSM_POLICY has them; heft is another name of dm. */
static const struct adsm_policy *const policies[] = {
    [ADSM_OPT_POLICY_STATIC] = &adsm_policy_static,
    [ADSM_OPT_POLICY_EAGER] = &adsm_policy_eager,
    [ADSM_OPT_POLICY_PRIO] = &adsm_policy_prio,
    [ADSM_OPT_POLICY_RANDOM] = &adsm_policy_random,
    [ADSM_OPT_POLICY_WS] = &adsm_policy_ws,
    [ADSM_OPT_POLICY_DM] = &adsm_policy_dm,
    [ADSM_OPT_POLICY_DMDA] = &adsm_policy_dmda,
    [ADSM_OPT_POLICY_DMDAR] = &adsm_policy_dmdar,
    [ADSM_OPT_POLICY_DMDAS] = &adsm_policy_dmdas,
};
enum { POLICIES = sizeof policies / sizeof policies[0] };

/* How many single letters are to be put in, left out or changed. */
static int distance(const char *a, const char *b)
{
    enum { MOST = 16 };
    int row[MOST + 1], n = (int)strnlen(b, MOST);
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; a[i - 1] && i <= MOST; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int best = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
        }
    }
    return row[n];
}

static const char *nearest(const char *name)
{
    int best = 0;
    for (int i = 1; i < POLICIES; i++)
        if (distance(name, policies[i]->name) <
            distance(name, policies[best]->name))
            best = i;
    return policies[best]->name;
}

const struct adsm_policy *adsm_policy_of(const char *name, const char *kernel)
{
    if (!name)
        return policies[adsm_options_get()->policy];
    if (strcmp(name, "heft") == 0)
        return &adsm_policy_dm;
    for (int i = 0; i < POLICIES; i++)
        if (strcmp(name, policies[i]->name) == 0)
            return policies[i];
    (void)adsm_detail(ADSM_E_INVALID,
                      "a call of kernel '%s' with policy '%.40s': the nearest "
                      "name is '%s'; there are static, eager, prio, random, "
                      "ws, dm (heft), dmda, dmdar and dmdas",
                      kernel, name, nearest(name));
    return NULL;
}
