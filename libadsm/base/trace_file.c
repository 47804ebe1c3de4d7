/*
 * The file of a trace: the ring as Chrome/Perfetto JSON, a line for each event.
 *
 * The first line has all that is of the whole: {"displayTimeUnit":"ms",
 * "otherData":{...},"traceEvents":[ and the last one is ]}. So who reads it needs
 * no more memory than a line has, and sees where it is cut off. Numbers are
 * printed by hand: printf would take longer than what is traced.
 */
#include "base/trace_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    FORMAT = 1, /* what tools/trace reads */
    /* Behind that much the rest of an event has room. */
    FULL = 32 << 10,
    ROOM = 8 << 10
};

static struct {
    int fd;
    bool failed;
    size_t used;
    char text[FULL + ROOM];
} out;

static const char *const kinds[ADSM_TRACE_KINDS] = {
    [ADSM_TRACE_setup] = "setup",
    [ADSM_TRACE_signal] = "signal",
    [ADSM_TRACE_transfer] = "transfer",
    [ADSM_TRACE_wait] = "wait",
    [ADSM_TRACE_launch] = "launch",
    [ADSM_TRACE_memory] = "memory",
    [ADSM_TRACE_io] = "io"};
static const char *const ways[] = {[ADSM_WAY_UP] = "up",
                                   [ADSM_WAY_DOWN] = "down",
                                   [ADSM_WAY_DEVICE] = "device"};

/* ---- text ------------------------------------------------------------------ */

static void flush(void)
{
    for (size_t done = 0; done < out.used && !out.failed;) {
        ssize_t n = write(out.fd, out.text + done, out.used - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            out.failed = true;
    }
    out.used = 0;
}

static inline void put_bytes(const char *text, size_t bytes)
{
    memcpy(out.text + out.used, text, bytes);
    out.used += bytes;
}

/* A literal: its length is known here. */
#define put(text) put_bytes(text, sizeof(text "") - 1)

static void put_word(const char *text)
{
    put_bytes(text, strlen(text));
}

static void put_number(uint64_t number)
{
    char digits[20];
    size_t n = sizeof digits;
    do
        digits[--n] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    put_bytes(digits + n, sizeof digits - n);
}

/* Addresses as text: a reader's numbers may be too short for them. */
static void put_address(uint64_t address)
{
    int shift = 60;
    put("\"0x");
    while (shift > 0 && address >> shift == 0)
        shift -= 4;
    for (; shift >= 0; shift -= 4)
        out.text[out.used++] = "0123456789abcdef"[address >> shift & 15];
    put("\"");
}

static void put_us(uint64_t ns)
{
    put_number(ns / 1000);
    char thousandths[] = {'.', (char)('0' + ns / 100 % 10),
                          (char)('0' + ns / 10 % 10), (char)('0' + ns % 10)};
    put_bytes(thousandths, sizeof thousandths);
}

/* Cut where it is longer than any name is. */
static void put_string(const char *text)
{
    enum { MOST = 4096 / 6 };
    put("\"");
    for (int i = 0; text[i] != '\0' && i < MOST; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            out.text[out.used++] = '\\';
        if (c >= 0x20)
            out.text[out.used++] = (char)c;
        else
            out.used += (size_t)sprintf(out.text + out.used, "\\u%04x", c);
    }
    put("\"");
}

/* ---- the head -------------------------------------------------------------- */

static void put_counters(void)
{
    bool first = true;
    put(",\"counters\":{");
    for (int i = 0; i < ADSM_STAT_COUNT; i++) {
        uint64_t value = adsm_stats_get((enum adsm_stat)i);
        if (value == 0)
            continue;
        if (!first)
            put(",");
        put_string(adsm_stats_name((enum adsm_stat)i));
        put(":");
        put_number(value);
        first = false;
    }
    put("}");
}

/* Where its instructions are; those of the program itself have no name. */
static int put_module(struct dl_phdr_info *info, size_t bytes, void *context)
{
    bool *first = context;
    char path[512] = "";
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        if (*info->dlpi_name == '\0')
            (void)!readlink("/proc/self/exe", path, sizeof path - 1);
        if (!*first)
            put(",");
        put("{\"path\":");
        put_string(*path ? path : info->dlpi_name);
        put(",\"base\":");
        put_address(info->dlpi_addr);
        put(",\"begin\":");
        put_address(info->dlpi_addr + part->p_vaddr);
        put(",\"end\":");
        put_address(info->dlpi_addr + part->p_vaddr + part->p_memsz);
        put("}");
        *first = false;
        if (out.used >= FULL)
            flush();
    }
    return 0;
}

