/*
 * Every opcode of the tables against its reference; one Check case a table.
 *
 * OPCODES_ONLY=text runs the cases whose text holds it, OPCODES_SEED=n moves
 * the random inputs, OPCODES_ANSWERS=file appends what the machine answers, as
 * record.h has it: on hardware, the stuff of answers.txt.
 */
#include "common/suite.h"

#include "runner.h"

#define TABLE_CASE(case_name, fill)                                            \
    START_TEST(case_name)                                                      \
    {                                                                          \
        struct op_table table = {0};                                           \
        fill(&table);                                                          \
        runner_run(&table);                                                    \
        op_free(&table);                                                       \
    }                                                                          \
    END_TEST

TABLE_CASE(integer_arithmetic_matches, table_integer)
TABLE_CASE(carry_chains_match, table_extended)
TABLE_CASE(logic_shifts_and_bits_match, table_bits)
TABLE_CASE(float_arithmetic_matches, table_float)
TABLE_CASE(half_arithmetic_matches, table_half)
TABLE_CASE(approximations_keep_their_bounds, table_approx)
TABLE_CASE(comparisons_and_selections_match, table_compare)
TABLE_CASE(conversions_match, table_convert)
TABLE_CASE(moves_and_constants_match, table_move)
TABLE_CASE(video_instructions_match, table_video)

TABLE_CASE(comparison_sweeps_match, table_sweep)

SUITE_MAIN("softcuda opcodes", 60, integer_arithmetic_matches,
           carry_chains_match, logic_shifts_and_bits_match,
           float_arithmetic_matches, half_arithmetic_matches,
           approximations_keep_their_bounds, comparisons_and_selections_match,
           conversions_match, moves_and_constants_match,
           video_instructions_match, comparison_sweeps_match)
