#ifndef BELLJAR_LOOP_H
#define BELLJAR_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/* A descriptor in the loop. `interest` is asked before each poll; 0 leaves the descriptor out. */
struct watch {
    int fd;
    short (*interest)(void *owner);
    void (*ready)(void *owner, short events);
    void *owner;
};

struct timer {
    int64_t at; /* 0: not set */
    void (*fire)(void *owner);
    void *owner;
};

int64_t now_us(void);
int64_t now_ms(void);

void loop_watch(struct watch *watch);
void loop_unwatch(struct watch *watch);
void timer_set(struct timer *timer, int64_t delay_ms);
void timer_clear(struct timer *timer);

/* Runs for ever; `pass` is called before each poll, which does not wait where it returns true. */
void loop_run(bool (*pass)(void));

#endif
