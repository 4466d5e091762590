#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "egress.h"

enum { LISTENERS = 3, BACKLOG = 128, MOST_CLIENTS = 400, REQUEST_SECONDS = 30 };

static const struct {
    uint16_t port;
    void (*serve)(int client);
} listeners[LISTENERS] = {{3128, serve_proxy}, {80, serve_http}, {443, serve_tls}};

static int clients;

static int listen_on(uint16_t port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    perror("listen");
    return -1;
}

/* A process for each client: one that hangs or breaks is alone in it. */
static void accept_client(int listener, void (*serve)(int client)) {
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0)
        return;
    while (clients > 0 && waitpid(-1, NULL, WNOHANG) > 0)
        clients--;
    pid_t child = clients < MOST_CLIENTS ? fork() : -1;
    if (child == 0) {
        deadline_set(REQUEST_SECONDS);
        serve(client);
        _exit(0);
    }
    if (child > 0)
        clients++;
    close(client);
}

int gateway(void) {
    struct pollfd watched[LISTENERS];
    for (int i = 0; i < LISTENERS; i++) {
        watched[i] = (struct pollfd){.fd = listen_on(listeners[i].port), .events = POLLIN};
        if (watched[i].fd < 0)
            return 1;
    }
    for (;;) {
        int ready = poll(watched, LISTENERS, clients > 0 ? 1000 : -1);
        if (ready < 0 && errno != EINTR)
            return 1;
        while (clients > 0 && waitpid(-1, NULL, WNOHANG) > 0)
            clients--;
        for (int i = 0; ready > 0 && i < LISTENERS; i++)
            if (watched[i].revents)
                accept_client(watched[i].fd, listeners[i].serve);
    }
}

int gateway_ready(void) {
    for (int tries = 0; tries < 300; tries++) {
        int fd = connect_address(INADDR_LOOPBACK, listeners[LISTENERS - 1].port);
        if (fd >= 0)
            return 0;
        usleep(20000);
    }
    fprintf(stderr, "the egress gateway does not listen\n");
    return 1;
}
