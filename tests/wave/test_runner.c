/* adsm-wave: its command line, and what it makes of programs that fail. */
#include "common/suite.h"
#include "command.h"

static struct command_result runner(const char *arguments)
{
    return command("'%s/adsm-wave' %s", place("WAVE_PROGRAMS"), arguments);
}

static int count(const char *text, const char *word)
{
    int found = 0;
    for (; (text = strstr(text, word)); text += strlen(word))
        found++;
    return found;
}

START_TEST(wrong_arguments_give_one_message_and_status_2)
{
    static const struct {
        const char *arguments, *says;
    } cases[] = {
        {"--reps 0", "--reps '0'"},   {"--reps 100", "from 1 to 99"},
        {"--limit x", "--limit 'x'"}, {"--colour red", "'--colour'"},
        {"--steps", "'--steps'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct command_result result = runner(cases[i].arguments);
        ck_assert_msg(result.status == 2, "'%s': status %d", cases[i].arguments,
                      result.status);
        ck_assert_msg(strstr(result.output, cases[i].says), "'%s': said %s",
                      cases[i].arguments, result.output);
        ck_assert_int_eq(count(result.output, "\n"), 1);
    }
}
END_TEST

START_TEST(failing_programs_are_shown_and_give_status_1)
{
    struct command_result result = runner("--volume /dev/null/x.vol --png /dev/"
                                          "null");
    ck_assert_int_eq(result.status, 1);
    ck_assert_int_eq(count(result.output, "failed: status 2"), 13);
    ck_assert_ptr_nonnull(strstr(result.output, "'/dev/null/x.vol'"));
    ck_assert_ptr_null(strstr(result.output, "picture:"));

    result = runner("--volume /dev/null/x.vol --png /dev/null --json");
    ck_assert_int_eq(result.status, 1);
    ck_assert_int_eq(count(result.output, "\n"), 13);
    ck_assert_int_eq(count(result.output, "\"error\":\"status 2"), 13);
}
END_TEST

START_TEST(all_cases_report_identical_results)
{
    struct command_result result =
        runner("--steps 3 --png /dev/null --json --reps 2");
    ck_assert_msg(result.status == 0, "%s", result.output);
    ck_assert_int_eq(count(result.output, "\"identical\":true"), 13);
    ck_assert_int_eq(count(result.output, "\"reps\":2"), 13);
    ck_assert_int_eq(count(result.output, "\"case\":\"ported/"), 3);
}
END_TEST

START_TEST(run_past_its_limit_is_ended)
{
    struct command_result result =
        runner("--steps 1000000 --png /dev/null --limit 1");
    ck_assert_int_eq(result.status, 1);
    ck_assert_int_eq(count(result.output, "not done after 1 s"), 13);
}
END_TEST

START_TEST(interrupted_run_leaves_nothing_behind)
{
    char folder[64];
    scratch_make(folder);
    struct command_result result =
        command("TMPDIR='%s' timeout --preserve-status -s INT 1 "
                "'%s/adsm-wave' --steps 1000000 --png /dev/null",
                folder, place("WAVE_PROGRAMS"));
    ck_assert_int_eq(result.status, 130);
    ck_assert_msg(command("rmdir '%s'", folder).status == 0,
                  "something is left in %s", folder);
}
END_TEST

SUITE_MAIN("wave runner", 120, wrong_arguments_give_one_message_and_status_2,
           failing_programs_are_shown_and_give_status_1,
           all_cases_report_identical_results, run_past_its_limit_is_ended,
           interrupted_run_leaves_nothing_behind)
