/*
 * Lines of source; see lines.h. One run of addr2line for each module, which is
 * given all its addresses. It is made without a signal for the program (SIGCHLD),
 * and without our variables in its environment.
 */
#include "interpose/report/lines.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TAKES_MOST_MS = 30000, ENVIRONMENT_MOST = 4096 };

/* What there is to say of one frame: of a function that was inlined there, if the
 * outer ones are not the program's own. */
struct spot {
    const char *function;
    struct report_line at;
    bool foreign; /* the runtime's, or nvcc's */
    bool is_stub; /* what calls it is nvcc's as well */
};

static struct {
    struct spot (*spot)[REPORT_FRAMES]; /* of each site */
    struct report_place *place;
    char **environment;
} lines;

/* ---- addr2line ------------------------------------------------------------- */

/* What the program has but for variables that are about its libraries. */
static char **environment_without_us(void)
{
    char **list = calloc(ENVIRONMENT_MOST + 1, sizeof *list);
    size_t count = 0;
    for (char **at = environ; list && at && *at && count < ENVIRONMENT_MOST;
         at++)
        if (strncmp(*at, "LD_", 3) != 0 && strncmp(*at, "ADSM_", 5) != 0)
            list[count++] = *at;
    return list;
}

/* In the child, which has nothing of the library's state to touch. */
static void become(const char *path, int in, int out)
{
    char *argv[] = {"addr2line", "-a", "-f",         "-i",
                    "-C",        "-e", (char *)path, NULL};
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
        execvpe(argv[0], argv, lines.environment);
    _exit(127);
}

/* A child that sends no signal when it ends, and that wait(-1) does not find. */
static pid_t make_child(void)
{
    return (pid_t)syscall(SYS_clone, 0L, NULL, NULL, NULL, 0L);
}

/* A program sends one whoever began it, so it is a child's child, which has ended
 * by then: nobody of this process waits for it. Return: false: none was begun */
static bool start(const char *path, int in, int out)
{
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    pid_t child = make_child();
    if (child == 0) {
        if (make_child() == 0)
            become(path, in, out);
        _exit(0);
    }
    while (child > 0 && waitpid(child, NULL, __WALL) < 0 && errno == EINTR)
        continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return child > 0;
}

/* All that comes, with a zero behind; malloc()ed. NULL: it took too long */
static char *read_all(int from)
{
    uint64_t until = adsm_now_ns() + TAKES_MOST_MS * UINT64_C(1000000);
    size_t used = 0, room = 4096;
    char *text = malloc(room);
    while (text) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        uint64_t now = adsm_now_ns();
        int waits = now < until ? (int)((until - now) / 1000000) : 0;
        ssize_t n = poll(&ready, 1, waits) > 0
                        ? read(from, text + used, room - used - 1)
                        : -1;
        if (n < 0 && errno == EINTR && now < until)
            continue;
        if (n <= 0) {
            text[used] = '\0';
            if (n == 0)
                return text;
            break;
        }
        used += (size_t)n;
        char *more = used + 1 < room ? text : realloc(text, room *= 2);
        if (!more)
            break;
        text = more;
    }
    free(text);
    return NULL;
}

/* What addr2line says of the addresses in the file `in`. */
static char *ask(const char *path, int in)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    bool begun = start(path, in, ends[1]);
    close(ends[1]);
    char *text = begun ? read_all(ends[0]) : NULL;
    close(ends[0]);
    return text;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Is it the CUDA runtime, or ours? */
