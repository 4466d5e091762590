#define _GNU_SOURCE
#include "adopt.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "command.h"
#include "limits.h"
#include "loop.h"
#include "tree.h"
#include "wire.h"
#include "worker.h"

static struct timer round_timer;
static int64_t ends;

static bool lost(const struct command *command) {
    return command->lost && command->supervisor_reaped && !command->tree_gone;
}

static size_t known_children(pid_t **known) {
    size_t count = 0, capacity = 16;
    pid_t *list = must_alloc(capacity * sizeof *list);
    for (struct command *command = commands; command; command = command->next) {
        if (count == capacity)
            list = must_realloc(list, (capacity *= 2) * sizeof *list);
        if (!command->supervisor_reaped)
            list[count++] = command->supervisor;
    }
    *known = list;
    return workers_known(known, count, capacity);
}

static void settle(size_t alive) {
    struct command *next;
    for (struct command *command = commands; command; command = next) {
        next = command->next;
        if (!lost(command))
            continue;
        if (alive)
            command->unkillable = (uint32_t)alive;
        else
            command->tree_gone = true;
        if (!command->main_done)
            command->status = SIGKILL;
        command->main_done = true;
        command->remaining = false;
        command_step(command);
    }
}

static void round_of_kills(void *owner) {
    (void)owner;
    pid_t *known;
    size_t known_count = known_children(&known);
    size_t alive = tree_signal(getpid(), SIGKILL, known, known_count);
    free(known);
    if (alive && now_ms() < ends)
        timer_set(&round_timer, KILL_ROUND_MS);
    else
        settle(alive);
}

void adopt_begin(void) {
    round_timer.fire = round_of_kills;
    ends = now_ms() + KILL_DEADLINE_MS;
    timer_set(&round_timer, 0);
}

void adopt_reaped(pid_t pid, int status) {
    for (struct command *command = commands; command; command = command->next)
        if (command->lost && command->main == pid && !command->main_done) {
            command->main_done = true;
            command->status = status;
        }
}
