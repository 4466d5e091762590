#ifndef BELLJAR_COMMAND_H
#define BELLJAR_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "input.h"
#include "launch.h"
#include "output.h"
#include "supervisor.h"
#include "wire.h"

/* A KILL request that is answered when the tree is dead. */
struct kill_waiter {
    struct kill_waiter *next;
    uint32_t id;
};

struct command {
    struct command *next;
    uint32_t id;
    char *name;
    pid_t supervisor;
    pid_t main;
    int64_t started_us;
    int64_t kill_limit_ms;
    uint64_t oom_kills_before;

    struct launch launch;
    bool streamed;
    bool input_streamed;
    bool kill_tree;
    uint32_t grace_ms;
    uint64_t deadline_ms;
    uint16_t rows, columns;

    struct watch control;
    struct input input;
    struct output outputs[2];
    int output_count;
    struct timer deadline_timer, kill_timer, quiet_timer;
    struct kill_waiter *waiters;

    bool started;
    bool main_done;
    bool draining;
    bool answered;
    bool killing;
    bool tree_gone;
    bool supervisor_reaped;
    bool lost;
    bool timed_out;
    bool failed;
    bool remaining;
    uint32_t unkillable;
    struct launch_failure failure;
    int status;
    uint64_t cpu_us;
    uint64_t peak_memory_kb;
    int64_t duration_us;
};

extern struct command *commands;

struct command *command_find(uint32_t id);
/* Makes pipes or a terminal and the supervisor; false (with errno) where resources are out. */
bool command_spawn(struct command *command);
/* Goes on as far as what has happened allows. May free the command. */
void command_step(struct command *command);
void command_kill(struct command *command, uint32_t grace_ms);
/* Signals the main process alone. */
void command_signal(struct command *command, int number);
void command_answer_failure(uint32_t id, int kind, int error);
/* Sends buffered output in turns while the transport has room; false when there was none. */
bool commands_pump(void);
/* A child of the guest has ended; true when it was a command's. */
bool commands_reaped(pid_t pid, int status);
void command_free(struct command *command);

void command_report_exit(struct command *command);
void command_request_run(const struct frame *frame);
void command_request_kill(const struct frame *frame);
void command_request_resize(const struct frame *frame);
void command_request_list(const struct frame *frame);

#endif
