/* wave-volume: makes the shipped model, and checks what it is told. */
#include "common/suite.h"
#include "command.h"

static char folder[64];

static struct command_result generate(const char *arguments)
{
    return command("'%s/wave-volume' %s", place("WAVE_PROGRAMS"), arguments);
}

START_TEST(shipped_model_is_what_it_makes)
{
    scratch_make(folder);
    struct command_result made =
        command("cd '%s' && '%s/wave-volume' m.vol && "
                "cmp m.vol '%s/data/salt.vol' && stat -c %%s m.vol",
                folder, place("WAVE_PROGRAMS"), place("WAVE_SOURCE"));
    ck_assert_msg(made.status == 0, "%s", made.output);
    ck_assert_int_le(atoi(made.output), 1 << 20);
    scratch_remove(folder);
}
END_TEST

START_TEST(seed_changes_the_model_and_repeats_it)
{
    scratch_make(folder);
    struct command_result made = command(
        "cd '%s' && v='%s/wave-volume' && "
        "$v --size 32x20x24 --seed 5 a && $v --seed 5 --size 32x20x24 b && "
        "$v --size 32x20x24 --seed 6 c && cmp a b && ! cmp -s a c && "
        "stat -c %%s a",
        folder, place("WAVE_PROGRAMS"));
    ck_assert_msg(made.status == 0, "%s", made.output);
    ck_assert_int_eq(atoi(made.output), 32 + 4 * 32 * 20 * 24);
    scratch_remove(folder);
}
END_TEST

START_TEST(wrong_arguments_give_one_message_and_status_2)
{
    static const struct {
        const char *arguments, *says;
    } cases[] = {
        {"", "which file"},
        {"a b", "second one"},
        {"--size 10x10 a", "NXxNYxNZ"},
        {"--size 8x32x32 a", "nx = 8"},
        {"--size 32x32x99999 a", "nz = 99999"},
        {"--size 4096x4096x4096 a", "cells"},
        {"--size -1x32x32 a", "NXxNYxNZ"},
        {"--spacing 0 a", "--spacing '0'"},
        {"--spacing nan a", "--spacing 'nan'"},
        {"--seed x a", "--seed 'x'"},
        {"--size", "needs a value"},
        {"--colour red a", "no option --colour"},
        {"/dev/null/a", "Not a directory"},
        {"/dev/full", "No space"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct command_result result = generate(cases[i].arguments);
        ck_assert_msg(result.status == 2, "'%s': status %d", cases[i].arguments,
                      result.status);
        ck_assert_msg(strstr(result.output, cases[i].says), "'%s': said %s",
                      cases[i].arguments, result.output);
        char *newline = strchr(result.output, '\n');
        ck_assert_msg(newline && newline[1] == 0, "'%s': said %s",
                      cases[i].arguments, result.output);
    }
}
END_TEST

SUITE_MAIN("wave generator", 20, shipped_model_is_what_it_makes,
           seed_changes_the_model_and_repeats_it,
           wrong_arguments_give_one_message_and_status_2)
