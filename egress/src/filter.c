#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "egress.h"

/*
 * An nftables filter over netlink: linux/netlink.h, linux/netfilter/nfnetlink.h and linux/netfilter/nf_tables.h, whose
 * values stand here because a musl compiler comes without them.
 */
enum { NETLINK_NETFILTER = 12, BATCH_BEGIN = 16, BATCH_END = 17, SUBSYSTEM = 10 };
enum { NEW_TABLE = 0, NEW_CHAIN = 3, NEW_RULE = 6 };
enum { FLAG_REQUEST = 1, FLAG_ACK = 4, FLAG_CREATE = 0x400, FLAG_APPEND = 0x800, NESTED = 0x8000 };
enum { MESSAGE_ERROR = 2, FAMILY_INET = 1, FAMILY_IPV4 = 2, LOCAL_OUT = 3, REGISTER = 1, VERDICT_REGISTER = 0 };
enum { META_OIF = 5, META_FAMILY = 15, NETWORK_HEADER = 1, DESTINATION_OFFSET = 16, LOOPBACK_INDEX = 1 };
enum { VERDICT_DROP = 0, VERDICT_ACCEPT = 1 };

struct header {
    uint32_t length;
    uint16_t type, flags;
    uint32_t sequence, port;
};

static uint8_t batch[32768];
static size_t batch_length;
static uint32_t sequence;

static void put(const void *data, size_t length) {
    static const uint8_t padding[4];
    if (batch_length + length + 4 > sizeof batch)
        _exit(70);
    memcpy(batch + batch_length, data, length);
    batch_length += length;
    size_t odd = (4 - length % 4) % 4;
    memcpy(batch + batch_length, padding, odd);
    batch_length += odd;
}

static size_t message_begin(uint16_t type, uint16_t flags, uint8_t family, uint16_t resource) {
    size_t start = batch_length;
    struct header header = {.type = type, .flags = FLAG_REQUEST | flags, .sequence = ++sequence};
    struct {
        uint8_t family, version;
        uint16_t resource;
    } generic = {family, 0, htons(resource)};
    put(&header, sizeof header);
    put(&generic, sizeof generic);
    return start;
}

static void message_end(size_t start) {
    uint32_t length = (uint32_t)(batch_length - start);
    memcpy(batch + start, &length, sizeof length);
}

static void attribute(uint16_t type, const void *data, size_t length) {
    uint16_t header[2] = {(uint16_t)(length + 4), type};
    put(header, sizeof header);
    put(data, length);
}

static void attribute_text(uint16_t type, const char *text) {
    attribute(type, text, strlen(text) + 1);
}

static void attribute_number(uint16_t type, uint32_t number) {
    uint32_t big = htonl(number);
    attribute(type, &big, sizeof big);
}

static size_t nest_begin(uint16_t type) {
    size_t start = batch_length;
    attribute(type | NESTED, "", 0);
    return start;
}

static void nest_end(size_t start) {
    uint16_t length = (uint16_t)(batch_length - start);
    memcpy(batch + start, &length, sizeof length);
}

/* An expression of a rule: begins both of its nests. */
static void expression_begin(const char *name, size_t nests[2]) {
    nests[0] = nest_begin(1);
    attribute_text(1, name);
    nests[1] = nest_begin(2);
}

static void expression_end(const size_t nests[2]) {
    nest_end(nests[1]);
    nest_end(nests[0]);
}

static void load_meta(uint32_t key) {
    size_t nests[2];
    expression_begin("meta", nests);
    attribute_number(1, REGISTER);
    attribute_number(2, key);
    expression_end(nests);
}

static void load_destination(void) {
    size_t nests[2];
    expression_begin("payload", nests);
    attribute_number(1, REGISTER);
    attribute_number(2, NETWORK_HEADER);
    attribute_number(3, DESTINATION_OFFSET);
    attribute_number(4, 4);
    expression_end(nests);
}

static void data_value(uint16_t type, const void *value, size_t length) {
    size_t nest = nest_begin(type);
    attribute(1, value, length);
    nest_end(nest);
}

