/* Files of models; see code/model_file.h. */
#include "code/model_file.h"

#include "base/log.h"
#include "base/option.h"
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { NAME = 128, NODE = 64 };

static struct {
    char folder[PATH_MAX]; /* "": none */
    bool reads_only;
    bool is_named; /* by the user */
    pid_t pid;
    char node[NODE];
    char machine[ADSM_MODEL_MACHINE];
    atomic_flag said;
} files = {.said = ATOMIC_FLAG_INIT};

static void say(enum adsm_log_level level, const char *name, const char *what)
{
    if (adsm_log_enabled(level) &&
        !atomic_flag_test_and_set_explicit(&files.said, memory_order_relaxed))
        adsm_log(level, "%s/%s %s", files.folder, name, what);
}

/* ---- which folder --------------------------------------------------------- */

static void set_folder(const char *base, const char *between, const char *below)
{
    int n = snprintf(files.folder, sizeof files.folder, "%s%s%s", base, between,
                     below);
    if (n < 0 || n >= (int)sizeof files.folder)
        files.folder[0] = '\0';
}

static void set_default_folder(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/')
        set_folder(cache, "/", "libadsm");
    else if (home && home[0] == '/')
        set_folder(home, "/", ".cache/libadsm");
}

/* The program may be in another folder by the end. */
static void set_named_folder(const char *name)
{
    char here[PATH_MAX];
    files.is_named = true;
    if (name[0] == '/')
        set_folder(name, "", "");
    else if (getcwd(here, sizeof here))
        set_folder(here, "/", name);
}

static void choose_folder(const char *asked)
{
    if (getauxval(AT_SECURE) || (asked && strcasecmp(asked, "off") == 0))
        return;
    files.reads_only = asked && strcasecmp(asked, "read") == 0;
    if (!asked || files.reads_only)
        set_default_folder();
    else if (strchr(asked, '/'))
        set_named_folder(asked);
    else
        adsm_log(ADSM_LOG_WARN,
                 "ADSM_MODELS=%s is not valid: off, read, or a folder with a / "
                 "in its name wanted; off is used",
                 asked);
}

/* ---- which machine -------------------------------------------------------- */

/* Of the first processor; "" where /proc does not say it. */
static void get_processor(char *text, size_t bytes)
{
    char line[256];
    text[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof line, file)) {
        char *name = strstr(line, ": ");
        if (!name || strncmp(line, "model name", 10) != 0)
            continue;
        name[strcspn(name, "\n")] = '\0';
        adsm_model_text(text, bytes, name + 2);
        break;
    }
    if (file)
        fclose(file);
}

static void name_machine(void)
{
    struct utsname system = {.nodename = ""};
    char processor[128], text[ADSM_MODEL_MACHINE];
    uname(&system);
    get_processor(processor, sizeof processor);
    snprintf(text, sizeof text, "%.100s, %s", system.nodename,
             processor[0] ? processor : system.machine);
    adsm_model_text(files.machine, sizeof files.machine, text);
    for (size_t i = 0; i < NODE - 1 && system.nodename[i]; i++) {
        char c = system.nodename[i];
        files.node[i] = c == '/' || c <= ' ' || c == 0x7f ? '-' : c;
    }
}

void adsm_model_files_init(void)
{
    files.pid = getpid();
    choose_folder(adsm_options_get()->models);
    if (files.folder[0])
        name_machine();
}

const char *adsm_model_folder(void)
{
    return files.folder[0] ? files.folder : NULL;
}

bool adsm_model_is_written(void)
{
    return files.folder[0] && !files.reads_only && getpid() == files.pid;
}

const char *adsm_model_machine(void)
{
    return files.machine;
}

static void name_file(uint64_t key, char name[NAME])
{
    snprintf(name, NAME, "%016" PRIx64 "-%s.txt", key, files.node);
}

/* ---- reading -------------------------------------------------------------- */

/* By number: the program's functions are not asked to (base/system.h). */
static ssize_t read_all(int fd, char *text, size_t bytes)
{
    size_t used = 0;
    long n = 1;
    while (used < bytes && n > 0) {
        n = syscall(SYS_read, fd, text + used, bytes - used);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            used += (size_t)n;
    }
    return n < 0 ? -1 : (ssize_t)used;
}

/* A whole file and one that is no pipe, link or folder. Return: -1: no such */
static ssize_t read_file(int fd, char *text)
{
    struct stat about;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) ||
        about.st_size > ADSM_MODEL_BYTES)
        return -1;
    return read_all(fd, text, ADSM_MODEL_BYTES);
}

