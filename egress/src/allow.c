#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "egress.h"

static char **patterns;
static int pattern_count;

void allow_set(char **given, int count) {
    patterns = given;
    pattern_count = count;
}

bool parse_address(const char *text, uint32_t *address) {
    struct in_addr parsed;
    if (inet_pton(AF_INET, text, &parsed) != 1)
        return false;
    *address = ntohl(parsed.s_addr);
    return true;
}

bool normal_name(char *name) {
    size_t length = strlen(name);
    if (length > 0 && name[length - 1] == '.')
        name[--length] = 0;
    if (length == 0 || length > NAME_MAX_LENGTH || name[0] == '.' || name[length - 1] == '.')
        return false;
    for (char *at = name; *at; at++) {
        if (*at >= 'A' && *at <= 'Z')
            *at += 'a' - 'A';
        bool letter = (*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9');
        if (!letter && *at != '-' && *at != '_' && *at != '.')
            return false;
        if (*at == '.' && at[1] == '.')
            return false;
    }
    return true;
}

static bool name_matches(const char *pattern, const char *name) {
    if (strncmp(pattern, "*.", 2) != 0)
        return strcmp(pattern, name) == 0;
    size_t suffix = strlen(pattern) - 1, length = strlen(name);
    return length > suffix && strcmp(name + length - suffix, pattern + 1) == 0;
}

bool allow_name(const char *name) {
    for (int i = 0; i < pattern_count; i++)
        if (name_matches(patterns[i], name))
            return true;
    return false;
}

static bool parse_subnet(const char *pattern, struct subnet *subnet) {
    char text[32];
    const char *slash = strchr(pattern, '/');
    size_t length = slash ? (size_t)(slash - pattern) : strlen(pattern);
    if (length >= sizeof text)
        return false;
    memcpy(text, pattern, length);
    text[length] = 0;
    int bits = slash ? atoi(slash + 1) : 32;
    if (bits < 1 || bits > 32 || !parse_address(text, &subnet->address))
        return false;
    subnet->mask = bits == 32 ? UINT32_MAX : ~(UINT32_MAX >> bits);
    subnet->address &= subnet->mask;
    return true;
}

static bool inside(uint32_t address, uint32_t subnet, int bits) {
    return (address ^ subnet) >> (32 - bits) == 0;
}

#define QUAD(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

static bool is_link_local(uint32_t address) {
    return inside(address, QUAD(169, 254, 0, 0), 16);
}

static bool is_private(uint32_t address) {
    return inside(address, QUAD(10, 0, 0, 0), 8) || inside(address, QUAD(172, 16, 0, 0), 12) ||
           inside(address, QUAD(192, 168, 0, 0), 16) || inside(address, QUAD(100, 64, 0, 0), 10) ||
           inside(address, QUAD(192, 0, 0, 0), 24) || inside(address, QUAD(198, 18, 0, 0), 15) ||
           is_link_local(address);
}

/* This host, everybody, and what stands for nobody. */
static bool is_unusable(uint32_t address) {
    return inside(address, 0, 8) || inside(address, QUAD(127, 0, 0, 0), 8) || address >= QUAD(224, 0, 0, 0);
}

/* Other sandboxes, and the engine's host at the gateway address. */
static bool is_neighbour(uint32_t address) {
    struct subnet local[64];
    int count = local_subnets(local, 64);
    for (int i = 0; i < count; i++)
        if ((address & local[i].mask) == local[i].address)
            return true;
    return count < 0;
}

static bool is_listed(uint32_t address) {
    struct subnet subnet;
    for (int i = 0; i < pattern_count; i++) {
        if (!parse_subnet(patterns[i], &subnet) || (address & subnet.mask) != subnet.address)
            continue;
        /* A wide block does not mean the metadata service that happens to lie in it. */
        if (!is_link_local(address) || (is_link_local(subnet.address) && subnet.mask >= 0xffff0000u))
            return true;
    }
    return false;
}

bool allow_address(uint32_t address, bool by_name) {
    if (is_unusable(address) || is_neighbour(address))
        return false;
    return is_listed(address) || (by_name && !is_private(address));
}
