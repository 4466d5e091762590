#include <stdio.h>
#include <string.h>

#include "../src/identity.h"

static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\n"
                             "# a comment\n"
                             "bad:x:abc:1::/:\n"
                             "www-data:x:33:33:www:/var/www:/bin/false\n"
                             "agent:x:1000:1001:Agent,,,:/home/agent:/bin/bash\n"
                             "agent:x:1002:1002::/second:\n"
                             "twin:x:1000:5::/home/twin:\n"
                             "1234:x:77:78::/seven:\n"
                             "homeless:x:88:88\n"
                             "last:x:90:91::/last:/bin/sh";
static const char group[] = "root:x:0:\n"
                            "wheel:x:10:root,agent\n"
                            "docker:x:999:agent\n"
                            "agents:x:998:agent2,xagent\n"
                            "bad:x:x:agent\n"
                            "last:x:91:other,agent";

static const struct {
    const char *spec;
    const char *expected; /* uid gid home groups; "-" for refused */
} cases[] = {
    {"", "0 0 /root 0 10"},
    {"root", "0 0 /root 0 10"},
    {"0", "0 0 /root 0 10"},
    {"agent", "1000 1001 /home/agent 1001 10 999 91"},
    {"1000", "1000 1001 /home/agent 1001 10 999 91"},
    {"agent:docker", "1000 999 /home/agent 999"},
    {"agent:4321", "1000 4321 /home/agent 4321"},
    {"agent:", "1000 1001 /home/agent 1001 10 999 91"},
    {"twin", "1000 5 /home/twin 5"},
    {"33", "33 33 /var/www 33"},
    {"5555", "5555 0 / 0"},
    {"5555:6666", "5555 6666 / 6666"},
    {"5555:wheel", "5555 10 / 10"},
    {"1234", "1234 0 / 0"}, /* a number is never a name */
    {"homeless", "88 88 / 88"},
    {"last", "90 91 /last 91"},
    {"2147483647", "2147483647 0 / 0"},
    {"nobody", "-"},
    {"bad", "-"},
    {"#", "-"},
    {"agent:nogroup", "-"},
    {"2147483648", "-"},
    {"99999999999999999999", "-"},
    {"-1", "-"},
    {"1000:-1", "-"},
    {"1000:2147483648", "-"},
    {"0x10", "-"},
    {" 1", "-"},
};

static void describe(const char *spec, const char *passwd_text, const char *group_text, char *text, size_t size) {
    struct identity identity;
    if (!identity_find(spec, passwd_text, group_text, &identity)) {
        snprintf(text, size, "-");
        return;
    }
    int length = snprintf(text, size, "%u %u %s", identity.uid, identity.gid, identity.home);
    for (int i = 0; i < identity.group_count; i++)
        length += snprintf(text + length, size - (size_t)length, " %u", identity.groups[i]);
}

int main(void) {
    char found[256];
    int failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        describe(cases[i].spec, passwd, group, found, sizeof found);
        if (strcmp(found, cases[i].expected) != 0) {
            printf("user '%s': expected '%s', got '%s'\n", cases[i].spec, cases[i].expected, found);
            failures++;
        }
    }
    describe("1000", NULL, NULL, found, sizeof found); /* an image without these files */
    if (strcmp(found, "1000 0 / 0") != 0)
        failures++;
    printf("identity: %zu cases, %d failed\n", sizeof cases / sizeof *cases + 1, failures);
    return failures != 0;
}
