#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "guest.h"
#include "launch.h"
#include "loop.h"
#include "relay.h"
#include "session.h"
#include "transport.h"
#include "tree.h"
#include "wire.h"

struct guest guest = {.null_input = -1};

static struct watch child_watch;

static short child_interest(void *owner) {
    (void)owner;
    return POLLIN;
}

static void child_ready(void *owner, short events) {
    struct signalfd_siginfo ignored;
    (void)owner;
    (void)events;
    while (read(child_watch.fd, &ignored, sizeof ignored) > 0)
        ;
    session_reap();
}

static void watch_children(void) {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    child_watch = (struct watch){.interest = child_interest, .ready = child_ready};
    child_watch.fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    if (child_watch.fd < 0)
        _exit(69);
    loop_watch(&child_watch);
}

/* The real one or none: an image can hold anything under that name. */
static int open_null(void) {
    struct stat status;
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static void raise_descriptor_limit(void) {
    getrlimit(RLIMIT_NOFILE, &guest.descriptors);
    struct rlimit raised = {guest.descriptors.rlim_max, guest.descriptors.rlim_max};
    setrlimit(RLIMIT_NOFILE, &raised);
}

static int usage(void) {
    static const char text[] = "usage: belljar-guest [--local] [--fds IN,OUT] | --relay PORT\n";
    return write(2, text, sizeof text - 1) < 0 ? 1 : 64;
}

int main(int argc, char **argv) {
    int input = 0, output = 1, port;
    if (argc == 3 && strcmp(argv[1], "--relay") == 0 && sscanf(argv[2], "%d", &port) == 1 && port >= 0 && port < 65536)
        return relay_run(port);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--local") == 0)
            guest.local = true;
        else if (strcmp(argv[i], "--fds") != 0 || ++i == argc || sscanf(argv[i], "%d,%d", &input, &output) != 2)
            return usage();
    }
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    guest.init = getpid() == 1 && !guest.local;
    ignore_signals();
    raise_descriptor_limit();
    guest.null_input = open_null();
    tree_open();
    watch_children();
    session_begin(input, output);
}
