/* Shares of devices, by given times. */
#include "common/draw.h"
#include "common/suite.h"
#include "code/times.h"

static const double no_link[4];

START_TEST(shares_follow_measured_speed)
{
    struct adsm_times times;
    adsm_times_init(&times);
    const int devices[2] = {1, 3};
    double share[2];
    /* The first call took long. */
    adsm_times_add(&times, 1, 100, 90000);
    for (int i = 0; i < ADSM_TIMES_KNOWN; i++)
        adsm_times_add(&times, 1, 100, 1000);
    for (int i = 0; i < ADSM_TIMES_KNOWN; i++) {
        adsm_times_shares(&times, devices, no_link, 2, share);
        ck_assert(share[0] == 0.5 && share[1] == 0.5);
        adsm_times_add(&times, 3, 100, 3000);
    }
    adsm_times_shares(&times, devices, no_link, 2, share);
    ck_assert_double_eq_tol(share[0], 0.75, 1e-9);
    /* Gains of some 4% leave a boundary where it is. */
    for (int i = 0; i < 5; i++)
        adsm_times_add(&times, 1, 100, 1040);
    adsm_times_shares(&times, devices, no_link, 2, share);
    ck_assert_double_eq_tol(share[0], 0.75, 1e-9);
    for (int i = 0; i < 5; i++)
        adsm_times_add(&times, 1, 100, 1300);
    adsm_times_shares(&times, devices, no_link, 2, share);
    ck_assert_double_eq_tol(share[0], 3.0 / 4.3, 1e-9);
}
END_TEST

START_TEST(two_slow_calls_of_five_change_no_share)
{
    struct adsm_times times;
    adsm_times_init(&times);
    const int devices[2] = {0, 1};
    double share[2];
    for (int i = 0; i < 5; i++) {
        adsm_times_add(&times, 0, 10, 100);
        adsm_times_add(&times, 1, 10, 100);
    }
    adsm_times_add(&times, 0, 10, 90000);
    adsm_times_add(&times, 0, 10, 90000);
    adsm_times_shares(&times, devices, no_link, 2, share);
    ck_assert(share[0] == 0.5);
    adsm_times_add(&times, 0, 10, 90000);
    adsm_times_shares(&times, devices, no_link, 2, share);
    ck_assert(share[0] < 0.01);
}
END_TEST

/* One call in five takes thrice as long, all up to 8% longer. */
START_TEST(noise_moves_no_boundary_of_equal_devices)
{
    const int devices[4] = {0, 1, 2, 3};
    struct adsm_times times;
    double share[4];
    adsm_times_init(&times);
    for (int call = 0; call < 2000; call++) {
        bool full = adsm_times_shares(&times, devices, no_link, 4, share);
        ck_assert(full == (call >= ADSM_TIMES_KEPT));
        for (int d = 0; d < 4; d++) {
            double ns = 1000 + (double)below(81);
            ck_assert(share[d] == 0.25);
            adsm_times_add(&times, d, 100,
                           (call + 2 * d) % 5 == 1 ? 3 * ns : ns);
        }
    }
}
END_TEST

SUITE_MAIN("times", 60, shares_follow_measured_speed,
           two_slow_calls_of_five_change_no_share,
           noise_moves_no_boundary_of_equal_devices)
