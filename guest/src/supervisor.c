#define _GNU_SOURCE
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "limits.h"
#include "loop.h"
#include "transport.h"
#include "tree.h"

enum { FD_CONTROL = 3, FD_PROC = 4, FD_FIRST_FREE = 5 };

enum phase { PHASE_RUN, PHASE_TERM, PHASE_KILL, PHASE_STUCK };

static struct {
    pid_t main;
    int launch_report;
    int child_signals;
    enum phase phase;
    int64_t phase_ends;
    bool guest_gone;
    bool main_reported;
} self;

static void tell(struct report report) {
    if (!self.guest_gone)
        send(FD_CONTROL, &report, sizeof report, MSG_NOSIGNAL);
}

static void place_descriptors(const int streams[3], int control) {
    int moved[5] = {streams[0], streams[1], streams[2], control, tree_descriptor()};
    for (int i = 0; i < 5; i++)
        moved[i] = fcntl(moved[i], F_DUPFD, 64);
    for (int i = 0; i < 5; i++)
        dup2(moved[i], i);
    close_from(FD_FIRST_FREE);
    fcntl(FD_CONTROL, F_SETFD, FD_CLOEXEC);
    fcntl(FD_PROC, F_SETFD, FD_CLOEXEC);
    tree_set_descriptor(FD_PROC);
}

static void start_main(struct launch *launch) {
    struct identity identity = {.gid = 0};
    struct launch_failure failure;
    int pipe_ends[2];
    if (!launch_resolve(launch, &identity, &failure)) {
        tell((struct report){.kind = REPORT_FAILED, .stage = failure.stage, .error = failure.error});
        _exit(0);
    }
    pid_t pid = pipe2(pipe_ends, O_CLOEXEC) == 0 ? fork() : -1;
    if (pid == 0)
        launch_become(launch, &identity, pipe_ends[1]);
    if (pid < 0) {
        tell((struct report){.kind = REPORT_FAILED, .stage = STAGE_PROCESS, .error = errno});
        _exit(0);
    }
    close(pipe_ends[1]);
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    self.main = pid;
    self.launch_report = pipe_ends[0];
}

static void read_launch_report(void) {
    struct launch_failure failure;
    ssize_t got = read(self.launch_report, &failure, sizeof failure);
    if (got < 0)
        return;
    close(self.launch_report);
    self.launch_report = -1;
    if (got == sizeof failure) {
        tell((struct report){.kind = REPORT_FAILED, .stage = failure.stage, .error = failure.error});
        self.main_reported = true;
    } else {
        tell((struct report){.kind = REPORT_STARTED, .pid = self.main});
    }
}

static void report_exit(int status, bool remaining) {
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    uint64_t cpu = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000;
    tell((struct report){.kind = REPORT_EXITED,
                         .pid = self.main,
                         .status = status,
                         .remaining = remaining,
                         .cpu_us = cpu + (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec),
                         .peak_memory_kb = (uint64_t)usage.ru_maxrss});
    self.main_reported = true;
}

/* Everything the command started hangs below this process, so having no child means that nothing is left. */
static void reap(void) {
    int status = 0, main_status = 0;
    bool main_ended = false;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != self.main)
            continue;
        main_ended = true;
        main_status = status;
    }
    bool none_left = pid < 0 && errno == ECHILD;
    if (main_ended && self.launch_report >= 0) {
        fcntl(self.launch_report, F_SETFL, O_NONBLOCK);
        read_launch_report();
    }
    if (main_ended && !self.main_reported)
        report_exit(main_status, !none_left);
    if (none_left) {
        tell((struct report){.kind = REPORT_GONE});
        _exit(0);
    }
}

static void begin_kill(uint32_t grace_ms) {
    bool gentle = grace_ms > 0 && self.phase == PHASE_RUN;
    if (gentle) {
        tree_signal(getpid(), SIGTERM, NULL, 0);
        tree_signal(getpid(), SIGCONT, NULL, 0);
    }
    self.phase = gentle ? PHASE_TERM : PHASE_KILL;
    self.phase_ends = now_ms() + (gentle ? (int64_t)grace_ms : KILL_DEADLINE_MS);
}

static void read_order(void) {
    struct order order;
    ssize_t got = recv(FD_CONTROL, &order, sizeof order, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got != sizeof order) {
        self.guest_gone = true;
        begin_kill(0);
    } else if (order.kind == ORDER_KILL) {
        tell((struct report){.kind = REPORT_KILLING});
        begin_kill(order.grace_ms);
    } else if (!self.main_reported && self.main > 0) {
        kill(self.main, order.signal);
    }
}

static int step_kill(void) {
    if (self.phase == PHASE_RUN)
        return -1;
    int64_t left = self.phase_ends - now_ms();
    if (self.phase == PHASE_TERM && left > 0)
        return (int)left;
    if (self.phase == PHASE_TERM) {
        begin_kill(0);
        left = KILL_DEADLINE_MS;
    }
    size_t alive = tree_signal(getpid(), SIGKILL, NULL, 0);
    if (self.phase == PHASE_KILL && left <= 0 && alive > 0) {
        tell((struct report){.kind = REPORT_UNKILLABLE, .remaining = (uint32_t)alive});
        self.phase = PHASE_STUCK;
    }
    return self.phase == PHASE_STUCK ? KILL_RETRY_MS : KILL_ROUND_MS;
}

static void watch_children(void) {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    self.child_signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
}

_Noreturn void supervisor_run(struct launch *launch, const int streams[3], int control) {
    transport_wipe();
    place_descriptors(streams, control);
    setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    ignore_signals();
    watch_children();
    start_main(launch);
    for (;;) {
        int wait = step_kill();
        struct pollfd polls[3] = {{.fd = self.launch_report, .events = POLLIN},
                                  {.fd = self.child_signals, .events = POLLIN},
                                  {.fd = self.guest_gone ? -1 : FD_CONTROL, .events = POLLIN}};
        poll(polls, 3, wait);
        if (polls[0].revents)
            read_launch_report();
        struct signalfd_siginfo ignored;
        while (read(self.child_signals, &ignored, sizeof ignored) > 0)
            ;
        if (polls[2].revents)
            read_order();
        reap();
    }
}
