/*
 * Chains of callers; see site.h. A chain that is met again costs the walk up the
 * stack and a look into a hash table.
 */
#include "interpose/report/site.h"

#include "base/system.h"
#include "interpose/report/hash.h"
#include "interpose/report/walk.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 2 * REPORT_SITES_MOST };

static struct {
    struct report_site site[REPORT_SITES_MOST];
    uint16_t slot[SLOTS]; /* number of a site; 0: free */
    uint32_t count;
    char *module[REPORT_MODULES_MOST]; /* paths */
    uint32_t modules;
} * table;

/* Where this library lies. */
extern const char own_begin[] __asm__("__ehdr_start")
    __attribute__((visibility("hidden")));
extern const char own_end[] __asm__("_end")
    __attribute__((visibility("hidden")));

bool report_sites_start(void)
{
    void *at = adsm_system_mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return false;
    table = at;
    table->count = 1;
    table->modules = 1;
    return report_walk_start();
}

void report_chain_take(struct report_chain *chain)
{
    uintptr_t all[REPORT_WALK_MOST];
    unsigned count = report_walk(all), i = 0;
    while (i < count && all[i] >= (uintptr_t)own_begin &&
           all[i] < (uintptr_t)own_end)
        i++;
    chain->count = 0;
    for (; i < count && chain->count < REPORT_FRAMES; i++)
        chain->at[chain->count++] = all[i];
}

static uint64_t key_of(const struct report_chain *chain)
{
    uint64_t key = chain->count;
    for (unsigned i = 0; i < chain->count; i++)
        key = report_mix(key, chain->at[i]);
    return key | 1;
}

/* The path of what is loaded there; malloc()ed. The program's own has none. */
static char *path_of(const struct link_map *map)
{
    char path[PATH_MAX];
    if (map->l_name[0])
        return realpath(map->l_name, NULL);
    ssize_t bytes = readlink("/proc/self/exe", path, sizeof path - 1);
    path[bytes > 0 ? bytes : 0] = '\0';
    return strdup(path);
}

void report_chain_look(const struct report_chain *chain,
                       struct report_where *where)
{
    *where = (struct report_where){.at = {0}};
    for (unsigned i = 0; i < chain->count; i++) {
        Dl_info about;
        struct link_map *map = NULL;
        /* Behind the call: the byte before is the call's. */
        where->at[i] = chain->at[i] - 1;
        if (!dladdr1((void *)where->at[i], &about, (void **)&map,
                     RTLD_DL_LINKMAP) ||
            !map)
            continue;
        where->file[i] = path_of(map);
        where->at[i] -= map->l_addr;
    }
}

void report_where_end(struct report_where *where)
{
    for (unsigned i = 0; i < REPORT_FRAMES; i++)
        free(where->file[i]);
}

/* Return: its number; 0: nobody knows which it is, or there are too many */
static uint32_t module_of(const char *file)
{
    uint32_t i = 1;
    if (!file)
        return 0;
    while (i < table->modules && strcmp(table->module[i], file) != 0)
        i++;
    if (i < table->modules)
        return i;
    char *name = i < REPORT_MODULES_MOST ? strdup(file) : NULL;
    if (!name)
        return 0;
    table->module[table->modules++] = name;
    return i;
}

static uint32_t slot_of(uint64_t key)
{
    uint32_t slot = (uint32_t)(key % SLOTS);
    while (table->slot[slot] && table->site[table->slot[slot]].key != key)
        slot = (slot + 1) % SLOTS;
    return slot;
}

bool report_site_find(const struct report_chain *chain, uint32_t *number)
{
    *number = table->slot[slot_of(key_of(chain))];
    return *number || table->count == REPORT_SITES_MOST;
}

uint32_t report_site_make(const struct report_chain *chain,
                          const struct report_where *where)
{
    uint64_t key = key_of(chain);
    uint32_t slot = slot_of(key);
    if (table->slot[slot] || table->count == REPORT_SITES_MOST)
        return table->slot[slot];
    uint32_t number = table->count++;
    struct report_site *site = &table->site[number];
    site->key = key;
    site->count = chain->count;
    for (unsigned i = 0; i < chain->count; i++)
        site->frame[i] =
            (struct report_frame){module_of(where->file[i]), where->at[i]};
    table->slot[slot] = (uint16_t)number;
    return number;
}

struct report_site *report_site_at(uint32_t number)
{
    return &table->site[number];
}

uint32_t report_sites_count(void)
{
    return table->count;
}

const char *report_module_name(uint32_t module)
{
    const char *name = table->module[module];
    return name ? name : "";
}

void report_sum_add(struct report_sum *sum, uint64_t bytes, uint64_t ns,
                    bool timed)
{
    sum->count++;
    sum->bytes += bytes;
    sum->ns += timed ? ns : 0;
    sum->untimed += timed ? 0 : bytes;
}
