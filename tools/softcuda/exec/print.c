/*
 * CUDA's vprintf over device memory; see exec/system.h.
 *
 * Every byte of the format and of strings is read through the same checks as
 * a load of the kernel. Nothing is held while reading, since a fault of the
 * memory leaves here for good. Lock: none.
 */
#include "exec/system.h"
#include "exec/address.h"

#include <stdio.h>
#include <string.h>

#define MAX_ARGUMENTS 32
#define MAX_FIELD     4096 /* width and precision */
#define MAX_SPEC      32

struct spec {
    char text[MAX_SPEC]; /* as written, from '%' */
    size_t length;
    char flags[8];
    int width, precision; /* precision -1 = none */
    int longs;            /* 2 = 64 bits; -1, -2 = short, char */
    char type;
};

struct reader {
    struct sc_print *print;
    uint64_t format, arguments;
    int used;
};

/* One value of device memory; false when it cannot be read. */
static bool read_bytes(struct sc_print *print, uint64_t at, void *value,
                       uint64_t bytes)
{
    if (print->failed)
        return false;
    const char *from =
        sc_address_lane(print->strip, SC_ADDR_GENERIC, print->lane, at, bytes);
    if (!from) {
        sc_address_fault(print->strip, print->op, at, bytes);
        print->failed = true;
        return false;
    }
    memcpy(value, from, bytes);
    return true;
}

static char read_char(struct reader *r)
{
    char c = 0;
    read_bytes(r->print, r->format, &c, 1);
    return c;
}

void sc_print_text(struct sc_print *print, const char *text, size_t bytes)
{
    while (bytes) {
        if (print->used == sizeof print->text)
            sc_print_flush(print);
        size_t room = sizeof print->text - print->used;
        size_t n = bytes < room ? bytes : room;
        memcpy(print->text + print->used, text, n);
        print->used += n;
        text += n;
        bytes -= n;
    }
}

static uint64_t string_length(struct sc_print *print, uint64_t address,
                              uint64_t most)
{
    uint64_t n = 0;
    char c;
    while (n < most && read_bytes(print, address + n, &c, 1) && c)
        n++;
    return n;
}

static void put_string(struct sc_print *print, uint64_t address, uint64_t n)
{
    char c;
    for (uint64_t i = 0; i < n && read_bytes(print, address + i, &c, 1); i++)
        sc_print_text(print, &c, 1);
}

void sc_print_string(struct sc_print *print, uint64_t address, uint64_t most)
{
    if (!address)
        sc_print_text(print, "(null)", 6);
    else
        put_string(print, address, string_length(print, address, most));
}

/* Arguments lie one behind the other, each aligned to its size. */
static uint64_t next_argument(struct reader *r, uint64_t bytes)
{
    uint64_t value = 0;
    r->arguments = (r->arguments + bytes - 1) & ~(bytes - 1);
    read_bytes(r->print, r->arguments, &value, bytes);
    r->arguments += bytes;
    r->used++;
    return value;
}

/* ---- one conversion ---- */

static void take(struct reader *r, struct spec *s)
{
    if (s->length < MAX_SPEC - 1)
        s->text[s->length++] = read_char(r);
    r->format++;
}

static int take_number(struct reader *r, struct spec *s)
{
    int value = 0;
    if (read_char(r) == '*') {
        take(r, s);
        return r->used < MAX_ARGUMENTS ? (int)(uint32_t)next_argument(r, 4) : 0;
    }
    for (char c; (c = read_char(r)) >= '0' && c <= '9'; take(r, s))
        value = value < MAX_FIELD ? value * 10 + (c - '0') : value;
    return value;
}

static int within(int value)
{
    return value > MAX_FIELD ? MAX_FIELD : value;
}

static void take_size(struct reader *r, struct spec *s)
{
    for (;;) {
        char c = read_char(r);
        if (c == 'l' || c == 'h')
            s->longs += c == 'l' ? 1 : -1;
        else if (c == 'z' || c == 'j' || c == 't' || c == 'L')
            s->longs = 2;
        else
            return;
        take(r, s);
    }
}

