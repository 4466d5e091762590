#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "egress.h"

enum { LARGEST = 65536 };

static char head[LARGEST + 1], rest[LARGEST];
static size_t rest_length;

/* A lone CR or LF is the end of a line to some, and to others not. */
static bool has_clean_lines(const char *text) {
    for (const char *at = text; *at; at++)
        if ((*at == '\n' && (at == text || at[-1] != '\r')) || (*at == '\r' && at[1] != '\n'))
            return false;
    return true;
}

/* Reads up to the empty line; what came after it is in rest. The lines stay, each ended by CR LF. */
static bool read_head(int client) {
    size_t length = 0;
    for (;;) {
        long got = read_some(client, head + length, LARGEST - length);
        if (got <= 0)
            return false;
        length += (size_t)got;
        head[length] = 0;
        char *end = memmem(head, length, "\r\n\r\n", 4);
        if (end) {
            rest_length = length - (size_t)(end + 4 - head);
            memcpy(rest, end + 4, rest_length);
            end[2] = 0;
            return strlen(head) == (size_t)(end + 2 - head) && has_clean_lines(head);
        }
        if (length == LARGEST)
            return false;
    }
}

static void refuse(int client, const char *status, const char *host, const char *why) {
    char text[1024], body[512];
    int size = snprintf(body, sizeof body, "belljar: %.253s %s\n", host, why);
    snprintf(text, sizeof text,
             "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status,
             size, body);
    write_text(client, text);
}

static int connect_or_refuse(int client, char *host, uint16_t port) {
    int upstream = outward_connect(host, port);
    if (upstream == OUTWARD_DENIED)
        refuse(client, "403 Forbidden", host, "is not on the allow-list of this sandbox");
    else if (upstream == OUTWARD_UNRESOLVED)
        refuse(client, "502 Bad Gateway", host, "has no address");
    else if (upstream == OUTWARD_UNREACHABLE)
        refuse(client, "502 Bad Gateway", host, "cannot be reached");
    return upstream;
}

/* host or host:port, cut in two. */
static bool split_port(char *authority, uint16_t *port) {
    char *colon = strchr(authority, ':'), *end;
    if (!colon)
        return *authority != 0;
    *colon = 0;
    long number = strtol(colon + 1, &end, 10);
    if (*authority == 0 || colon[1] < '0' || colon[1] > '9' || *end || number < 1 || number > 65535)
        return false;
    *port = (uint16_t)number;
    return true;
}

static bool is_header(const char *line, const char *name) {
    size_t length = strlen(name);
    return strncasecmp(line, name, length) == 0 && line[length] == ':';
}

/* What a proxy does not pass on (RFC 9110 7.6.1), the host, which is written anew, and what is no field or continues one. */
static bool is_dropped(const char *line) {
    return line[strcspn(line, ": \t\r")] != ':' || is_header(line, "Host") || is_header(line, "Connection") || is_header(line, "Proxy-Connection") ||
           is_header(line, "Keep-Alive") || is_header(line, "Proxy-Authorization");
}

/* One request of one connection: what follows on it could be meant for another host. */
static bool send_request(int upstream, const char *start, const char *host_line, char *lines) {
    if (!write_text(upstream, start) || !write_text(upstream, host_line))
        return false;
    for (char *line = lines, *end; (end = strstr(line, "\r\n")); line = end + 2)
        if (!is_dropped(line) && !write_all(upstream, line, (size_t)(end + 2 - line)))
            return false;
    return write_text(upstream, "Connection: close\r\n\r\n") && write_all(upstream, rest, rest_length);
}

struct request {
    char *method, *target, *version, *lines;
};

static bool parse_request(struct request *request) {
    char *end = strstr(head, "\r\n"), *save;
    if (!end)
        return false;
    *end = 0;
    request->lines = end + 2;
    request->method = strtok_r(head, " ", &save);
    request->target = strtok_r(NULL, " ", &save);
    request->version = strtok_r(NULL, " ", &save);
    return request->version && strncmp(request->version, "HTTP/1.", 7) == 0 && !strtok_r(NULL, " ", &save);
}

static void forward(int client, struct request *request, char *authority, const char *path) {
    static char start[LARGEST + 64];
    char host_line[NAME_MAX_LENGTH + 32], host[NAME_MAX_LENGTH + 1];
    uint16_t port = 80;
    if (strlen(authority) > NAME_MAX_LENGTH) {
        refuse(client, "400 Bad Request", "the host", "has too long a name");
        return;
    }
    snprintf(host_line, sizeof host_line, "Host: %s\r\n", authority);
    snprintf(host, sizeof host, "%s", authority);
    if (!split_port(host, &port)) {
        refuse(client, "400 Bad Request", authority, "is no host");
        return;
    }
    snprintf(start, sizeof start, "%s %s%s HTTP/1.1\r\n", request->method, *path == '/' ? "" : "/", path);
    int upstream = connect_or_refuse(client, host, port);
    if (upstream >= 0 && send_request(upstream, start, host_line, request->lines))
        relay(client, upstream);
}

static void tunnel(int client, char *authority) {
    uint16_t port = 0;
    if (!split_port(authority, &port) || port == 0) {
        refuse(client, "400 Bad Request", authority, "is no host and port");
        return;
    }
    int upstream = connect_or_refuse(client, authority, port);
    if (upstream >= 0 && write_text(client, "HTTP/1.1 200 Connection established\r\n\r\n") &&
        write_all(upstream, rest, rest_length))
        relay(client, upstream);
}

/* A client that knows of the proxy: CONNECT (RFC 9110 9.3.6), or a request for a whole address. */
void serve_proxy(int client) {
    struct request request;
    if (!read_head(client) || !parse_request(&request))
        return;
    if (strcmp(request.method, "CONNECT") == 0) {
        tunnel(client, request.target);
        return;
    }
    if (strncasecmp(request.target, "http://", 7) != 0) {
        refuse(client, "400 Bad Request", "the request", "is neither CONNECT nor for an http:// address");
        return;
    }
    char *authority = strdup(request.target + 7), *user;
    if (!authority)
        return;
    authority[strcspn(authority, "/?#")] = 0;
    const char *path = request.target + 7 + strlen(authority);
    if ((user = strrchr(authority, '@')))
        authority = user + 1;
    forward(client, &request, authority, path);
}

/* A client that took the gateway for the host that it wants. */
void serve_http(int client) {
    struct request request;
    if (!read_head(client) || !parse_request(&request) || *request.target != '/')
        return;
    for (char *line = request.lines, *end; (end = strstr(line, "\r\n")); line = end + 2) {
        if (!is_header(line, "Host"))
            continue;
        line += 5 + strspn(line + 5, " \t");
        char *authority = strndup(line, (size_t)(end - line));
        if (authority)
            forward(client, &request, authority, request.target);
        return;
    }
    refuse(client, "400 Bad Request", "the request", "names no host");
}
