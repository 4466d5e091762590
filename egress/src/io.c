#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "egress.h"

enum { CONNECT_MS = 10000, CHUNK = 65536 };

static struct timespec deadline;

void deadline_set(int seconds) {
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += seconds;
}

static int left_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long ms = (deadline.tv_sec - now.tv_sec) * 1000 + (deadline.tv_nsec - now.tv_nsec) / 1000000;
    return ms > 0 ? (int)ms : 0;
}

static bool await(int fd, short events) {
    struct pollfd watched = {.fd = fd, .events = events};
    return poll(&watched, 1, left_ms()) > 0;
}

bool write_all(int fd, const void *data, size_t length) {
    const char *at = data;
    while (length > 0) {
        if (!await(fd, POLLOUT))
            return false;
        ssize_t written = send(fd, at, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (written < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        if (written > 0) {
            at += written;
            length -= (size_t)written;
        }
    }
    return true;
}

bool write_text(int fd, const char *text) {
    return write_all(fd, text, strlen(text));
}

long read_some(int fd, void *buffer, size_t size) {
    if (!await(fd, POLLIN))
        return -1;
    return recv(fd, buffer, size, 0);
}

int connect_address(uint32_t address, uint16_t port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
    socklen_t size = sizeof error;
    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    struct pollfd watched = {.fd = fd, .events = POLLOUT};
    if (errno == EINPROGRESS && poll(&watched, 1, CONNECT_MS) > 0 &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0)
        return fd;
    close(fd);
    return -1;
}

/* One direction of a connection. */
struct flow {
    int from, to;
    size_t start, end;
    bool ended, shut;
    char buffer[CHUNK];
};

static bool flow_read(struct flow *flow) {
    ssize_t got = recv(flow->from, flow->buffer, CHUNK, MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    flow->ended = got == 0;
    flow->start = 0;
    flow->end = (size_t)got;
    return true;
}

static bool flow_write(struct flow *flow) {
    if (flow->start < flow->end) {
        ssize_t sent =
            send(flow->to, flow->buffer + flow->start, flow->end - flow->start, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0)
            return errno == EAGAIN || errno == EINTR;
        flow->start += (size_t)sent;
    }
    if (flow->start == flow->end && flow->ended && !flow->shut) {
        flow->shut = true;
        shutdown(flow->to, SHUT_WR);
    }
    return true;
}

static short flow_reads(const struct flow *flow) {
    return !flow->ended && flow->start == flow->end ? POLLIN : 0;
}

static short flow_writes(const struct flow *flow) {
    return flow->start < flow->end ? POLLOUT : 0;
}

static void keep_alive(int fd) {
    int on = 1, idle = 60, interval = 15, tries = 4;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof tries);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* Copies both ways until both are at their end, or one is lost. */
void relay(int client, int upstream) {
    static struct flow out, back;
    out = (struct flow){.from = client, .to = upstream};
    back = (struct flow){.from = upstream, .to = client};
    keep_alive(client);
    keep_alive(upstream);
    while (!out.shut || !back.shut) {
        struct pollfd watched[2] = {{.fd = client, .events = flow_reads(&out) | flow_writes(&back)},
                                    {.fd = upstream, .events = flow_reads(&back) | flow_writes(&out)}};
        /* What has said all and heard all is left alone: its hang-up would be told for ever. */
        for (int i = 0; i < 2; i++)
            if (watched[i].events == 0)
                watched[i].fd = -1;
        if (poll(watched, 2, -1) < 0 && errno != EINTR)
            return;
        if ((watched[0].revents && flow_reads(&out) && !flow_read(&out)) ||
            (watched[1].revents && flow_reads(&back) && !flow_read(&back)) || !flow_write(&out) ||
            !flow_write(&back))
            return;
    }
}
