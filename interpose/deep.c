/*
 * Libraries that a program opens so that they find other functions than ours.
 *
 * With RTLD_DEEPBIND the loader looks in a library, and in what that needs, before
 * it looks where we stand: so the C library's and the driver's functions are found
 * past every hook. Such a library keeps what it has found, as the program asked
 * for; only what is behind a hook is exchanged for the hook, once it is loaded
 * (bind.h). Its constructors have run by then, and what they called was not seen;
 * but the actions of signals that they have set are looked at.
 *
 * A namespace of dlmopen has a C library and a driver of its own, which none of
 * our hooks could stand for: that is said once.
 *
 * No lock: what is exchanged twice is the same. All other libraries are opened by
 * the program itself, so to say: dlopen looks where its caller says.
 */
#include "interpose/bind.h"
#include "interpose/hook.h"
#include "interpose/loader.h"
#include "interpose/signals/mask.h"
#include "base/log.h"
#include "os/real.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *(*hook_next_dlopen)(const char *, int);
void *(*hook_next_dlmopen)(Lmid_t, const char *, int);

/* ---- what is loaded ----------------------------------------------------------- */

struct loaded {
    struct piece {
        const void *dynamic;
        char *name;
        const ElfW(Phdr) * part;
        size_t parts;
    } * list;
    size_t count, room;
};

static void forget_list(struct loaded *loaded)
{
    for (size_t i = 0; i < loaded->count; i++)
        free(loaded->list[i].name);
    free(loaded->list);
}

static void forget(struct loaded *loaded)
{
    if (loaded)
        forget_list(loaded);
    free(loaded);
}

static int note(struct dl_phdr_info *info, size_t size, void *context)
{
    struct loaded *loaded = context;
    struct piece piece = {NULL, NULL, info->dlpi_phdr, info->dlpi_phnum};
    (void)size;
    for (size_t i = 0; i < piece.parts; i++)
        if (piece.part[i].p_type == PT_DYNAMIC)
            piece.dynamic =
                (const void *)(info->dlpi_addr + piece.part[i].p_vaddr);
    if (loaded->count == loaded->room) {
        size_t room = loaded->room ? loaded->room * 2 : 64;
        void *list = realloc(loaded->list, room * sizeof piece);
        if (!list)
            return 1;
        loaded->list = list;
        loaded->room = room;
    }
    piece.name = strdup(info->dlpi_name);
    loaded->list[loaded->count++] = piece;
    return 0;
}

static bool has(const struct loaded *loaded, const void *dynamic)
{
    for (size_t i = 0; i < loaded->count; i++)
        if (loaded->list[i].dynamic == dynamic)
            return true;
    return false;
}

/* Bind all that was not there before. Each is kept from being unloaded, which
 * another thread may do with what it has loaded meanwhile. */
static void bind_new(const struct loaded *before, void *root)
{
    struct loaded now = {NULL, 0, 0};
    dl_iterate_phdr(note, &now);
    for (size_t i = 0; i < now.count; i++) {
        const struct piece *piece = &now.list[i];
        struct link_map *map;
        if (!piece->dynamic || !piece->name || has(before, piece->dynamic))
            continue;
        map = adsm_real()->dlopen(piece->name, RTLD_LAZY | RTLD_NOLOAD);
        if (!map)
            continue;
        if (map->l_ld == piece->dynamic)
            bind_library(&(struct bind_library){map, piece->part, piece->parts},
                         root);
        adsm_real()->dlclose(map);
    }
    forget_list(&now);
}

/* ---- as its caller would ---------------------------------------------------- */

/* A file of that name in one of the folders where the caller's libraries are
 * looked for, before the loader looks where all are. */
static void *open_beside(struct link_map *caller, const char *file, int flags)
{
    Dl_serinfo size, *search = NULL;
    void *handle = NULL;
    char path[PATH_MAX];
    if (dlinfo(caller, RTLD_DI_SERINFOSIZE, &size) == 0)
        search = malloc(size.dls_size);
    if (!search)
        return NULL;
    *search = size;
    if (dlinfo(caller, RTLD_DI_SERINFO, search) != 0)
        search->dls_cnt = 0;
    for (unsigned i = 0; i < search->dls_cnt && !handle; i++) {
        const Dl_serpath *place = &search->dls_serpath[i];
        int length =
            snprintf(path, sizeof path, "%s/%s", place->dls_name, file);
        if (place->dls_flags & LA_SER_DEFAULT)
            break;
        if (length > 0 && (size_t)length < sizeof path &&
            access(path, R_OK) == 0)
            handle = hook_next_dlopen(path, flags);
    }
    free(search);
    return handle;
}

