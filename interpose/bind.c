/*
 * Relocations by which a library reaches functions: see bind.h.
 *
 * A place is a pointer in the library's data: one for calls, bound when it is
 * first used or at the start, or one that the program takes an address from. The
 * former may lie in pages that the loader has made read-only since.
 */
#include "interpose/bind.h"
#include "base/lock.h"
#include "base/status.h"
#include "base/system.h"
#include "interpose/cuda/resolve.h"
#include "interpose/hook.h"
#include "interpose/loader.h"
#include "os/image.h"
#include "os/real.h"
#include "os/vm.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>

#if defined(__x86_64__)
enum {
    CALL = R_X86_64_JUMP_SLOT,
    TAKE = R_X86_64_GLOB_DAT,
    WORD = R_X86_64_64
};
#elif defined(__aarch64__)
enum {
    CALL = R_AARCH64_JUMP_SLOT,
    TAKE = R_AARCH64_GLOB_DAT,
    WORD = R_AARCH64_ABS64
};
#else
#error "no relocations known for this processor yet"
#endif

struct change {
    void *_Atomic *place;
    void *wanted;
};

struct binding {
    const struct bind_library *library;
    void *root;
    struct adsm_image image;
    struct change *list;
    size_t count, room;
};

/* ---- names ------------------------------------------------------------------ */

/* Few of a library's names are hooked ones: one bit for each hash of those. */
enum { BITS = 1 << 16 };
static _Atomic uint64_t hooked[BITS / 64];

static void note_names(void)
{
    size_t count;
    const struct adsm_hook *hooks = adsm_hooks_list(&count);
    for (size_t i = 0; i < count; i++) {
        uint32_t bit = adsm_image_hash(hooks[i].name) % BITS;
        atomic_fetch_or(&hooked[bit / 64], UINT64_C(1) << bit % 64);
    }
}

static const struct hook_link *find_hook(const char *name)
{
    uint32_t bit = adsm_image_hash(name) % BITS;
    bool maybe = atomic_load(&hooked[bit / 64]) >> bit % 64 & 1;
    return maybe ? hook_find(name) : NULL;
}

/* Is `found` what stands behind the hook? Of the C library any version of the
 * name is, as for a program that is started with this library before it. */
static bool is_behind(const struct hook_link *link, const void *found)
{
    Dl_info about, driver;
    if (!*link->real)
        link->cuda ? cuda_resolve() : hook_resolve(link->real);
    /* Nearly always one of these: the loader, which has a lock, is not asked. */
    if (found == *link->real || found == link->wrapper)
        return found == *link->real;
    if (!adsm_real()->dladdr(found, &about))
        return false;
    if (!link->cuda)
        return adsm_real_is_library(about.dli_fname);
    return *link->real && adsm_real()->dladdr(*link->real, &driver) &&
           about.dli_fbase == driver.dli_fbase;
}

/* ---- places ----------------------------------------------------------------- */

static const ElfW(Phdr) *
    part_of(const struct bind_library *library, uintptr_t at, uint32_t type)
{
    uintptr_t offset = at - library->map->l_addr;
    for (size_t i = 0; i < library->parts; i++)
        if (library->part[i].p_type == type &&
            offset - library->part[i].p_vaddr < library->part[i].p_memsz)
            return &library->part[i];
    return NULL;
}

/* What the loader has made read-only, in whole pages as it does. */
static bool protect(const struct bind_library *library, const ElfW(Phdr) * part,
                    int protection)
{
    size_t mask = adsm_vm_page_bytes() - 1;
    uintptr_t begin = library->map->l_addr + part->p_vaddr;
    uintptr_t end = (begin + part->p_memsz) & ~mask;
    begin &= ~mask;
    return begin >= end ||
           adsm_system_mprotect((void *)begin, end - begin, protection) == 0;
}

/* Kept for later: nothing is looked up while a change is made (see change). */
static void note(struct binding *binding, void *_Atomic *place, void *wanted)
{
    if (binding->count == binding->room) {
        size_t room = binding->room ? binding->room * 2 : 64;
        struct change *list = realloc(binding->list, room * sizeof *list);
        if (!list) {
            hook_failed("binding a library to it", ADSM_E_NOMEM);
            return;
        }
        binding->list = list;
        binding->room = room;
    }
    binding->list[binding->count++] = (struct change){place, wanted};
}

