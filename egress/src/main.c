#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "egress.h"

static void end(int signal) {
    (void)signal;
    _exit(0);
}

/* Keeps a network namespace for whoever joins it. */
static _Noreturn void hold(void) {
    signal(SIGTERM, end);
    signal(SIGCHLD, SIG_IGN);
    for (;;)
        pause();
}

int main(int count, char **words) {
    const char *mode = count > 1 ? words[1] : "";
    prctl(PR_SET_DUMPABLE, 0);
    if (strcmp(mode, "gateway") == 0) {
        allow_set(words + 2, count - 2);
        signal(SIGTERM, end);
        return gateway();
    }
    if (strcmp(mode, "ready") == 0)
        return gateway_ready();
    if (strcmp(mode, "hold") == 0)
        hold();
    if (strcmp(mode, "seal") == 0)
        return seal(count > 2 ? words[2] : NULL, words + 3, count > 3 ? count - 3 : 0);
    fprintf(stderr, "usage: egress gateway PATTERN.. | ready | hold | seal [GATEWAY HOST..]\n");
    return 2;
}
