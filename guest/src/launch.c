#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wire.h"

#define PATH_DEFAULT "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static void free_list(char **list) {
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

void launch_free(struct launch *launch) {
    free_list(launch->arguments);
    free_list(launch->environment);
    free(launch->user);
    free(launch->cwd);
    memset(launch, 0, sizeof *launch);
}

static const char *variable(char **environment, const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; environment[i]; i++)
        if (strncmp(environment[i], name, length) == 0 && environment[i][length] == '=')
            return environment[i] + length + 1;
    return NULL;
}

static void default_variable(struct launch *launch, const char *name, const char *value) {
    if (variable(launch->environment, name))
        return;
    size_t count = 0, size = strlen(name) + strlen(value) + 2;
    while (launch->environment[count])
        count++;
    launch->environment = must_realloc(launch->environment, (count + 2) * sizeof(char *));
    launch->environment[count] = must_alloc(size);
    snprintf(launch->environment[count], size, "%s=%s", name, value);
    launch->environment[count + 1] = NULL;
}

bool launch_resolve(struct launch *launch, struct identity *identity, struct launch_failure *failure) {
    if (launch->user && !identity_resolve(launch->user, launch->groups, launch->group_count, identity)) {
        *failure = (struct launch_failure){STAGE_USER, 0};
        return false;
    }
    bool may_switch = geteuid() == 0 && !launch->local;
    if (launch->user && !may_switch && identity->uid != geteuid()) {
        *failure = (struct launch_failure){STAGE_SWITCH, EPERM};
        return false;
    }
    if (launch->user)
        default_variable(launch, "HOME", identity->home);
    default_variable(launch, "PATH", PATH_DEFAULT);
    if (launch->pty)
        default_variable(launch, "TERM", "xterm");
    return true;
}

void close_from(int first) {
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0) == 0)
        return;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    int last = limit.rlim_cur > 65536 ? 65536 : (int)limit.rlim_cur;
    for (int fd = first; fd < last; fd++)
        close(fd);
}

void reset_signals(void) {
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void ignore_signals(void) {
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2,
                                  SIGTSTP, SIGTTIN, SIGTTOU, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO, SIGPWR};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        signal(numbers[i], SIG_IGN);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        signal(number, SIG_IGN);
}

static _Noreturn void fail(int report, int stage, int error) {
    struct launch_failure failure = {stage, error};
    if (write(report, &failure, sizeof failure) < 0)
        _exit(126);
    _exit(127);
}

/* Tries every folder of the command's own PATH; returns the errno that says most. */
static int execute(char **arguments, char **environment, int *stage) {
    char path[PATH_MAX];
    int error = ENOENT;
    if (strchr(arguments[0], '/')) {
        execve(arguments[0], arguments, environment);
        error = errno;
        if (error == ENOENT && access(arguments[0], F_OK) == 0)
            *stage = STAGE_INTERPRETER;
        return error;
    }
    const char *folders = variable(environment, "PATH");
    for (const char *at = folders; at && *arguments[0];) {
        size_t length = strcspn(at, ":");
        int size = snprintf(path, sizeof path, "%.*s/%s", length ? (int)length : 1, length ? at : ".", arguments[0]);
        if (size > 0 && (size_t)size < sizeof path) {
            execve(path, arguments, environment);
            if (errno == ENOENT && access(path, F_OK) == 0)
                *stage = STAGE_INTERPRETER;
            if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
                return errno;
            if (errno == EACCES || *stage == STAGE_INTERPRETER)
                error = errno;
        }
        at = at[length] ? at + length + 1 : NULL;
    }
    return error;
}

/* The user may also open it by its name. */
static void take_terminal(const struct launch *launch, const struct identity *identity) {
    bool owned = !launch->user || launch->local || fchown(0, identity->uid, (gid_t)-1) == 0;
    if (ioctl(0, TIOCSCTTY, 0) != 0 || !owned)
        errno = 0; /* without either it is still a terminal */
}

_Noreturn void launch_become(const struct launch *launch, const struct identity *identity, int report) {
    setsid();
    if (launch->pty)
        take_terminal(launch, identity);
    setrlimit(RLIMIT_NOFILE, &launch->descriptors);
    int error = launch->strict ? harden_before() : 0;
    if (!error && launch->user && !launch->local)
        error = identity_become(identity, false);
    if (!error && launch->strict)
        error = harden_after();
    if (error)
        fail(report, error == EAGAIN ? STAGE_PROCESS : error == EINVAL ? STAGE_USER : STAGE_SWITCH, error);
    if (launch->cwd && chdir(launch->cwd) != 0)
        fail(report, STAGE_CWD, errno);
    reset_signals();
    int stage = STAGE_EXEC;
    error = execute(launch->arguments, launch->environment, &stage);
    fail(report, stage, error);
}