static void mask_register(uint32_t mask) {
    uint32_t big = htonl(mask), none = 0;
    size_t nests[2];
    expression_begin("bitwise", nests);
    attribute_number(1, REGISTER);
    attribute_number(2, REGISTER);
    attribute_number(3, 4);
    data_value(4, &big, 4);
    data_value(5, &none, 4);
    expression_end(nests);
}

static void if_equal(const void *value, size_t length) {
    size_t nests[2];
    expression_begin("cmp", nests);
    attribute_number(1, REGISTER);
    attribute_number(2, 0);
    data_value(3, value, length);
    expression_end(nests);
}

static void accept_packet(void) {
    size_t nests[2];
    expression_begin("immediate", nests);
    attribute_number(1, VERDICT_REGISTER);
    size_t data = nest_begin(2), verdict = nest_begin(2);
    attribute_number(1, VERDICT_ACCEPT);
    nest_end(verdict);
    nest_end(data);
    expression_end(nests);
}

static uint16_t nf_type(int message) {
    return (uint16_t)(SUBSYSTEM << 8 | message);
}

static void add_chain(void) {
    size_t table = message_begin(nf_type(NEW_TABLE), FLAG_CREATE | FLAG_ACK, FAMILY_INET, 0);
    attribute_text(1, "belljar");
    message_end(table);
    size_t chain = message_begin(nf_type(NEW_CHAIN), FLAG_CREATE | FLAG_ACK, FAMILY_INET, 0);
    attribute_text(1, "belljar");
    attribute_text(3, "out");
    size_t hook = nest_begin(4);
    attribute_number(1, LOCAL_OUT);
    attribute_number(2, 0);
    nest_end(hook);
    attribute_number(5, VERDICT_DROP);
    attribute_text(7, "filter");
    message_end(chain);
}

/* Accepts what stays inside, or goes to one of the sandbox's own networks. */
static void add_rule(const struct subnet *subnet) {
    uint32_t loopback = LOOPBACK_INDEX;
    uint8_t family = FAMILY_IPV4;
    size_t rule = message_begin(nf_type(NEW_RULE), FLAG_CREATE | FLAG_APPEND | FLAG_ACK, FAMILY_INET, 0);
    attribute_text(1, "belljar");
    attribute_text(2, "out");
    size_t expressions = nest_begin(4);
    if (subnet) {
        uint32_t address = htonl(subnet->address);
        load_meta(META_FAMILY);
        if_equal(&family, 1);
        load_destination();
        mask_register(subnet->mask);
        if_equal(&address, 4);
    } else {
        load_meta(META_OIF);
        if_equal(&loopback, 4);
    }
    accept_packet();
    nest_end(expressions);
    message_end(rule);
}

/* Reads an acknowledgement for each of so many messages. */
static bool acknowledged(int fd, int wanted) {
    uint8_t buffer[16384];
    while (wanted > 0) {
        ssize_t got = recv(fd, buffer, sizeof buffer, 0);
        if (got <= 0)
            return false;
        for (size_t at = 0; at + sizeof(struct header) + 4 <= (size_t)got;) {
            struct header header;
            int32_t error;
            memcpy(&header, buffer + at, sizeof header);
            memcpy(&error, buffer + at + sizeof header, sizeof error);
            if (header.length < sizeof header)
                return false;
            if (header.type == MESSAGE_ERROR && error != 0) {
                errno = -error;
                return false;
            }
            wanted -= header.type == MESSAGE_ERROR;
            at += (header.length + 3u) & ~3u;
        }
    }
    return true;
}

static bool send_batch(int messages) {
    struct {
        uint16_t family, padding;
        uint32_t port, groups;
    } kernel = {.family = AF_NETLINK};
    struct timeval patience = {.tv_sec = 10};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
    bool done = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
                sendto(fd, batch, batch_length, 0, (struct sockaddr *)&kernel, sizeof kernel) > 0 &&
                acknowledged(fd, messages);
    if (!done)
        perror("nftables filter");
    if (fd >= 0)
        close(fd);
    return done;
}

bool filter_install(const struct subnet *local, int count) {
    message_end(message_begin(BATCH_BEGIN, 0, 0, SUBSYSTEM));
    add_chain();
    add_rule(NULL);
    for (int i = 0; i < count; i++)
        add_rule(&local[i]);
    message_end(message_begin(BATCH_END, 0, 0, SUBSYSTEM));
    return send_batch(3 + count);
}
