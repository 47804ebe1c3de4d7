"""The main function every Python suite shares; see suite.h for the C one.

Closes with the line Check prints, so that both are counted alike, and exits
77 when every case was skipped.
"""
import os
import sys
import unittest


def plain_environment():
    """The environment without anything that options are taken from. What was
    measured by other programs is left where it is."""
    plain = {name: value for name, value in os.environ.items()
             if not name.startswith(('ADSM_', 'SOFTCUDA_', 'LD_'))}
    return {**plain, 'ADSM_MODELS': 'off'}


def main():
    """Run the cases of the calling module and exit."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(
        sys.modules['__main__'])
    result = unittest.TextTestRunner(stream=sys.stderr, verbosity=1).run(suite)
    skipped = len(result.skipped)
    for test, why in result.skipped:
        print(f'SKIP: {test.id()}: {why}')
    bad, errors = len(result.failures), len(result.errors)
    share = 100 * (result.testsRun - bad - errors) // max(result.testsRun, 1)
    print(f'{share}%: Checks: {result.testsRun}, Failures: {bad}, '
          f'Errors: {errors}, Skipped: {skipped}')
    if bad or errors or not result.testsRun:
        sys.exit(1)
    sys.exit(77 if skipped == result.testsRun else 0)
