/*
 * Locks between warps and blocks: taken by one thread of each, and by every
 * thread of a warp in turn, with fences around plain data.
 */
#include "program.h"

struct Account {
    int lock;
    int owner_changes;
    long long balance;
    int last;
};

__device__ void acquire(int *lock)
{
    while (atomicCAS(lock, 0, 1) != 0)
        __nanosleep(20);
    __threadfence();
}

__device__ void release(int *lock)
{
    __threadfence();
    atomicExch(lock, 0);
}

__device__ void pay(Account *account, int who, int amount)
{
    volatile Account *a = account;
    a->balance = a->balance + amount;
    if (a->last != who)
        a->owner_changes = a->owner_changes + 1;
    a->last = who;
}

__global__ void by_warp(Account *accounts, int rounds)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    for (int r = 0; r < rounds; r++) {
        Account *account = &accounts[(warp + r) % 4];
        if (threadIdx.x % 32 == 0) {
            acquire(&account->lock);
            pay(account, warp, warp + r);
            release(&account->lock);
        }
        __syncwarp();
    }
}

__global__ void by_thread(Account *account)
{
    int me = blockIdx.x * blockDim.x + threadIdx.x;
    for (bool done = false; !done;) {
        if (atomicCAS(&account->lock, 0, 1) == 0) {
            __threadfence();
            pay(account, me, me);
            release(&account->lock);
            done = true;
        }
    }
}

int main()
{
    const int blocks = 4, threads = 64, rounds = 8;
    const int warps = blocks * threads / 32, all = blocks * threads;
    Account *accounts = new_on_device<Account>(5);
    CHECK(cudaMemset(accounts, 0, 5 * sizeof *accounts));
    by_warp<<<blocks, threads>>>(accounts, rounds);
    by_thread<<<blocks, threads>>>(accounts + 4);
    CHECK(cudaDeviceSynchronize());
    std::vector<Account> got = to_host(accounts, 5);
    long long want[4] = {0, 0, 0, 0};
    for (int warp = 0; warp < warps; warp++)
        for (int r = 0; r < rounds; r++)
            want[(warp + r) % 4] += warp + r;
    for (int i = 0; i < 4; i++)
        EXPECT(got[i].balance == want[i] && got[i].lock == 0,
               "account %d: %lld, not %lld", i, got[i].balance, want[i]);
    EXPECT(got[4].balance == (long long)all * (all - 1) / 2, "%lld",
           got[4].balance);
    EXPECT(got[4].owner_changes >= all - 1, "%d", got[4].owner_changes);
    CHECK(cudaFree(accounts));
    return pass("spin_lock", "balances %lld %lld %lld", got[0].balance,
                got[3].balance, got[4].balance);
}