static void take_spec(struct reader *r, struct spec *s)
{
    size_t flags = 0;
    *s = (struct spec){.precision = -1};
    take(r, s);
    for (char c; (c = read_char(r)) && strchr("-+ #0", c); take(r, s))
        if (!strchr(s->flags, c) && flags < sizeof s->flags - 1)
            s->flags[flags++] = c;
    s->width = take_number(r, s);
    if (s->width < 0) {
        if (!strchr(s->flags, '-'))
            s->flags[flags] = '-';
        s->width = s->width < -MAX_FIELD ? MAX_FIELD : -s->width;
    }
    s->width = within(s->width);
    if (read_char(r) == '.') {
        take(r, s);
        s->precision = within(take_number(r, s));
    }
    take_size(r, s);
    s->type = read_char(r);
    if (s->type)
        take(r, s);
}

static void pad(struct sc_print *print, uint64_t n)
{
    for (; n; n--)
        sc_print_text(print, " ", 1);
}

static void put_padded_string(struct reader *r, const struct spec *s)
{
    uint64_t address = next_argument(r, 8);
    uint64_t most = s->precision < 0 ? UINT64_MAX : (uint64_t)s->precision;
    uint64_t n = address ? string_length(r->print, address, most) : 6;
    uint64_t width = (uint64_t)s->width, gap = n < width ? width - n : 0;
    bool left = strchr(s->flags, '-');
    if (!left)
        pad(r->print, gap);
    if (address)
        put_string(r->print, address, n);
    else
        sc_print_text(r->print, "(null)", 6);
    if (left)
        pad(r->print, gap);
}

/* The host's own printf does the rest, one field at a time. */
static void put_field(struct reader *r, const struct spec *s)
{
    char format[64], text[2 * MAX_FIELD + 512];
    char precision[16] = "";
    const char *size = "";
    if (s->precision >= 0)
        snprintf(precision, sizeof precision, ".%d", s->precision);
    bool integer = strchr("diouxX", s->type);
    bool wide = integer && s->longs > 0;
    if (integer)
        size = wide ? "ll" : s->longs == -1 ? "h" : s->longs < -1 ? "hh" : "";
    char width[16] = "";
    if (s->width)
        snprintf(width, sizeof width, "%d", s->width);
    snprintf(format, sizeof format, "%%%s%s%s%s%c", s->flags, width, precision,
             size, s->type);
    int n;
    if (integer && !wide) {
        n = snprintf(text, sizeof text, format, (int)next_argument(r, 4));
    } else if (integer) {
        n = snprintf(text, sizeof text, format, (long long)next_argument(r, 8));
    } else if (s->type == 'c') {
        n = snprintf(text, sizeof text, format, (int)next_argument(r, 4));
    } else if (s->type == 'p') {
        n = snprintf(text, sizeof text, format,
                     (void *)(uintptr_t)next_argument(r, 8));
    } else {
        uint64_t bits = next_argument(r, 8);
        double value;
        memcpy(&value, &bits, sizeof value);
        n = snprintf(text, sizeof text, format, value);
    }
    if (n > 0 && !r->print->failed)
        sc_print_text(r->print, text, (size_t)n);
}

static void put_conversion(struct reader *r)
{
    struct spec s;
    take_spec(r, &s);
    if (r->print->failed)
        return;
    if (s.type == '%')
        sc_print_text(r->print, "%", 1);
    else if (!s.type || !strchr("diouxXeEfFgGaAcsp", s.type) ||
             r->used >= MAX_ARGUMENTS)
        sc_print_text(r->print, s.text, s.length);
    else if (s.type == 's')
        put_padded_string(r, &s);
    else
        put_field(r, &s);
}

int sc_print_format(struct sc_print *print, uint64_t format, uint64_t arguments)
{
    if (!format)
        return -1;
    struct reader r = {
        .print = print, .format = format, .arguments = arguments};
    for (char c; (c = read_char(&r)) && !print->failed;) {
        if (c == '%') {
            put_conversion(&r);
            continue;
        }
        sc_print_text(print, &c, 1);
        r.format++;
    }
    return r.used;
}