static bool is_foreign_module(uint32_t module)
{
    static const char *const names[] = {"libcuda.so", "libcudart.", "libadsm"};
    const char *name = base_of(report_module_name(module));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Is the frame none of the program's own? */
static bool is_foreign(uint32_t number, unsigned i)
{
    return is_foreign_module(report_site_at(number)->frame[i].module) ||
           lines.spot[number][i].foreign;
}

/* Is it the module in which a site lies? Of others no lines are looked for. */
static bool is_wanted(uint32_t module)
{
    for (uint32_t i = 1; i < report_sites_count(); i++) {
        const struct report_site *site = report_site_at(i);
        unsigned n = 0;
        while (n < site->count && is_foreign_module(site->frame[n].module))
            n++;
        if (n < site->count && site->frame[n].module == module)
            return true;
    }
    return false;
}

/* ---- one module -------------------------------------------------------------- */

/* Each frame in the module, in order. Return: how many there are */
static size_t each_frame(uint32_t module,
                         void (*take)(uint32_t, unsigned, FILE *), FILE *with)
{
    size_t count = 0;
    for (uint32_t i = 1; i < report_sites_count(); i++) {
        const struct report_site *site = report_site_at(i);
        for (unsigned n = 0; n < site->count; n++)
            if (site->frame[n].module == module) {
                count++;
                if (take)
                    take(i, n, with);
            }
    }
    return count;
}

static void put_address(uint32_t site, unsigned frame, FILE *to)
{
    fprintf(to, "0x%" PRIx64 "\n", report_site_at(site)->frame[frame].at);
}

/* The addresses in a file of memory that nobody else has. Return: -1: none */
static int addresses_of(uint32_t module)
{
    int fd = memfd_create("adsm-report", MFD_CLOEXEC);
    int other = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    FILE *to = other >= 0 ? fdopen(other, "w") : NULL;
    if (to) {
        each_frame(module, put_address, to);
        if (fclose(to) == 0 && lseek(fd, 0, SEEK_SET) == 0)
            return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

/* The next line of a text, which gets an end; NULL: there is none. */
static char *next_line(char **text)
{
    char *line = *text, *end = line ? strchr(line, '\n') : NULL;
    if (!end)
        return NULL;
    *end = '\0';
    *text = end + 1;
    return line;
}

static char *answer;

static bool begins(const char *text, const char *with)
{
    return text && strncmp(text, with, strlen(with)) == 0;
}

/* What nvcc makes of a launch, which has lines of the runtime's headers. */
static bool is_stub(const struct spot *s)
{
    return begins(s->function, "__device_stub__");
}

/* In functions of the runtime's headers, which are compiled with the program; or
 * in the runtime, which has names and no lines where it is linked in. */
static bool is_runtime(const struct spot *s)
{
    static const char *const headers[] = {
        "cuda_runtime.h", "cuda_runtime_api.h", "device_functions.h"};
    static const char *const names[] = {"cuda", "cuMem", "libcudart_static_",
                                        "__cudart"};
    for (size_t i = 0; s->at.file && i < sizeof headers / sizeof *headers; i++)
        if (strcmp(base_of(s->at.file), headers[i]) == 0)
            return true;
    for (size_t i = 0; !s->at.file && i < sizeof names / sizeof *names; i++)
        if (begins(s->function, names[i]))
            return true;
    return false;
}

/* "main" and "vec.cu:41 (discriminator 2)". Return: false: there are none */
static bool take_spot(struct spot *spot)
{
    char *function = next_line(&answer), *place = next_line(&answer);
    char *colon = place ? strrchr(place, ':') : NULL;
    if (!colon)
        return false;
    *spot =
        (struct spot){.function = strcmp(function, "??") != 0 ? function : NULL,
                      .at = {place, (unsigned)strtoul(colon + 1, NULL, 10)}};
    *colon = '\0';
    if (!spot->at.line)
        spot->at.file = NULL;
    return true;
}

/* The address, then these two of each function that is inlined there, and of the
 * one that has it. The first that is the program's own counts. */
static void take_answer(uint32_t site, unsigned frame, FILE *unused)
{
    (void)unused;
    struct spot *spot = &lines.spot[site][frame], next;
    bool stub = frame > 0 && spot[-1].is_stub, own = false;
    if (!next_line(&answer))
        return;
    while (answer && *answer && !begins(answer, "0x") && take_spot(&next)) {
        next.foreign = is_runtime(&next) || is_stub(&next) || stub;
        stub = is_stub(&next);
        if (!own)
            *spot = next;
        own |= !next.foreign;
        spot->is_stub = stub;
    }
}

static void find_module(uint32_t module)
{
    const char *path = report_module_name(module);
    if (!*path || !is_wanted(module))
        return;
    int in = addresses_of(module);
    answer = in >= 0 ? ask(path, in) : NULL;
    if (answer)
        each_frame(module, take_answer, NULL);
    if (in >= 0)
        close(in);
}

/* ---- the program's own frame ------------------------------------------------- */

/* The innermost frame, or the next one in the same module that has a line. */
static unsigned own_frame(uint32_t number, const struct report_site *site)
{
    unsigned own = site->count;
    for (unsigned i = 0; i < site->count; i++) {
        const struct spot *spot = &lines.spot[number][i];
        if (is_foreign(number, i) ||
            (own < i && site->frame[own].module != site->frame[i].module))
            continue;
        if (spot->at.file)
            return i;
        if (own == site->count)
            own = i;
    }
    return own < site->count ? own : 0;
}

/* Who calls that frame, by the lines of its module. */
static void find_callers(uint32_t number, unsigned own)
{
    const struct report_site *site = report_site_at(number);
    struct report_place *place = &lines.place[number];
    for (unsigned i = own + 1, n = 0; i < site->count && n < REPORT_CALLERS;
         i++)
        if (site->frame[i].module == site->frame[own].module &&
            lines.spot[number][i].at.file)
            place->caller[n++] = lines.spot[number][i].at;
}

static void find_place(uint32_t number)
{
    const struct report_site *site = report_site_at(number);
    if (!site->count)
        return;
    unsigned i = own_frame(number, site);
    const struct spot *spot = &lines.spot[number][i];
    lines.place[number] = (struct report_place){
        .at = spot->at,
        .function = spot->function,
        .module = report_module_name(site->frame[i].module),
        .offset = site->frame[i].at};
    find_callers(number, i);
}

static bool is_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_line(const struct report_line *a, const struct report_line *b)
{
    return a->line == b->line && is_text(a->file, b->file);
}

/* The same innermost line, or else the same instruction. */
static bool is_spot(const struct report_place *a, const struct report_place *b)
{
    if (a->at.file || b->at.file)
        return is_line(&a->at, &b->at);
    return a->offset == b->offset && a->module && is_text(a->module, b->module);
}

/* How many callers tell two sites apart. */
static unsigned difference(const struct report_place *a,
                           const struct report_place *b)
{
    unsigned n = 0;
    while (n < REPORT_CALLERS && is_line(&a->caller[n], &b->caller[n]))
        n++;
    return n < REPORT_CALLERS ? n + 1 : 0;
}

static void count_callers(uint32_t number)
{
    struct report_place *place = &lines.place[number];
    for (uint32_t i = 1; i < report_sites_count(); i++) {
        unsigned needed = is_spot(place, &lines.place[i])
                              ? difference(place, &lines.place[i])
                              : 0;
        if (needed > place->callers && place->caller[needed - 1].file)
            place->callers = needed;
    }
}

bool report_is_same_place(uint32_t one, uint32_t other)
{
    const struct report_place *a = report_place_of(one);
    const struct report_place *b = report_place_of(other);
    if (one == other)
        return true;
    for (unsigned i = 0; i < a->callers || i < b->callers; i++)
        if (!is_line(&a->caller[i], &b->caller[i]))
            return false;
    return is_spot(a, b);
}

void report_places_find(void)
{
    uint32_t count = report_sites_count();
    lines.spot = calloc(count, sizeof *lines.spot);
    lines.place = calloc(count, sizeof *lines.place);
    lines.environment = environment_without_us();
    if (!lines.spot || !lines.place)
        return;
    for (uint32_t i = 1; i < REPORT_MODULES_MOST && lines.environment; i++)
        find_module(i);
    for (uint32_t i = 1; i < count; i++)
        find_place(i);
    for (uint32_t i = 1; i < count; i++)
        count_callers(i);
}

const struct report_place *report_place_of(uint32_t site)
{
    static const struct report_place nowhere;
    return lines.place ? &lines.place[site] : &nowhere;
}
