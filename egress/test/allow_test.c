/* What is on an allow-list, by tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/egress.h"

static char *patterns[] = {"pypi.org", "*.example.com", "203.0.113.7", "198.51.100.0/24", "10.0.0.0/8", "0.0.0.0/1"};
static char *metadata[] = {"169.254.169.254"};
static int failures;

/* The gateway's own networks. */
int local_subnets(struct subnet *list, int max) {
    (void)max;
    list[0] = (struct subnet){.address = 0x0ac80000, .mask = 0xfffffff0}; /* 10.200.0.0/28 */
    return 1;
}

static void expect(const char *what, bool got, bool wanted) {
    if (got == wanted)
        return;
    failures++;
    fprintf(stderr, "%s: %s\n", what, got ? "allowed" : "refused");
}

static void names(void) {
    static const struct {
        const char *given;
        bool valid, allowed;
    } rows[] = {
        {"pypi.org", true, true},        {"PyPI.org.", true, true},        {"files.pypi.org", true, false},
        {"xpypi.org", true, false},      {"a.example.com", true, true},    {"a.b.example.com", true, true},
        {"example.com", true, false},    {"aexample.com", true, false},    {".example.com", false, false},
        {"a..example.com", false, false}, {"", false, false},              {"pypi.org..", false, false},
        {"pypi.org\t", false, false},    {"pypi org", false, false},       {"203.0.113.7", true, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[300];
        strcpy(name, rows[i].given);
        bool valid = normal_name(name);
        expect(rows[i].given, valid, rows[i].valid);
        expect(rows[i].given, valid && allow_name(name), rows[i].allowed);
    }
}

static void addresses(void) {
    static const struct {
        const char *given;
        bool listed, by_name;
    } rows[] = {
        {"203.0.113.7", true, true},      {"203.0.113.8", false, true},      {"198.51.100.255", true, true},
        {"198.51.101.0", false, true},    {"10.1.2.3", true, true},          {"10.200.0.1", false, false},
        {"10.200.0.15", false, false},    {"10.200.0.16", true, true},       {"127.0.0.1", false, false},
        {"0.0.0.0", false, false},        {"0.1.2.3", false, false},         {"169.254.169.254", false, false},
        {"192.168.1.1", false, false},    {"172.16.0.1", false, false},      {"172.31.255.255", false, false},
        {"172.32.0.1", false, true},      {"100.64.0.1", true, true},        {"224.0.0.1", false, false},
        {"255.255.255.255", false, false}, {"198.18.0.1", false, false},     {"8.8.8.8", true, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t address;
        expect(rows[i].given, parse_address(rows[i].given, &address), true);
        expect(rows[i].given, allow_address(address, false), rows[i].listed);
        expect(rows[i].given, allow_address(address, true), rows[i].by_name);
    }
}

int main(void) {
    uint32_t address;
    allow_set(patterns, sizeof patterns / sizeof *patterns);
    names();
    addresses();
    static const char *const odd[] = {"1.2.3", "0x7f.0.0.1", "127.1", "2130706433", "1.2.3.4.5", "1.2.3.4 ", "::1"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        expect(odd[i], parse_address(odd[i], &address), false);
    allow_set(metadata, 1);
    expect("the metadata service, listed as such", parse_address("169.254.169.254", &address) && allow_address(address, true),
           true);
    if (failures == 0)
        printf("allow-list: as the tables say\n");
    return failures > 0;
}
