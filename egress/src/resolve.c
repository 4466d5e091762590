#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "egress.h"

enum { TRIES = 3, WAIT_MS = 5000, HEADER = 12, LARGEST = 4096, TYPE_A = 1, CLASS_IN = 1 };

static bool name_server(struct sockaddr_in *server) {
    char line[256], text[64];
    bool found = false;
    FILE *file = fopen("/etc/resolv.conf", "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        uint32_t address;
        if (sscanf(line, "nameserver %63s", text) == 1 && parse_address(text, &address)) {
            *server = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(53)};
            server->sin_addr.s_addr = htonl(address);
            found = true;
        }
    }
    if (file)
        fclose(file);
    return found;
}

/* RFC 1035 4.1, with an OPT record (RFC 6891) so that long answers come whole. */
static size_t make_query(const char *name, uint8_t *query) {
    static const uint8_t opt[] = {0, 0, 41, LARGEST >> 8, LARGEST & 255, 0, 0, 0, 0, 0, 0};
    static const uint8_t rest[] = {1, 0, 0, 1, 0, 0, 0, 0, 0, 1};
    uint8_t *at = query + HEADER;
    if (getrandom(query, 2, 0) != 2)
        return 0;
    memcpy(query + 2, rest, sizeof rest);
    while (*name) {
        size_t length = strcspn(name, ".");
        if (length == 0 || length > 63)
            return 0;
        *at++ = (uint8_t)length;
        memcpy(at, name, length);
        at += length;
        name += length + (name[length] == '.');
    }
    const uint8_t tail[] = {0, 0, TYPE_A, 0, CLASS_IN};
    memcpy(at, tail, sizeof tail);
    memcpy(at + sizeof tail, opt, sizeof opt);
    return (size_t)(at - query) + sizeof tail + sizeof opt;
}

static const uint8_t *skip_name(const uint8_t *at, const uint8_t *end) {
    while (at < end && *at) {
        if (*at >= 0xc0)
            return at + 2 <= end ? at + 2 : NULL;
        at += *at + 1;
    }
    return at < end ? at + 1 : NULL;
}

static bool read_answer(const uint8_t *answer, size_t length, struct addresses *found) {
    const uint8_t *end = answer + length, *at = skip_name(answer + HEADER, end);
    int records = answer[6] << 8 | answer[7];
    if ((answer[3] & 15) != 0 || answer[4] != 0 || answer[5] != 1 || !at)
        return false;
    at += 4;
    found->count = 0;
    while (records-- > 0 && at < end && (at = skip_name(at, end)) && at + 10 <= end) {
        int type = at[0] << 8 | at[1], class = at[2] << 8 | at[3], size = at[8] << 8 | at[9];
        at += 10;
        if (size > end - at)
            break;
        if (type == TYPE_A && class == CLASS_IN && size == 4 && found->count < 16)
            found->list[found->count++] =
                (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
        at += size;
    }
    return found->count > 0;
}

static bool ask(int fd, const char *name, struct addresses *found) {
    uint8_t query[HEADER + NAME_MAX_LENGTH + 32], answer[LARGEST];
    size_t length = make_query(name, query);
    struct pollfd watched = {.fd = fd, .events = POLLIN};
    for (int try = 0; length > 0 && try < TRIES; try++) {
        if (send(fd, query, length, MSG_NOSIGNAL) < 0)
            return false;
        while (poll(&watched, 1, WAIT_MS) > 0) {
            ssize_t size = recv(fd, answer, sizeof answer, 0);
            if (size < 0)
                return false;
            if (size > HEADER && memcmp(answer, query, 2) == 0 && answer[2] & 0x80)
                return read_answer(answer, (size_t)size, found);
        }
    }
    return false;
}

bool resolve(const char *name, struct addresses *found) {
    struct sockaddr_in server;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool done = fd >= 0 && name_server(&server) &&
                connect(fd, (struct sockaddr *)&server, sizeof server) == 0 && ask(fd, name, found);
    if (fd >= 0)
        close(fd);
    return done;
}
