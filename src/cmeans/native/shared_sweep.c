/* Sweeps over the same rows, one after the other, whose tasks several threads share without a word in between.
 *
 * One thread leads: it says that there is a sweep, and adds up the tasks' sums in their order. The others follow: they look for tasks until
 * there has been none for a while. Threads wait by looking again, as what they wait for takes less time than to be woken. */
#include <stdatomic.h>
#if defined(_WIN32)
int __stdcall SwitchToThread(void); /* of windows.h, which makes macros of `near` and `far` */
#else
#include <sched.h>
#endif

#include "passes.h"

#define LOOKS 2000    /* for tasks, before a thread lets others run between two looks */
#define PATIENCE 4000 /* looks before it goes away */

struct shared_sweep {
    const struct rows *blocks;      /* of all tasks, one task after the other */
    const int64_t *first;           /* (tasks + 1,) number of each task's first block */
    const struct centres *centres;
    const char *rule_name;
    double *sums;                   /* (tasks, numbers) mass, spread, penalty and moment of each task */
    int64_t tasks, numbers;
    _Atomic int64_t next;           /* the task that a free thread takes: from `tasks` on there is none */
    int64_t apart[8];               /* so that looking for tasks does not hold up those who end one */
    _Atomic int64_t left;           /* tasks that are not done */
    _Atomic int64_t failed;         /* what a sweep found missing */
    _Atomic int64_t over;           /* no further sweep will come */
};

static void wait_a_moment(int64_t looks) {
    if (looks >= LOOKS) {
#if defined(_WIN32)
        SwitchToThread();
#else
        sched_yield();
#endif
    }
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("yield");
#endif
}

static void sweep_task(struct shared_sweep *shared, int64_t task) {
    double *mass = shared->sums + task * shared->numbers;
    const int64_t clusters = shared->centres->clusters;
    const struct sums sums = {mass, mass + clusters, mass + 2 * clusters + 1, mass + 2 * clusters, NULL, NULL, NULL, NULL};
    memset(mass, 0, (size_t)shared->numbers * sizeof(double));
    for (int64_t block = shared->first[task]; block < shared->first[task + 1]; block++) {
        const int code = JOIN(sweep, VARIANT, BITS)(shared->blocks + block, shared->centres, shared->rule_name, &sums);
        if (code != 0)
            atomic_store(&shared->failed, code);
    }
}

/* Take tasks until there is none; the number of them. */
static int64_t take_tasks(struct shared_sweep *shared) {
    int64_t done = 0;
    while (atomic_load(&shared->next) < shared->tasks) {
        const int64_t task = atomic_fetch_add(&shared->next, 1);
        if (task >= shared->tasks)
            break;
        sweep_task(shared, task);
        atomic_fetch_sub(&shared->left, 1);
        done++;
    }
    return done;
}

/* One sweep: the sums (numbers,) of all tasks. What it returns is as for a sweep. */
int EXPORTED(lead)(struct shared_sweep *shared, double *total) {
    if (shared->tasks == 1)
        shared->sums = total; /* which there is nothing to add to */
    atomic_store(&shared->left, shared->tasks);
    atomic_store(&shared->next, 0); /* from here on the others may begin */
    take_tasks(shared);
    for (int64_t looks = 0; atomic_load(&shared->left) > 0; looks++)
        wait_a_moment(looks);
    if (shared->sums != total)
        memcpy(total, shared->sums, (size_t)shared->numbers * sizeof(double));
    for (int64_t task = 1; task < shared->tasks; task++)
        for (int64_t i = 0; i < shared->numbers; i++)
            total[i] += shared->sums[task * shared->numbers + i];
    return (int)atomic_load(&shared->failed);
}

/* Take tasks of one sweep after the other; 1 when it is all over, 0 when there has been none for a while. */
int EXPORTED(follow)(struct shared_sweep *shared) {
    for (int64_t looks = 0; looks < PATIENCE; looks++) {
        if (atomic_load(&shared->over))
            return 1;
        if (take_tasks(shared) > 0)
            looks = 0;
        wait_a_moment(looks);
    }
    return 0;
}
