/* Call sequences. See programs.h. */
#include "programs.h"

#include <stdlib.h>
#include <string.h>

enum { BODY_WORDS = 7, DROP_WORDS = 4, PAIR_WORDS = 2, CHUNK_WORDS = 256 };

static struct program begin(const char *name, long n, int arrays)
{
    return (struct program){.name = name, .n = n, .arrays = arrays};
}

static void add(struct program *program, struct step step)
{
    if (program->count % 64 == 0) {
        size_t most = (size_t)program->count + 64;
        program->step = realloc(program->step, most * sizeof step);
        if (!program->step)
            exit(1);
    }
    program->step[program->count++] = step;
}

static void fill(struct program *program, int array)
{
    add(program, (struct step){.what = FILL, .out = array});
}

static void look(struct program *program, int array)
{
    add(program, (struct step){.what = LOOK, .out = array});
}

static struct step call(int a, int b, int out)
{
    return (struct step){.what = CALL, .a = a, .b = b, .out = out};
}

struct program program_fig2(long n, bool one)
{
    struct program p = begin(one ? "fig2-one" : "fig2", n, 1);
    p.words[0] = 1;
    add(&p, call(NONE, NONE, 0));
    add(&p, (struct step){.what = LOOK, .out = 0, .one = one});
    struct step both = call(NONE, NONE, 0);
    both.update = true;
    add(&p, both);
    add(&p, call(0, NONE, NONE));
    add(&p, call(0, NONE, NONE));
    add(&p, (struct step){.what = FILL, .out = 0, .update = true, .one = one});
    return p;
}

struct program program_nbody(long n, int calls)
{
    struct program p = begin("nbody", n, 2);
    p.words[0] = p.words[1] = BODY_WORDS;
    add(&p, call(NONE, NONE, 0));
    add(&p, call(NONE, NONE, 1));
    for (int i = 0; i < calls; i++) {
        struct step step = call(i % 2, i % 2, 1 - i % 2);
        step.a_whole = true;
        add(&p, step);
    }
    look(&p, calls % 2);
    return p;
}

struct program program_lu(long n, int calls)
{
    struct program p = begin("lu", n, 2);
    p.words[0] = p.words[1] = (unsigned)n;
    fill(&p, 0);
    for (int i = 0; i < calls; i++) {
        struct step step = call(i % 2, NONE, 1 - i % 2);
        step.a_whole = true;
        add(&p, step);
    }
    look(&p, calls % 2);
    return p;
}

struct program program_sph(long n, int steps)
{
    enum { DROPS, STATES, PUSHES };
    struct program p = begin("sph", n, 3);
    p.words[DROPS] = DROP_WORDS;
    p.words[STATES] = p.words[PUSHES] = PAIR_WORDS;
    fill(&p, DROPS);
    for (int i = 0; i < steps; i++) {
        struct step density = call(DROPS, NONE, STATES);
        struct step force = call(DROPS, STATES, PUSHES);
        struct step move = call(PUSHES, NONE, DROPS);
        density.a_whole = force.a_whole = force.b_whole = true;
        move.update = true;
        add(&p, density);
        add(&p, force);
        add(&p, move);
    }
    look(&p, DROPS);
    return p;
}

struct program program_mandel(long n, int calls)
{
    struct program p = begin("mandel", n, 1);
    p.words[0] = DROP_WORDS;
    fill(&p, 0);
    for (int i = 0; i < calls; i++) {
        struct step step = call(NONE, NONE, 0);
        step.update = true;
        add(&p, step);
    }
    look(&p, 0);
    return p;
}

static struct program images(const char *name, long n, int calls)
{
    struct program p = begin(name, n, 2 + calls);
    p.words[0] = p.words[1] = CHUNK_WORDS;
    fill(&p, 0);
    fill(&p, 1);
    for (int i = 0; i < calls; i++) {
        p.words[2 + i] = PAIR_WORDS;
        add(&p, call(0, 1, 2 + i));
        look(&p, 2 + i);
    }
    return p;
}

struct program program_ppmcc(long n)
{
    return images("ppmcc", n, 2);
}

struct program program_mse(long n)
{
    return images("mse", n, 1);
}

void program_free(struct program *program)
{
    free(program->step);
    program->step = NULL;
}

size_t program_bytes(const struct program *program, int array)
{
    return (size_t)program->n * program->words[array] * sizeof(unsigned);
}

long program_first(const struct program *program, int part, int parts)
{
    return program->n * part / parts;
}

static unsigned words_of(const struct program *program, int array)
{
    return array == NONE ? 0 : program->words[array];
}

struct mix program_mix(const struct program *program, int step)
{
    const struct step *s = program->step + step;
    return (struct mix){
        .n = program->n,
        .salt = (unsigned)step,
        .a_words = words_of(program, s->a),
        .b_words = words_of(program, s->b),
        .out_words = words_of(program, s->out),
        .a_whole = s->a_whole,
        .b_whole = s->b_whole,
        .update = s->update,
    };
}

long program_span(const struct program *program, int step, long *count)
{
    bool one = program->step[step].one;
    *count = one ? 1 : program->n;
    return one ? program->n / 2 : 0;
}

void program_fill(const struct program *program, int step, unsigned *array)
{
    const struct step *s = program->step + step;
    long count, first = program_span(program, step, &count);
    size_t words = program->words[s->out];
    for (size_t i = (size_t)first * words; i < (size_t)(first + count) * words;
         i++) {
        unsigned before = s->update ? array[i] : 0;
        array[i] = (unsigned)i * 2246822519u + (unsigned)step + before;
    }
}

void program_step(const struct program *program, int step,
                  unsigned *const array[])
{
    const struct step *s = program->step + step;
    if (s->what == FILL)
        program_fill(program, step, array[s->out]);
    if (s->what != CALL)
        return;
    struct mix m = program_mix(program, step);
    for (long i = 0; i < program->n; i++)
        mix_element(&m, i, s->a == NONE ? NULL : array[s->a],
                    s->b == NONE ? NULL : array[s->b],
                    s->out == NONE ? NULL : array[s->out]);
}

bool program_by_name(struct program *program, const char *name, long n,
                     int calls)
{
    if (strcmp(name, "fig2") == 0)
        *program = program_fig2(n, false);
    else if (strcmp(name, "fig2-one") == 0)
        *program = program_fig2(n, true);
    else if (strcmp(name, "nbody") == 0)
        *program = program_nbody(n, calls);
    else if (strcmp(name, "lu") == 0)
        *program = program_lu(n, calls);
    else if (strcmp(name, "sph") == 0)
        *program = program_sph(n, calls);
    else if (strcmp(name, "mandel") == 0)
        *program = program_mandel(n, calls);
    else if (strcmp(name, "ppmcc") == 0)
        *program = program_ppmcc(n);
    else if (strcmp(name, "mse") == 0)
        *program = program_mse(n);
    else
        return false;
    return true;
}