/* $ORIGIN is the folder of who opens. */
static const char *from_origin(struct link_map *caller, const char *file,
                               char *path, size_t bytes)
{
    static const char *const forms[] = {"$ORIGIN/", "${ORIGIN}/"};
    char folder[PATH_MAX];
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t length = strlen(forms[i]);
        if (strncmp(file, forms[i], length) == 0 &&
            dlinfo(caller, RTLD_DI_ORIGIN, folder) == 0 &&
            (size_t)snprintf(path, bytes, "%s/%s", folder, file + length) <
                bytes)
            return path;
    }
    return file;
}

/* dlopen by code at `caller`: a name without a folder is looked for as that
 * code's library says, and what is loaded already is found by it first. */
static void *open_as(const void *caller, const char *file, int flags)
{
    struct link_map *map;
    Dl_info about;
    char path[PATH_MAX];
    void *handle = NULL;
    /* Code that is in no library counts as the program's. */
    if (!dladdr1(caller, &about, (void **)&map, RTLD_DL_LINKMAP))
        map = _r_debug.r_map;
    if (file)
        file = from_origin(map, file, path, sizeof path);
    if (file && *file && !strchr(file, '/')) {
        handle = hook_next_dlopen(file, flags | RTLD_NOLOAD);
        if (!handle && !(flags & RTLD_NOLOAD))
            handle = open_beside(map, file, flags);
    }
    return handle ? handle : hook_next_dlopen(file, flags);
}

/* What was there before the first library was opened so, for ever. */
static struct loaded *_Atomic first;

/* Libraries being opened so: what is loaded meanwhile may be another's, which has
 * not come to bind it yet. */
static atomic_int opening;

/* What is loaded now; NULL: there is no memory for it. */
static struct loaded *look(void)
{
    struct loaded *now = calloc(1, sizeof *now), *none = NULL;
    if (now && dl_iterate_phdr(note, now) != 0) {
        forget(now);
        return NULL;
    }
    if (now)
        atomic_compare_exchange_strong(&first, &none, now);
    return now;
}

static void *open_deep(const void *caller, const char *file, int flags)
{
    bool alone = atomic_fetch_add(&opening, 1) == 0;
    struct loaded *before = look();
    void *handle = open_as(caller, file, flags);
    if (handle) {
        /* What its constructors have set. */
        if (mask_is_active())
            signal_adopt_actions();
        if (before)
            bind_new(alone ? before : atomic_load(&first), handle);
        else
            hook_failed("what a library opened with RTLD_DEEPBIND does",
                        ADSM_E_NOMEM);
        /* A look-up that fails leaves a message, which is not the program's. */
        adsm_real()->dlerror();
    }
    atomic_fetch_sub(&opening, 1);
    if (before != atomic_load(&first))
        forget(before);
    return handle;
}

/* ---- the hooks ---------------------------------------------------------------- */

struct hook_answer hook_dlopen_answer(const char *file, long flags, long unused,
                                      const void *caller)
{
    (void)unused;
    if (hook_unlikely(!hook_next_dlopen))
        hook_resolve((void **)&hook_next_dlopen);
    if (hook_likely(!((int)flags & RTLD_DEEPBIND)))
        return (struct hook_answer){NULL, 0};
    return (struct hook_answer){open_deep(caller, file, (int)flags), 1};
}

struct hook_answer hook_dlmopen_answer(long space, const char *file, long flags,
                                       const void *caller)
{
    if (hook_unlikely(!hook_next_dlmopen))
        hook_resolve((void **)&hook_next_dlmopen);
    if (space == LM_ID_BASE)
        return hook_dlopen_answer(file, flags, 0, caller);
    adsm_log_once(
        ADSM_LOG_WARN,
        "dlmopen: what is loaded into a namespace of its own has a C library "
        "and a CUDA driver of its own, of which libadsm sees nothing: open %s "
        "by dlopen, or give it plain memory only",
        file ? file : "it");
    return (struct hook_answer){NULL, 0};
}
