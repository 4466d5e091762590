#define _GNU_SOURCE
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "egress.h"

enum { MOST_NETWORKS = 64, TRIES = 600, PAUSE_US = 50000 };

/* A packet for nowhere, sent out by an interface whatever the routes say. */
static bool gets_out(const char *interface) {
    struct sockaddr_in nowhere = {.sin_family = AF_INET, .sin_port = htons(9)};
    nowhere.sin_addr.s_addr = htonl(0xc0000201); /* 192.0.2.1 (RFC 5737) */
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool bound = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface, strlen(interface) + 1) == 0;
    ssize_t sent = bound ? sendto(fd, "", 1, MSG_DONTWAIT, (struct sockaddr *)&nowhere, sizeof nowhere) : -1;
    bool refused = bound && sent < 0 && errno == EPERM;
    if (fd >= 0)
        close(fd);
    return !refused;
}

static bool is_tight(void) {
    struct ifaddrs *all;
    bool tight = true;
    if (getifaddrs(&all) != 0)
        return false;
    for (struct ifaddrs *one = all; one && tight; one = one->ifa_next)
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET && !(one->ifa_flags & IFF_LOOPBACK))
            tight = !gets_out(one->ifa_name);
    freeifaddrs(all);
    return tight;
}

/* Who asks for a host by its name comes to the gateway, without knowing of it. */
static bool name_hosts(const char *gateway_name, char **hosts, int count) {
    struct addresses found;
    int tries = 0;
    while (!resolve(gateway_name, &found)) {
        if (++tries == TRIES) {
            fprintf(stderr, "the egress gateway has no address\n");
            return false;
        }
        usleep(PAUSE_US);
    }
    struct in_addr address = {.s_addr = htonl(found.list[0])};
    FILE *file = fopen("/etc/hosts", "ae");
    for (int i = 0; file && i < count; i++)
        fprintf(file, "%s\t%s\n", inet_ntoa(address), hosts[i]);
    if (file && fclose(file) == 0)
        return true;
    perror("/etc/hosts");
    return false;
}

int seal(const char *gateway_name, char **hosts, int count) {
    struct subnet local[MOST_NETWORKS];
    int networks = local_subnets(local, MOST_NETWORKS);
    if (networks < 0) {
        fprintf(stderr, "the networks of this container cannot be read, or are too many\n");
        return 1;
    }
    if (!filter_install(local, networks))
        return 1;
    if (!is_tight()) {
        fprintf(stderr, "the nftables filter is in place but lets packets out\n");
        return 1;
    }
    return count == 0 || name_hosts(gateway_name, hosts, count) ? 0 : 1;
}
