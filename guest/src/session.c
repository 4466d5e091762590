#define _GNU_SOURCE
#include "session.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adopt.h"
#include "command.h"
#include "guest.h"
#include "hello.h"
#include "limits.h"
#include "oom.h"
#include "transport.h"
#include "worker.h"

static struct timer lease_timer, shutdown_timer;
static uint64_t lease_ms;
static bool welcomed, ending;

static _Noreturn void bad_frame(void) {
    _exit(65);
}

static void exit_when_empty(void) {
    if (ending && !commands && !workers_active())
        _exit(0);
}

static void shutdown_overdue(void *owner) {
    (void)owner;
    _exit(0);
}

/*
 * The host is gone or its lease is over. As PID 1 the kernel takes everything along; elsewhere the supervisors do,
 * and the guest waits for them.
 */
static void end_all(void) {
    if (guest.keep || ending)
        return;
    ending = true;
    transport_close();
    if (guest.init)
        _exit(0);
    for (struct command *command = commands; command; command = command->next)
        command_kill(command, 0);
    shutdown_timer.fire = shutdown_overdue;
    timer_set(&shutdown_timer, SHUTDOWN_MS);
}

static void lease_over(void *owner) {
    (void)owner;
    if (!welcomed)
        _exit(66);
    end_all();
}

static void take_hello(const struct frame *frame) {
    lease_ms = LEASE_DEFAULT_MS;
    if (!hello_take(frame, &lease_ms))
        bad_frame();
    welcomed = true;
    transport_accept(frame->nonce);
    oom_watch();
    hello_answer(frame->id);
}

static void take_data(const struct frame *frame) {
    if (frame->length < 1 || frame->length > DATA_MAX + 1 || frame->payload[0] != CHANNEL_INPUT)
        bad_frame();
    struct command *command = command_find(frame->id);
    const uint8_t *bytes = frame->payload + 1;
    size_t length = frame->length - 1;
    if (command && command->input.watch.fd < 0)
        return;
    if (!(command ? input_put(&command->input, bytes, length) : worker_data(frame->id, bytes, length)))
        bad_frame();
}

static void take_end(const struct frame *frame) {
    struct command *command = command_find(frame->id);
    if (command && command->input.watch.fd >= 0)
        input_end(&command->input);
    else if (!command)
        worker_end(frame->id);
}

static void take_credit(const struct frame *frame) {
    if (frame->length != 9)
        bad_frame();
    struct command *command = command_find(frame->id);
    uint64_t bytes = number_get(frame->payload + 1, 8);
    uint8_t channel = frame->payload[0];
    if (!command)
        worker_credit(frame->id, bytes);
    else if (channel == CHANNEL_STDOUT || channel == CHANNEL_STDERR)
        command->outputs[channel - CHANNEL_STDOUT].credit += (int64_t)bytes;
}

static void take_heartbeat(const struct frame *frame) {
    oom_check();
    transport_send(FRAME_HEARTBEAT_ACK, frame->id, NULL, 0);
}

static void take_keep(const struct frame *frame) {
    guest.keep = true;
    timer_clear(&lease_timer);
    transport_send(FRAME_RESULT, frame->id, NULL, 0);
}

static void take_cancel(const struct frame *frame) {
    worker_cancel(frame->id);
}

static void take_frame(const struct frame *frame) {
    static void (*const handlers[])(const struct frame *) = {
        [FRAME_HEARTBEAT] = take_heartbeat, [FRAME_KEEP] = take_keep,
        [FRAME_RUN] = command_request_run,  [FRAME_DATA] = take_data,
        [FRAME_END] = take_end,             [FRAME_CREDIT] = take_credit,
        [FRAME_KILL] = command_request_kill, [FRAME_RESIZE] = command_request_resize,
        [FRAME_CANCEL] = take_cancel,       [FRAME_COMMANDS] = command_request_list,
        [FRAME_STAT] = worker_request,      [FRAME_READ] = worker_request,
        [FRAME_WRITE] = worker_request,     [FRAME_LIST] = worker_request,
        [FRAME_REMOVE] = worker_request,    [FRAME_MKDIR] = worker_request,
        [FRAME_PACK] = worker_request,      [FRAME_UNPACK] = worker_request};
    if (ending)
        return;
    if (!welcomed && frame->type != FRAME_HELLO)
        bad_frame();
    if (!welcomed) {
        take_hello(frame);
    } else {
        if (frame->type >= sizeof handlers / sizeof *handlers || !handlers[frame->type])
            bad_frame();
        handlers[frame->type](frame);
    }
    if (!guest.keep)
        timer_set(&lease_timer, (int64_t)lease_ms);
}

void session_reap(void) {
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (!commands_reaped(pid, status) && !workers_reaped(pid))
            adopt_reaped(pid, status);
    exit_when_empty();
}

static bool pass(void) {
    bool sent = commands_pump();
    transport_flush();
    exit_when_empty();
    return sent && transport_room();
}

_Noreturn void session_begin(int input, int output) {
    static const struct transport_events events = {.frame = take_frame, .ended = end_all};
    lease_timer.fire = lease_over;
    timer_set(&lease_timer, HELLO_TIMEOUT_MS);
    transport_open(input, output, &events);
    loop_run(pass);
    _exit(0);
}
