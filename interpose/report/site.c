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
    struct {
        const void *base;
        char *name;
    } module[REPORT_MODULES_MOST];
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

/* Return: its number; 0: nobody knows, or there are too many */
static uint32_t module_of(const struct link_map *map)
{
    for (uint32_t i = 1; i < table->modules; i++)
        if (table->module[i].base == map)
            return i;
    if (table->modules == REPORT_MODULES_MOST)
        return 0;
    uint32_t number = table->modules++;
    table->module[number].base = map;
    table->module[number].name = path_of(map);
    return number;
}

static struct report_frame frame_of(uintptr_t at)
{
    Dl_info about;
    struct link_map *map = NULL;
    /* Behind the call: the byte before is the call's. */
    if (!dladdr1((void *)(at - 1), &about, (void **)&map, RTLD_DL_LINKMAP) ||
        !map)
        return (struct report_frame){0, at - 1};
    return (struct report_frame){module_of(map), at - 1 - map->l_addr};
}

static uint32_t make(const struct report_chain *chain, uint64_t key)
{
    if (table->count == REPORT_SITES_MOST)
        return 0;
    uint32_t number = table->count++;
    struct report_site *site = &table->site[number];
    site->key = key;
    site->count = chain->count;
    for (unsigned i = 0; i < chain->count; i++)
        site->frame[i] = frame_of(chain->at[i]);
    return number;
}

uint32_t report_site_of(const struct report_chain *chain)
{
    uint64_t key = key_of(chain);
    uint32_t slot = (uint32_t)(key % SLOTS);
    for (; table->slot[slot]; slot = (slot + 1) % SLOTS)
        if (table->site[table->slot[slot]].key == key)
            return table->slot[slot];
    uint32_t number = make(chain, key);
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
    const char *name = table->module[module].name;
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
