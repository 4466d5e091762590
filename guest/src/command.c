#define _GNU_SOURCE
#include "command.h"
#include "command_internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adopt.h"
#include "guest.h"
#include "limits.h"
#include "transport.h"
#include "worker.h"

struct command *commands;

struct command *command_find(uint32_t id) {
    struct command *command = commands;
    while (command && command->id != id)
        command = command->next;
    return command;
}

void command_free(struct command *command) {
    for (struct command **link = &commands; *link; link = &(*link)->next)
        if (*link == command) {
            *link = command->next;
            break;
        }
    timer_clear(&command->deadline_timer);
    timer_clear(&command->kill_timer);
    timer_clear(&command->quiet_timer);
    input_close(&command->input);
    for (int i = 0; i < command->output_count; i++)
        output_close(&command->outputs[i]);
    if (command->control.fd >= 0) {
        loop_unwatch(&command->control);
        close(command->control.fd);
    }
    launch_free(&command->launch);
    free(command->name);
    free(command);
}

static void answer_waiters(struct command *command) {
    while (command->waiters) {
        struct kill_waiter *waiter = command->waiters;
        struct writer writer = {0};
        if (command->unkillable)
            writer_number(&writer, FIELD_UNKILLABLE, command->unkillable);
        transport_send_fields(FRAME_RESULT, waiter->id, &writer);
        command->waiters = waiter->next;
        free(waiter);
    }
}

