/*
 * C++: objects that use device memory before main and after it, whenever they
 * were made; objects of threads, which end with them; sorting, exceptions and
 * atomics in that memory.
 *
 *   explicit   memory of the program, and copies; touch  the device memory
 */
#include "victim.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

enum { WORDS = 50021, THREADS = 4 };

static bool touch;

static bool is_touch()
{
    FILE *line = fopen("/proc/self/cmdline", "r");
    char text[4096];
    size_t n = line ? fread(text, 1, sizeof text - 1, line) : 0;
    if (line)
        fclose(line);
    text[n] = 0;
    size_t first = strlen(text) + 1;
    return first < n && strcmp(text + first, "touch") == 0;
}

/* Memory of the device, and what the program sees of it. */
struct array {
    CUdeviceptr device;
    std::vector<uint32_t> plain;

    explicit array(uint32_t k) : plain(touch ? 0 : WORDS)
    {
        CHECK(cuMemAlloc(&device, WORDS * 4));
        CHECK(cuMemsetD32(device, k, WORDS));
        down();
    }
    uint32_t *begin()
    {
        return touch ? reinterpret_cast<uint32_t *>(device) : plain.data();
    }
    uint32_t *end()
    {
        return begin() + WORDS;
    }
    void up()
    {
        if (!touch)
            CHECK(cuMemcpyHtoD(device, plain.data(), WORDS * 4));
    }
    void down()
    {
        if (!touch)
            CHECK(cuMemcpyDtoH(plain.data(), device, WORDS * 4));
    }
    unsigned long long sum()
    {
        return victim_hash(reinterpret_cast<uint8_t *>(begin()), WORDS * 4);
    }
};

static array *early, *late;

/* Made before the driver is used, so that it ends after all that ends with
 * it. */
struct before_all {
    before_all()
    {
        touch = is_touch();
    }
    ~before_all()
    {
        (*early->begin())++;
        std::cout << "last: " << early->sum() << " " << late->sum()
                  << std::endl;
    }
};

struct user {
    explicit user(const char *name) : name(name)
    {
        std::fill(early->begin(), early->end(), 77u);
        early->up();
        CHECK(cuMemsetD32(early->device, 5, WORDS / 2));
        early->down();
        printf("%s made %llx\n", name, early->sum());
    }
    ~user()
    {
        early->begin()[WORDS - 1] += 3;
        printf("%s ends %llx\n", name, early->sum());
        fflush(stdout);
    }
    const char *name;
};

static struct driver {
    driver()
    {
        static before_all all;
        victim_start();
        early = new array(1);
        late = new array(2);
    }
} driver;

static user outside("outside");

__attribute__((destructor)) static void at_unload()
{
    late->begin()[1]++;
    printf("unload %llx\n", late->sum());
    fflush(stdout);
}

/* ---- threads ---------------------------------------------------------------- */

static uint32_t left_behind[THREADS];

struct of_thread {
    unsigned place = 0;
    bool used = false;
    ~of_thread()
    {
        if (used) /* the CPU's own since this thread wrote it */
            left_behind[place] = late->begin()[place * 10000] + place;
    }
};

static thread_local of_thread own;

static void work(unsigned me)
{
    own.place = me;
    own.used = true;
    for (unsigned i = 0; i < 10000; i++)
        late->begin()[me * 10000 + i] = i * (me + 3);
}

static void use_threads()
{
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < THREADS; i++)
        threads.emplace_back(work, i);
    for (std::thread &thread : threads)
        thread.join();
    late->up();
    printf("threads %llx", late->sum());
    for (unsigned i = 0; i < THREADS; i++)
        printf(" %u", left_behind[i]);
    std::future<unsigned long long> sum =
        std::async(std::launch::async, [] { return late->sum(); });
    printf(" %llx\n", sum.get());
}

/* ---- what the library's templates do ------------------------------------------ */

static void use_templates()
{
    array words(9);
    uint32_t k = 0;
    std::generate(words.begin(), words.end(),
                  [&k] { return (k = k * 1664525 + 1013904223) >> 8; });
    std::sort(words.begin(), words.end());
    words.up();
    CHECK(cuMemsetD32(words.device, 4, 100));
    words.down();
    std::reverse(words.begin(), words.end());
    printf("sorted %d %llx\n",
           std::is_sorted(words.begin(), words.end(), std::greater<>()),
           words.sum());
    std::string text(reinterpret_cast<char *>(words.begin()), 1000);
    printf("string %s\n",
           std::to_string(victim_hash((const uint8_t *)text.data(), 1000))
               .c_str());
    auto *counter = reinterpret_cast<std::atomic<uint32_t> *>(words.begin());
    std::vector<std::thread> threads;
    *counter = 0;
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back([counter] {
            for (int n = 0; n < 10000; n++)
                ++*counter;
        });
    for (std::thread &thread : threads)
        thread.join();
    printf("counted %u\n", counter->load());
}

/* What is thrown lies in the device's memory, and so does what it is thrown
 * over. */
static void use_exceptions()
{
    CHECK(cuMemsetD32(early->device, 6, WORDS));
    early->down();
    for (unsigned i = 0; i < 3; i++) {
        try {
            uint32_t got = early->begin()[i * 20000];
            early->begin()[i * 20000] = got + i;
            throw std::runtime_error(std::to_string(got + i));
        } catch (const std::exception &error) {
            printf("caught %s\n", error.what());
        }
    }
}

int main()
{
    static user inside("inside");
    use_threads();
    use_templates();
    use_exceptions();
    atexit([] { printf("at exit %llx\n", early->sum()); });
    own.place = 0;
    own.used = true;
    return 0;
}
