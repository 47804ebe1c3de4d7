/*
 * What the wave programs do with wrong input and wrong output: one message,
 * status 2, before any device is touched.
 */
#include "common/suite.h"
#include "command.h"

static const char *const programs[] = {"wave_explicit", "wave_ported"};
#define PROGRAMS (sizeof programs / sizeof *programs)

static char folder[64];

static struct command_result wave(const char *program, const char *arguments)
{
    return command("cd '%s' && LD_LIBRARY_PATH='%s' '%s/%s' %s", folder,
                   place("DEVICE_DIR"), place("WAVE_PROGRAMS"), program,
                   arguments);
}

static void refused(const char *arguments, const char *says)
{
    for (size_t i = 0; i < PROGRAMS; i++) {
        struct command_result result = wave(programs[i], arguments);
        ck_assert_msg(result.status == 2, "%s %s: status %d, said %s",
                      programs[i], arguments, result.status, result.output);
        ck_assert_msg(strstr(result.output, says), "%s %s: said %s",
                      programs[i], arguments, result.output);
        ck_assert_msg(
            strncmp(result.output, programs[i], strlen(programs[i])) == 0,
            "message '%s' does not name the program", result.output);
        char *newline = strchr(result.output, '\n');
        ck_assert_msg(newline && newline[1] == 0, "more than a line: %s",
                      result.output);
    }
}

static void setup(void)
{
    scratch_make(folder);
    struct command_result made = command(
        "cd '%s' && '%s/wave-volume' --size 24x20x22 ok.vol && "
        "head -c 20 ok.vol >header.vol && head -c 9000 ok.vol >short.vol && "
        "cat ok.vol ok.vol >long.vol && : >empty.vol && "
        "{ printf X; tail -c +2 ok.vol; } >magic.vol && "
        "{ head -c 8 ok.vol; printf '\\377\\377\\377\\377'; tail -c +13 "
        "ok.vol; } >absurd.vol && "
        "{ head -c 32 ok.vol; printf '\\000\\000\\200\\277'; tail -c +37 "
        "ok.vol; } >negative.vol",
        folder, place("WAVE_PROGRAMS"));
    ck_assert_msg(made.status == 0, "%s", made.output);
}

START_TEST(wrong_velocity_file_is_refused)
{
    setup();
    refused("--volume nowhere.vol", "No such file");
    refused("--volume .", "Is a directory");
    refused("--volume empty.vol", "truncated");
    refused("--volume header.vol", "truncated");
    refused("--volume short.vol", "truncated");
    refused("--volume long.vol", "too long");
    refused("--volume magic.vol", "not a volume file");
    refused("--volume absurd.vol", "nx = 4294967295");
    scratch_remove(folder);
}
END_TEST

START_TEST(wrong_option_is_refused)
{
    setup();
    refused("--steps 0", "--steps '0'");
    refused("--steps -3", "--steps '-3'");
    refused("--steps 1e3", "--steps '1e3'");
    refused("--steps 99999999999999999999", "whole number");
    refused("--every -1", "--every '-1'");
    refused("--every ''", "--every ''");
    refused("--steps", "needs a value");
    refused("--stepz 4", "no option '--stepz'");
    refused("ok.vol", "no option 'ok.vol'");
    scratch_remove(folder);
}
END_TEST

START_TEST(unwritable_output_is_refused_at_once)
{
    setup();
    refused("--volume ok.vol --out /dev/null/out.vol", "Not a dir");
    refused("--volume ok.vol --png /dev/null/out.png", "Not a dir");
    refused("--volume ok.vol --out .", "Is a directory");
    scratch_remove(folder);
}
END_TEST

START_TEST(help_names_every_option)
{
    static const char *const options[] = {"--volume", "--steps", "--every",
                                          "--out",    "--png",   "--quiet",
                                          "--json"};
    setup();
    for (size_t i = 0; i < PROGRAMS; i++) {
        struct command_result result = wave(programs[i], "--help");
        ck_assert_int_eq(result.status, 0);
        for (size_t k = 0; k < sizeof options / sizeof *options; k++)
            ck_assert_msg(strstr(result.output, options[k]), "no %s",
                          options[k]);
    }
    scratch_remove(folder);
}
END_TEST

START_TEST(device_that_does_not_start_gives_status_3)
{
    setup();
    for (size_t i = 0; i < PROGRAMS; i++) {
        struct command_result result = command(
            "cd '%s' && SOFTCUDA_DEVICE_PROGRAM=/dev/null/x "
            "LD_LIBRARY_PATH='%s' '%s/%s' --volume ok.vol --steps 1",
            folder, place("DEVICE_DIR"), place("WAVE_PROGRAMS"), programs[i]);
        ck_assert_msg(result.status == 3, "status %d, said %s", result.status,
                      result.output);
        ck_assert_msg(strstr(result.output, "gave CUDA_ERROR_"), "said %s",
                      result.output);
    }
    scratch_remove(folder);
}
END_TEST

SUITE_MAIN("wave options", 30, wrong_velocity_file_is_refused,
           wrong_option_is_refused, unwritable_output_is_refused_at_once,
           help_names_every_option, device_that_does_not_start_gives_status_3)