static void send_order(struct command *command, struct order order) {
    if (command->control.fd >= 0)
        send(command->control.fd, &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void command_signal(struct command *command, int number) {
    send_order(command, (struct order){.kind = ORDER_SIGNAL, .signal = number});
}

/* The supervisor itself does not answer: it is stopped or starved, so its children are taken from it. */
static void kill_overdue(void *owner) {
    struct command *command = owner;
    if (!command->supervisor_reaped && !command->lost) {
        command->lost = true;
        kill(command->supervisor, SIGKILL);
        timer_set(&command->kill_timer, KILL_DEADLINE_MS + SUPERVISOR_SLACK_MS);
        return;
    }
    command->unkillable = command->unkillable ? command->unkillable : 1;
    command_step(command);
}

void command_kill(struct command *command, uint32_t grace_ms) {
    if (command->tree_gone)
        return;
    command->killing = true;
    send_order(command, (struct order){.kind = ORDER_KILL, .grace_ms = grace_ms});
    command->kill_timer.fire = kill_overdue;
    command->kill_timer.owner = command;
    command->kill_limit_ms = (int64_t)grace_ms + KILL_DEADLINE_MS + SUPERVISOR_SLACK_MS;
    timer_set(&command->kill_timer, SUPERVISOR_ANSWER_MS);
}

/* Last resort, only where it can hit nothing but this command. */
static void unkillable(struct command *command, uint32_t alive) {
    if (guest.init && guest.exclusive && commands == command && !command->next && !workers_active()) {
        kill(-1, SIGKILL);
        return;
    }
    command->unkillable = alive;
}

static bool settled(const struct command *command) {
    if (command->unkillable)
        return true;
    bool kill_first = command->killing || (command->kill_tree && command->remaining);
    return command->main_done && (!kill_first || command->tree_gone);
}

static void quiet(struct command *command) {
    if (output_quiet(&command->outputs[0]))
        output_finish(&command->outputs[0]);
    else
        timer_set(&command->quiet_timer, PTY_QUIET_MS);
}

static bool outputs_done(const struct command *command) {
    for (int i = 0; i < command->output_count; i++)
        if (!command->outputs[i].done)
            return false;
    return true;
}

static void begin_drain(struct command *command) {
    command->draining = true;
    command->duration_us = now_us() - command->started_us;
    timer_clear(&command->deadline_timer);
    if (!command->launch.pty)
        input_close(&command->input);
    for (int i = 0; i < command->output_count; i++)
        output_drain(&command->outputs[i]);
    if (command->launch.pty && !outputs_done(command))
        timer_set(&command->quiet_timer, PTY_QUIET_MS);
}

static void step_settled(struct command *command) {
    if (!command->draining)
        begin_drain(command);
    if (command->answered)
        return;
    if (command->streamed || outputs_done(command)) {
        for (int i = 0; i < command->output_count; i++)
            if (command->outputs[i].ring.size)
                return; /* commands_pump goes on */
        command->answered = true;
        command_report_exit(command);
    }
}

void command_step(struct command *command) {
    if (command->main_done && command->kill_tree && command->remaining && !command->killing)
        command_kill(command, command->grace_ms);
    if (settled(command))
        step_settled(command);
    if (command->tree_gone || command->unkillable)
        answer_waiters(command);
    if (command->answered && outputs_done(command) && command->tree_gone && command->supervisor_reaped)
        command_free(command);
}

static void take_report(struct command *command, const struct report *report) {
    if (report->kind == REPORT_STARTED) {
        command->main = report->pid;
        command->started = true;
        if (command->streamed) {
            struct writer writer = {0};
            writer_number(&writer, FIELD_PID, (uint64_t)report->pid);
            transport_send_fields(FRAME_STARTED, command->id, &writer);
        }
    } else if (report->kind == REPORT_KILLING) {
        timer_set(&command->kill_timer, command->kill_limit_ms);
    } else if (report->kind == REPORT_FAILED) {
        command->failed = command->main_done = true;
        command->failure = (struct launch_failure){report->stage, report->error};
    } else if (report->kind == REPORT_EXITED) {
        command->main_done = true;
        command->status = report->status;
        command->remaining = report->remaining;
        command->cpu_us = report->cpu_us;
        command->peak_memory_kb = report->peak_memory_kb;
    } else if (report->kind == REPORT_GONE) {
        command->tree_gone = true;
        command->remaining = false;
    } else if (report->kind == REPORT_UNKILLABLE) {
        unkillable(command, report->remaining);
    }
}

static void read_reports(struct command *command) {
    struct report report;
    while (command->control.fd >= 0) {
        ssize_t got = recv(command->control.fd, &report, sizeof report, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (got != sizeof report) {
            loop_unwatch(&command->control);
            close(command->control.fd);
            command->control.fd = -1;
            return;
        }
        take_report(command, &report);
    }
}

short command_control_interest(void *owner) {
    (void)owner;
    return POLLIN;
}

void command_control_ready(void *owner, short events) {
    (void)events;
    read_reports(owner);
    command_step(owner);
}

void command_deadline(void *owner) {
    struct command *command = owner;
    if (command->draining)
        return;
    command->timed_out = true;
    command_kill(command, command->grace_ms);
    command_step(command);
}

void command_output_changed(void *owner) {
    struct command *command = owner;
    if (command->draining)
        timer_set(&command->quiet_timer, 0); /* goes on in the next pass, outside of the caller's work */
}

void command_quiet(void *owner) {
    struct command *command = owner;
    if (command->draining && command->launch.pty && !command->outputs[0].done)
        quiet(command);
    else
        command_step(command);
}

bool commands_reaped(pid_t pid, int status) {
    (void)status;
    for (struct command *command = commands; command; command = command->next) {
        if (command->supervisor != pid)
            continue;
        read_reports(command);
        command->supervisor_reaped = true;
        if (!command->tree_gone) {
            command->lost = true;
            adopt_begin();
        }
        command_step(command);
        return true;
    }
    return false;
}

bool commands_pump(void) {
    bool sent = true, any = false;
    while (sent && transport_room()) {
        sent = false;
        for (struct command *command = commands, *next; command && transport_room(); command = next) {
            next = command->next;
            if (!command->draining || command->streamed)
                continue;
            for (int i = 0; i < command->output_count; i++)
                sent = output_send_buffered(&command->outputs[i]) || sent;
            command_step(command);
        }
        any = any || sent;
    }
    return any;
}
