#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "command.h"
#include "command_internal.h"
#include "guest.h"
#include "transport.h"

#ifndef TIOCGPTPEER
#define TIOCGPTPEER 0x5441
#endif

/* Ends that the guest keeps, and ends that the command gets. */
struct ends {
    int input, output, error;
    int streams[3];
};

static void close_all(struct ends *ends) {
    int all[6] = {ends->input, ends->output, ends->error, ends->streams[0], ends->streams[1], ends->streams[2]};
    for (int i = 0; i < 6; i++)
        if (all[i] >= 0 && all[i] != guest.null_input)
            close(all[i]);
}

static bool open_pipe(int *kept, int *given, bool kept_reads) {
    int both[2];
    if (pipe2(both, O_CLOEXEC) != 0)
        return false;
    *kept = both[kept_reads ? 0 : 1];
    *given = both[kept_reads ? 1 : 0];
    fcntl(*kept, F_SETFL, O_NONBLOCK | (kept_reads ? O_RDONLY : O_WRONLY));
    return true;
}

static bool open_pipes(struct command *command, struct ends *ends) {
    if (!command->input_streamed && guest.null_input >= 0)
        ends->streams[0] = guest.null_input;
    else if (!open_pipe(&ends->input, &ends->streams[0], false))
        return false;
    return open_pipe(&ends->output, &ends->streams[1], true) && open_pipe(&ends->error, &ends->streams[2], true);
}

static int open_slave(int master) {
    int unlock = 0, number = 0;
    ioctl(master, TIOCSPTLCK, &unlock);
    int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave >= 0 || ioctl(master, TIOCGPTN, &number) != 0)
        return slave;
    char path[32];
    snprintf(path, sizeof path, "/dev/pts/%d", number);
    return open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

static bool open_terminal(struct command *command, struct ends *ends) {
    ends->output = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (ends->output < 0)
        return false;
    ends->streams[0] = open_slave(ends->output);
    if (ends->streams[0] < 0)
        return false;
    struct winsize size = {.ws_row = command->rows, .ws_col = command->columns};
    ioctl(ends->output, TIOCSWINSZ, &size);
    ends->streams[1] = fcntl(ends->streams[0], F_DUPFD_CLOEXEC, 0);
    ends->streams[2] = fcntl(ends->streams[0], F_DUPFD_CLOEXEC, 0);
    ends->input = fcntl(ends->output, F_DUPFD_CLOEXEC, 0);
    return ends->streams[1] >= 0 && ends->streams[2] >= 0 && ends->input >= 0;
}

static bool fork_supervisor(struct command *command, struct ends *ends) {
    int control[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0)
        return false;
    command->started_us = now_us();
    pid_t pid = fork();
    if (pid == 0)
        supervisor_run(&command->launch, ends->streams, control[1]);
    int error = errno;
    close(control[1]);
    if (pid < 0) {
        close(control[0]);
        errno = error;
        return false;
    }
    command->supervisor = pid;
    command->control = (struct watch){.fd = control[0], .interest = command_control_interest, .ready = command_control_ready, .owner = command};
    loop_watch(&command->control);
    return true;
}

static void end_terminal_input(struct input *input) {
    const char end_of_file = 4;
    if (write(input->watch.fd, &end_of_file, 1) < 0)
        input->broken = true;
}

static void take_ends(struct command *command, struct ends *ends) {
    if (ends->input >= 0)
        input_open(&command->input, ends->input, command->id);
    command->input.finished = command->launch.pty ? end_terminal_input : input_close;
    if (!command->input_streamed)
        input_end(&command->input);
    int fds[2] = {ends->output, ends->error};
    for (int i = 0; i < command->output_count; i++) {
        struct output *output = &command->outputs[i];
        output->id = command->id;
        output->channel = i == 0 ? CHANNEL_STDOUT : CHANNEL_STDERR;
        output->streamed = command->streamed;
        output->terminal = command->launch.pty;
        output->changed = command_output_changed;
        output->owner = command;
        output_open(output, fds[i]);
    }
    for (int i = 0; i < 3; i++)
        if (ends->streams[i] != guest.null_input)
            close(ends->streams[i]);
}

bool command_spawn(struct command *command) {
    struct ends ends = {-1, -1, -1, {-1, -1, -1}};
    command->output_count = command->launch.pty ? 1 : 2;
    bool opened = command->launch.pty ? open_terminal(command, &ends) : open_pipes(command, &ends);
    if (!opened || !fork_supervisor(command, &ends)) {
        int error = errno;
        close_all(&ends);
        command->output_count = 0;
        errno = error;
        return false;
    }
    take_ends(command, &ends);
    command->deadline_timer = (struct timer){.fire = command_deadline, .owner = command};
    command->quiet_timer = (struct timer){.fire = command_quiet, .owner = command};
    if (command->deadline_ms)
        timer_set(&command->deadline_timer, (int64_t)command->deadline_ms);
    return true;
}