static void put_head(const struct adsm_trace_ring *ring, uint64_t lost)
{
    bool first = true;
    put("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"by\":\"libadsm\","
        "\"format\":");
    put_number(FORMAT);
    put(",\"pid\":");
    put_number((uint64_t)getpid());
    put(",\"duration_us\":");
    put_us(ring->ended_ns - ring->began_ns);
    put(",\"events_overwritten\":");
    put_number(lost);
    put_counters();
    put(",\"modules\":[");
    dl_iterate_phdr(put_module, &first);
    put("]},\"traceEvents\":[");
}

/* ---- events ---------------------------------------------------------------- */

#define GET(member) atomic_load_explicit(&event->member, memory_order_relaxed)

static void put_cause(const struct adsm_trace_event *event)
{
    int why = GET(why);
    uintptr_t object = GET(object), instruction = GET(instruction);
    if (why != ADSM_WHYS) {
        put(",\"cause\":\"");
        put_word(adsm_cause_word((enum adsm_why)why));
        put("\"");
    }
    if (object != 0) {
        put(",\"object\":");
        put_address(object);
        put(",\"object_bytes\":");
        put_number(GET(object_bytes));
        put(",\"offset\":");
        put_number(GET(object_offset));
    }
    if (GET(block_bytes) != 0) {
        put(",\"block\":");
        put_number(GET(block_bytes));
    }
    if (instruction != 0) {
        put(",\"instruction\":");
        put_address(instruction);
    }
}

static void put_event(const struct adsm_trace_event *event, uint64_t began,
                      int pid)
{
    uint64_t start = GET(start_ns), end = GET(end_ns);
    int way = GET(way), device = GET(device);
    put("{\"name\":");
    put_string((const char *)GET(name));
    put(",\"cat\":\"");
    put_word(kinds[GET(kind)]);
    put("\",\"ph\":\"X\",\"pid\":");
    put_number((uint64_t)pid);
    put(",\"tid\":");
    put_number(GET(thread));
    put(",\"ts\":");
    put_us(start > began ? start - began : 0);
    put(",\"dur\":");
    put_us(end > start ? end - start : 0);
    put(",\"args\":{\"bytes\":");
    put_number(GET(bytes));
    if (way != ADSM_WAY_NONE) {
        put(",\"way\":\"");
        put_word(ways[way]);
        put("\"");
    }
    if (device >= 0) {
        put(",\"device\":");
        put_number((uint64_t)device);
    }
    put_cause(event);
    put("}}");
}

/* Readers of the format show names of threads that an event gives them. */
static void put_thread_name(uint32_t thread, int pid)
{
    put(",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":");
    put_number((uint64_t)pid);
    put(",\"tid\":");
    put_number(thread);
    put(",\"args\":{\"name\":\"libadsm\"}}");
}

/* Threads of the runtime that have a name already; of more than fit the last ones
 * are named again. */
static struct {
    uint32_t thread[64];
    uint32_t count;
} named;

static void name_thread(const struct adsm_trace_event *event, int pid)
{
    enum { MOST = sizeof named.thread / sizeof *named.thread };
    uint32_t thread = GET(thread);
    if (!GET(own))
        return;
    for (uint32_t i = 0; i < named.count && i < MOST; i++)
        if (named.thread[i] == thread)
            return;
    named.thread[named.count++ % MOST] = thread;
    put_thread_name(thread, pid);
}

bool adsm_trace_write(const struct adsm_trace_ring *ring, int fd)
{
    uint64_t slots = ring->mask + 1;
    uint64_t lost = ring->next > slots ? ring->next - slots : 0;
    bool first = true;
    int pid = (int)getpid();
    out.fd = fd;
    out.used = 0;
    out.failed = false;
    put_head(ring, lost);
    for (uint64_t number = lost; number < ring->next; number++) {
        const struct adsm_trace_event *event =
            &ring->event[number & ring->mask];
        if (atomic_load_explicit(&event->stamp, memory_order_acquire) !=
            number + 1)
            continue;
        if (!first)
            put(",");
        put("\n");
        put_event(event, ring->began_ns, pid);
        first = false;
        name_thread(event, pid);
        if (out.used >= FULL)
            flush();
    }
    put("\n]}\n");
    flush();
    return !out.failed;
}
