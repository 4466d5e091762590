#define _GNU_SOURCE
#include "relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "limits.h"
#include "loop.h"
#include "relay_queue.h"
#include "wire.h"

enum relay_frame { RELAY_LISTENING = 1, RELAY_OPEN, RELAY_DATA, RELAY_END, RELAY_CLOSE, RELAY_CREDIT };

struct connection {
    struct connection *next;
    uint32_t id;
    struct watch watch;
    size_t credit;       /* what may still be sent to the host */
    struct queue output; /* from the host */
    bool host_ended;
    bool output_shut;
    bool input_ended;
};

static struct watch listener, host_input, host_output;
static struct connection *connections;
static size_t connection_count;
static uint32_t last_id;
static struct queue from_host, to_host;

static void send_frame(uint8_t type, uint32_t id, const void *payload, size_t length) {
    uint8_t header[RELAY_HEADER];
    number_put(header, 4, length);
    header[4] = type;
    number_put(header + 5, 4, id);
    queue_put(&to_host, header, sizeof header);
    queue_put(&to_host, payload, length);
}

static void send_number(uint8_t type, uint32_t id, uint64_t number) {
    uint8_t payload[4];
    number_put(payload, sizeof payload, number);
    send_frame(type, id, payload, sizeof payload);
}

static void drop(struct connection *connection) {
    for (struct connection **at = &connections; *at; at = &(*at)->next)
        if (*at == connection) {
            *at = connection->next;
            break;
        }
    loop_unwatch(&connection->watch);
    close(connection->watch.fd);
    queue_free(&connection->output);
    free(connection);
    connection_count--;
}

static void close_connection(struct connection *connection) {
    send_frame(RELAY_CLOSE, connection->id, NULL, 0);
    drop(connection);
}

static short connection_interest(void *owner) {
    struct connection *connection = owner;
    bool reads = !connection->input_ended && connection->credit > 0 && to_host.length < OUTPUT_HIGH_WATER;
    return (short)((reads ? POLLIN : 0) | (connection->output.length ? POLLOUT : 0));
}

/* False where the connection is gone. */
static bool read_connection(struct connection *connection) {
    static uint8_t bytes[DATA_MAX];
    size_t room = connection->credit < sizeof bytes ? connection->credit : sizeof bytes;
    ssize_t got = read(connection->watch.fd, bytes, room);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (got < 0) {
        close_connection(connection);
        return false;
    }
    if (got > 0) {
        connection->credit -= (size_t)got;
        send_frame(RELAY_DATA, connection->id, bytes, (size_t)got);
        return true;
    }
    connection->input_ended = true;
    send_frame(RELAY_END, connection->id, NULL, 0);
    return true;
}

static bool write_connection(struct connection *connection) {
    long written = queue_write(&connection->output, connection->watch.fd);
    if (written < 0) {
        close_connection(connection);
        return false;
    }
    if (written > 0)
        send_number(RELAY_CREDIT, connection->id, (uint64_t)written);
    if (connection->host_ended && connection->output.length == 0 && !connection->output_shut) {
        connection->output_shut = true;
        shutdown(connection->watch.fd, SHUT_WR);
    }
    return true;
}

static void connection_ready(void *owner, short events) {
    struct connection *connection = owner;
    if (connection->output.length && (events & (POLLOUT | POLLERR | POLLHUP)) && !write_connection(connection))
        return;
    bool reads = !connection->input_ended && connection->credit > 0;
    if (reads && (events & (POLLIN | POLLERR | POLLHUP)) && !read_connection(connection))
        return;
    if (connection->input_ended && connection->output_shut)
        close_connection(connection);
}

static short listener_interest(void *owner) {
    (void)owner;
    return connection_count < RELAY_CONNECTIONS_MAX ? POLLIN : 0;
}