/* The function that `name` leads to from `place`, whose type of relocation is
 * `type`; NULL: none yet. One that leads into the library itself is bound when it
 * is first used. */
static void *target_of(const struct binding *binding, void *_Atomic *place,
                       unsigned type, const ElfW(Sym) * symbol,
                       const char *name)
{
    void *found = atomic_load_explicit(place, memory_order_relaxed);
    if (type == CALL && !symbol->st_value &&
        part_of(binding->library, (uintptr_t)found, PT_LOAD))
        found = adsm_real()->dlsym(binding->root, name);
    return found;
}

static void bind_one(struct binding *binding, const ElfW(Rela) * entry)
{
    const struct bind_library *library = binding->library;
    unsigned type = ELF64_R_TYPE(entry->r_info);
    if (type != CALL && type != TAKE && (type != WORD || entry->r_addend))
        return;
    const ElfW(Sym) *symbol =
        &binding->image.symbols[ELF64_R_SYM(entry->r_info)];
    const char *name = binding->image.strings + symbol->st_name;
    const struct hook_link *link = find_hook(name);
    uintptr_t at = library->map->l_addr + entry->r_offset;
    const ElfW(Phdr) *segment =
        link || loader_is_mpi(name) ? part_of(library, at, PT_LOAD) : NULL;
    if (!segment || !(segment->p_flags & PF_W))
        return;
    void *_Atomic *place = (void *_Atomic *)at;
    void *found = target_of(binding, place, type, symbol, name);
    void *wanted = found;
    if (found && !link)
        wanted = loader_exchange_mpi(name, found);
    else if (found && is_behind(link, found))
        wanted = link->wrapper;
    if (found != wanted)
        note(binding, place, wanted);
}

/*
 * Two threads may have opened the same library: one must not make read-only again
 * what the other has open. Only the kernel is asked meanwhile: who waits here may
 * be a constructor, with the loader's own lock held.
 */
static void change(const struct binding *binding)
{
    static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_SIGNAL);
    const struct bind_library *library = binding->library;
    bool open = true;
    if (binding->count == 0)
        return;
    adsm_lock_acquire(&lock);
    for (size_t i = 0; i < library->parts; i++)
        if (library->part[i].p_type == PT_GNU_RELRO)
            open &= protect(library, &library->part[i], PROT_READ | PROT_WRITE);
    /* Release: whoever calls through it sees the library as it is now. */
    for (size_t i = 0; open && i < binding->count; i++)
        atomic_store_explicit(binding->list[i].place, binding->list[i].wanted,
                              memory_order_release);
    for (size_t i = 0; i < library->parts; i++)
        if (library->part[i].p_type == PT_GNU_RELRO)
            (void)protect(library, &library->part[i], PROT_READ);
    adsm_lock_release(&lock);
    if (!open)
        hook_failed("binding a library to it", ADSM_E_SYSTEM);
}

/* ---- tables ----------------------------------------------------------------- */

static void bind_table(struct binding *binding, const ElfW(Rela) * table,
                       size_t bytes)
{
    for (size_t i = 0; table && i < bytes / sizeof *table; i++)
        bind_one(binding, &table[i]);
}

void bind_library(const struct bind_library *library, void *root)
{
    struct binding binding = {.library = library, .root = root};
    const ElfW(Rela) *all = NULL, *calls = NULL;
    size_t all_bytes = 0, calls_bytes = 0;
    (void)adsm_image_read(&binding.image, library->map);
    if (!binding.image.symbols || !binding.image.strings)
        return;
    for (const ElfW(Dyn) *d = library->map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_RELA)
            all = adsm_image_at(library->map, d);
        else if (d->d_tag == DT_RELASZ)
            all_bytes = d->d_un.d_val;
        else if (d->d_tag == DT_JMPREL)
            calls = adsm_image_at(library->map, d);
        else if (d->d_tag == DT_PLTRELSZ)
            calls_bytes = d->d_un.d_val;
    }
    note_names();
    bind_table(&binding, all, all_bytes);
    bind_table(&binding, calls, calls_bytes);
    change(&binding);
    free(binding.list);
}
