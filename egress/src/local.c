#define _GNU_SOURCE
#include <ifaddrs.h>
#include <net/if.h>
#include <arpa/inet.h>

#include "egress.h"

int local_subnets(struct subnet *list, int max) {
    struct ifaddrs *all;
    int count = 0;
    if (getifaddrs(&all) != 0)
        return -1;
    for (struct ifaddrs *one = all; one; one = one->ifa_next) {
        if (!one->ifa_addr || !one->ifa_netmask || one->ifa_addr->sa_family != AF_INET)
            continue;
        if (one->ifa_flags & IFF_LOOPBACK)
            continue;
        if (count == max) {
            count = -1;
            break;
        }
        uint32_t mask = ntohl(((struct sockaddr_in *)one->ifa_netmask)->sin_addr.s_addr);
        uint32_t address = ntohl(((struct sockaddr_in *)one->ifa_addr)->sin_addr.s_addr);
        list[count++] = (struct subnet){.address = address & mask, .mask = mask};
    }
    freeifaddrs(all);
    return count;
}