static void listener_ready(void *owner, short events) {
    (void)owner;
    (void)events;
    int fd = accept4(listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    struct connection *connection = must_alloc(sizeof *connection);
    *connection = (struct connection){.next = connections, .id = ++last_id, .credit = RELAY_WINDOW};
    connection->watch = (struct watch){fd, connection_interest, connection_ready, connection};
    connections = connection;
    connection_count++;
    loop_watch(&connection->watch);
    send_frame(RELAY_OPEN, connection->id, NULL, 0);
}

static struct connection *find(uint32_t id) {
    for (struct connection *connection = connections; connection; connection = connection->next)
        if (connection->id == id)
            return connection;
    return NULL;
}

/* Frames for a connection that is gone are passed over: the host may not know yet. */
static void take_frame(uint8_t type, uint32_t id, const uint8_t *payload, size_t length) {
    struct connection *connection = find(id);
    if (!connection)
        return;
    if (type == RELAY_DATA) {
        if (connection->host_ended || connection->output.length + length > RELAY_WINDOW)
            _exit(65);
        queue_put(&connection->output, payload, length);
        write_connection(connection);
    } else if (type == RELAY_END) {
        connection->host_ended = true;
        if (write_connection(connection) && connection->input_ended && connection->output_shut)
            close_connection(connection);
    } else if (type == RELAY_CREDIT && length == 4) {
        connection->credit += number_get(payload, 4);
    } else if (type == RELAY_CLOSE) {
        drop(connection);
    } else {
        _exit(65);
    }
}

static void take_frames(void) {
    while (from_host.length >= RELAY_HEADER) {
        const uint8_t *bytes = from_host.bytes + from_host.start;
        size_t length = number_get(bytes, 4);
        if (length > DATA_MAX)
            _exit(65);
        if (from_host.length < RELAY_HEADER + length)
            return;
        take_frame(bytes[4], (uint32_t)number_get(bytes + 5, 4), bytes + RELAY_HEADER, length);
        queue_drop(&from_host, RELAY_HEADER + length);
    }
}

static short host_input_interest(void *owner) {
    (void)owner;
    return POLLIN;
}

static void host_input_ready(void *owner, short events) {
    static uint8_t bytes[DATA_MAX];
    (void)owner;
    (void)events;
    ssize_t got = read(host_input.fd, bytes, sizeof bytes);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0)
        _exit(0);
    queue_put(&from_host, bytes, (size_t)got);
    take_frames();
}

static short host_output_interest(void *owner) {
    (void)owner;
    return to_host.length ? POLLOUT : 0;
}

static void host_output_ready(void *owner, short events) {
    (void)owner;
    (void)events;
    if (queue_write(&to_host, host_output.fd) < 0)
        _exit(0);
}

/* The bound port, or -1. */
static int listen_on(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = (struct watch){.interest = listener_interest, .ready = listener_ready};
    listener.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener.fd < 0 || bind(listener.fd, (struct sockaddr *)&address, length) != 0 ||
        listen(listener.fd, SOMAXCONN) != 0 || getsockname(listener.fd, (struct sockaddr *)&address, &length) != 0)
        return -1;
    return ntohs(address.sin_port);
}

static bool never_busy(void) {
    return false;
}

int relay_run(int port) {
    signal(SIGPIPE, SIG_IGN);
    int bound = listen_on(port);
    if (bound < 0)
        return errno == EADDRINUSE ? 75 : 71;
    host_input = (struct watch){.fd = 0, .interest = host_input_interest, .ready = host_input_ready};
    host_output = (struct watch){.fd = 1, .interest = host_output_interest, .ready = host_output_ready};
    fcntl(0, F_SETFL, O_NONBLOCK);
    fcntl(1, F_SETFL, O_NONBLOCK);
    loop_watch(&host_input);
    loop_watch(&host_output);
    loop_watch(&listener);
    send_number(RELAY_LISTENING, 0, (uint64_t)bound);
    loop_run(never_busy);
    return 0;
}
