#include "loop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "wire.h"

static struct watch **watches;
static struct pollfd *polls;
static size_t watch_count, watch_capacity;

static struct timer **timers;
static size_t timer_count, timer_capacity;

int64_t now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

int64_t now_ms(void) {
    return now_us() / 1000;
}

void loop_watch(struct watch *watch) {
    if (watch_count == watch_capacity) {
        watch_capacity = watch_capacity ? watch_capacity * 2 : 64;
        watches = must_realloc(watches, watch_capacity * sizeof *watches);
        polls = must_realloc(polls, watch_capacity * sizeof *polls);
    }
    polls[watch_count].revents = 0;
    watches[watch_count++] = watch;
}

/* Leaves a hole, so that the pass in progress keeps its positions. */
void loop_unwatch(struct watch *watch) {
    for (size_t i = 0; i < watch_count; i++)
        if (watches[i] == watch)
            watches[i] = NULL;
}

void timer_clear(struct timer *timer) {
    timer->at = 0;
    for (size_t i = 0; i < timer_count; i++)
        if (timers[i] == timer)
            timers[i] = timers[--timer_count];
}

void timer_set(struct timer *timer, int64_t delay_ms) {
    timer_clear(timer);
    if (timer_count == timer_capacity) {
        timer_capacity = timer_capacity ? timer_capacity * 2 : 16;
        timers = must_realloc(timers, timer_capacity * sizeof *timers);
    }
    timer->at = now_ms() + delay_ms;
    timers[timer_count++] = timer;
}

static struct timer *next_timer(void) {
    struct timer *next = NULL;
    for (size_t i = 0; i < timer_count; i++)
        if (!next || timers[i]->at < next->at)
            next = timers[i];
    return next;
}

static int fire_timers(void) {
    for (;;) {
        struct timer *next = next_timer();
        if (!next)
            return -1;
        int64_t left = next->at - now_ms();
        if (left > 0)
            return left > 3600000 ? 3600000 : (int)left;
        timer_clear(next);
        next->fire(next->owner);
    }
}

static void prepare_polls(void) {
    size_t kept = 0;
    for (size_t i = 0; i < watch_count; i++)
        if (watches[i])
            watches[kept++] = watches[i];
    watch_count = kept;
    for (size_t i = 0; i < watch_count; i++) {
        short events = watches[i]->interest(watches[i]->owner);
        polls[i].fd = events ? watches[i]->fd : -1;
        polls[i].events = events;
        polls[i].revents = 0;
    }
}

void loop_run(bool (*pass)(void)) {
    for (size_t turn = 0;; turn++) {
        int wait = fire_timers();
        if (pass())
            wait = 0;
        prepare_polls();
        if (poll(polls, watch_count, wait) <= 0)
            continue;
        size_t count = watch_count;
        for (size_t i = 0; i < count; i++) {
            size_t at = (turn + i) % count; /* another one is first each time */
            if (watches[at] && polls[at].revents)
                watches[at]->ready(watches[at]->owner, polls[at].revents);
        }
    }
}
