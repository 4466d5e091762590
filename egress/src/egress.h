#ifndef EGRESS_H
#define EGRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_MAX_LENGTH 253

/* Addresses are in host byte order throughout. */
struct subnet {
    uint32_t address, mask;
};

struct addresses {
    int count;
    uint32_t list[16];
};

/* allow.c: what is on the list */
void allow_set(char **patterns, int count);
bool allow_name(const char *name);
/* Whether a connection may go to an address: by_name, it is what an allowed name resolved to. */
bool allow_address(uint32_t address, bool by_name);
/* Lower case, no dot at the end; false for what is no host name. */
bool normal_name(char *name);
bool parse_address(const char *text, uint32_t *address);

/* local.c: the subnets that this network namespace is on, without loopback */
int local_subnets(struct subnet *list, int max);

/* resolve.c: asks the resolver of /etc/resolv.conf */
bool resolve(const char *name, struct addresses *found);

/* io.c */
void deadline_set(int seconds);
bool write_all(int fd, const void *data, size_t length);
bool write_text(int fd, const char *text);
/* 0 at the end, -1 when the deadline has passed or the peer is lost. */
long read_some(int fd, void *buffer, size_t size);
int connect_address(uint32_t address, uint16_t port);
void relay(int client, int upstream);

/* outward.c: a connection to a host that is allowed; says why not */
enum outward_failure { OUTWARD_DENIED = -1, OUTWARD_UNRESOLVED = -2, OUTWARD_UNREACHABLE = -3 };
int outward_connect(char *host, uint16_t port);

/* http.c and tls.c: serve one client */
void serve_proxy(int client);
void serve_http(int client);
void serve_tls(int client);

/* gateway.c */
int gateway(void);
int gateway_ready(void);

/* seal.c and filter.c */
int seal(const char *gateway_name, char **hosts, int count);
bool filter_install(const struct subnet *local, int count);

#endif