static int open_file(const char *name)
{
    int folder = open(files.folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        errno = ENOENT;
        return -1;
    }
    int fd =
        openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int saved_errno = errno;
    close(folder);
    errno = saved_errno;
    return fd;
}

ssize_t adsm_model_text_read(const char *name, char text[ADSM_MODEL_BYTES])
{
    int fd = open_file(name);
    if (fd < 0)
        return errno == ENOENT ? -1 : -2;
    ssize_t bytes = read_file(fd, text);
    close(fd);
    return bytes < 0 ? -2 : bytes;
}

enum adsm_model_state adsm_model_read(const char *name,
                                      struct adsm_model *model)
{
    model->count = 0;
    char *text = malloc(ADSM_MODEL_BYTES);
    ssize_t bytes = text ? adsm_model_text_read(name, text) : -2;
    bool whole = bytes >= 0 && adsm_model_parse(model, text, (size_t)bytes);
    free(text);
    if (bytes == -1)
        return ADSM_MODEL_NONE;
    if (!whole)
        model->count = 0;
    return !whole                                       ? ADSM_MODEL_DAMAGED
           : strcmp(model->machine, files.machine) != 0 ? ADSM_MODEL_FOREIGN
                                                        : ADSM_MODEL_USED;
}

/* What is in a file of another kernel's name is not this one's. */
static enum adsm_model_state read_own(uint64_t key, struct adsm_model *model)
{
    char name[NAME];
    name_file(key, name);
    enum adsm_model_state state = adsm_model_read(name, model);
    return state == ADSM_MODEL_USED && model->key != key ? ADSM_MODEL_DAMAGED
                                                         : state;
}

bool adsm_model_load(uint64_t key, struct adsm_model *model)
{
    char name[NAME];
    enum adsm_model_state state = read_own(key, model);
    name_file(key, name);
    if (state == ADSM_MODEL_DAMAGED)
        say(ADSM_LOG_WARN, name, "is no model of that kernel: it is not used");
    if (state == ADSM_MODEL_FOREIGN)
        say(ADSM_LOG_WARN, name, "is another machine's: it is not used");
    return state == ADSM_MODEL_USED;
}

/* ---- writing -------------------------------------------------------------- */

/* The folder, and the one that it is in, made where they are not there. */
static int make_folder(void)
{
    char above[PATH_MAX];
    strcpy(above, files.folder);
    char *last = strrchr(above, '/');
    if (last && last > above) {
        *last = '\0';
        (void)mkdir(above, 0700);
    }
    (void)mkdir(files.folder, 0700);
    return open(files.folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool write_all(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        long n = syscall(SYS_write, fd, text, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* Into a file of its own, which takes the other's place when it is whole. */
static bool replace(int folder, const char *name, const char *text,
                    size_t bytes)
{
    static _Atomic unsigned last;
    char own[NAME + 64];
    snprintf(own, sizeof own, ".%s.%d.%u", name, (int)files.pid,
             atomic_fetch_add(&last, 1));
    int fd = openat(folder, own, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool whole = write_all(fd, text, bytes);
    whole = close(fd) == 0 && whole && renameat(folder, own, folder, name) == 0;
    int saved_errno = errno;
    if (!whole)
        unlinkat(folder, own, 0);
    errno = saved_errno;
    return whole;
}

bool adsm_model_text_write(const char *name, const char *text, size_t bytes)
{
    struct adsm_output before = adsm_output_begin();
    int folder = make_folder();
    bool whole = folder >= 0 && replace(folder, name, text, bytes);
    int saved_errno = errno;
    if (folder >= 0)
        close(folder);
    adsm_output_end(before);
    errno = saved_errno;
    return whole;
}

/* What others have written meanwhile, and what is of devices that are not seen
 * here, stays. Return: NULL: no memory */
static struct adsm_model *merge(const struct adsm_model *model)
{
    struct adsm_model *all = malloc(sizeof *all);
    if (!all)
        return NULL;
    if (read_own(model->key, all) != ADSM_MODEL_USED)
        all->count = 0;
    all->key = model->key;
    strcpy(all->kernel, model->kernel);
    strcpy(all->machine, files.machine);
    for (int i = 0; i < model->count; i++)
        adsm_model_put(all, &model->line[i]);
    return all;
}

void adsm_model_save(const struct adsm_model *model)
{
    char name[NAME];
    char *text = malloc(ADSM_MODEL_BYTES);
    struct adsm_model *all = merge(model);
    name_file(model->key, name);
    if (text && all &&
        !adsm_model_text_write(name, text, adsm_model_print(all, text)))
        say(files.is_named ? ADSM_LOG_WARN : ADSM_LOG_INFO, name,
            "cannot be written");
    free(all);
    free(text);
}
