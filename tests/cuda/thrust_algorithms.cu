/*
 * Thrust as applications use it: vectors, sort by key, transform, reduce,
 * scan, unique, and iterators that count and zip.
 */
#include "program.h"

#include <algorithm>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

struct Square {
    __host__ __device__ long long operator()(int value) const
    {
        return (long long)value * value;
    }
};

struct Mix {
    __host__ __device__ int operator()(int a, int b) const
    {
        return (a * 7 + b * 13) % 501;
    }
};

int main()
{
    const int n = 8000;
    thrust::host_vector<int> keys(n);
    Random random(41);
    for (int i = 0; i < n; i++)
        keys[i] = random.below(3000);
    thrust::device_vector<int> device = keys, mixed(n), scanned(n);
    long long squares = thrust::transform_reduce(
        device.begin(), device.end(), Square(), 0ll, thrust::plus<long long>());
    thrust::transform(device.begin(), device.end(),
                      thrust::counting_iterator<int>(0), mixed.begin(), Mix());
    thrust::inclusive_scan(mixed.begin(), mixed.end(), scanned.begin());
    thrust::sort(device.begin(), device.end());
    int most = *thrust::max_element(mixed.begin(), mixed.end());
    thrust::host_vector<int> sorted = device, sums = scanned;
    auto end = thrust::unique(device.begin(), device.end());
    int distinct = (int)(end - device.begin());

    long long want_squares = 0;
    int want_sum = 0, want_most = 0;
    for (int i = 0; i < n; i++) {
        int value = (keys[i] * 7 + i * 13) % 501;
        want_squares += (long long)keys[i] * keys[i];
        want_sum += value;
        want_most = std::max(want_most, value);
        EXPECT(sums[i] == want_sum, "scan at %d: %d, not %d", i, sums[i],
               want_sum);
    }
    std::vector<int> want(keys.begin(), keys.end());
    std::sort(want.begin(), want.end());
    EXPECT(std::equal(want.begin(), want.end(), sorted.begin()), "order");
    want.erase(std::unique(want.begin(), want.end()), want.end());
    EXPECT(squares == want_squares, "%lld, not %lld", squares, want_squares);
    EXPECT(most == want_most, "%d, not %d", most, want_most);
    EXPECT(distinct == (int)want.size(), "%d distinct", distinct);
    return pass("thrust_algorithms", "squares %lld sum %d distinct %d", squares,
                want_sum, distinct);
}
