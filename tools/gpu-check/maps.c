/*
 * What is mapped in this process, by the system's own list.
 */
#include "probe.h"

#include <stdio.h>
#include <string.h>

bool mapping_next(FILE *maps, struct mapping *mapping)
{
    unsigned long long begin, end;
    *mapping->name = '\0';
    if (!maps || !fgets(mapping->line, sizeof mapping->line, maps) ||
        sscanf(mapping->line, "%llx-%llx %7s %*s %*s %*s %31s", &begin, &end,
               mapping->mode, mapping->name) < 3)
        return false;
    mapping->line[strcspn(mapping->line, "\n")] = '\0';
    mapping->begin = begin;
    mapping->end = end;
    return true;
}

bool mapping_is_placeholder(const struct mapping *mapping)
{
    return strcmp(mapping->mode, "---p") == 0 &&
           (!*mapping->name || strncmp(mapping->name, "[anon", 5) == 0);
}

static const char *kind_of(const struct mapping *mapping)
{
    return mapping_is_placeholder(mapping)             ? "PROT_NONE"
           : strstr(mapping->name, "memfd:" FILE_NAME) ? CPU_PAGES
                                                       : "something else";
}

const char *host_side(uint64_t at, size_t bytes, struct mapping *first)
{
    struct mapping mapping = {0};
    const char *kind = NULL;
    uint64_t next = at / PAGE * PAGE;
    FILE *maps = fopen("/proc/self/maps", "r");
    *first = mapping;
    while (mapping_next(maps, &mapping)) {
        if (mapping.end <= next || mapping.begin >= at + bytes)
            continue;
        if (!kind) {
            *first = mapping;
            kind = kind_of(&mapping);
        }
        if (mapping.begin > next || kind != kind_of(&mapping))
            kind = "several things";
        next = mapping.end;
    }
    if (maps)
        fclose(maps);
    return !kind ? "nothing" : next < at + bytes ? "several things" : kind;
}
