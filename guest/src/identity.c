#define _GNU_SOURCE
#include "identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire.h"

#define ID_MAX 2147483647L

/* Takes the next part of `*text` up to `separator`, in place; NULL at the end. */
static char *next_part(char **text, char separator) {
    char *part = *text;
    if (!part)
        return NULL;
    char *end = strchr(part, separator);
    *text = end ? end + 1 : NULL;
    if (end)
        *end = 0;
    return part;
}

static bool parse_id(const char *text, long *id) {
    if (!text || !*text || strspn(text, "0123456789") != strlen(text))
        return false;
    errno = 0;
    long value = strtol(text, NULL, 10);
    if (errno != 0 || value > ID_MAX)
        return false;
    *id = value;
    return true;
}

struct account {
    const char *name;
    const char *home;
    const char *members;
    long id;
    long gid;
};

static bool parse_user(char *line, struct account *account) {
    char *parts[7] = {0};
    for (int i = 0; i < 7; i++)
        parts[i] = next_part(&line, ':');
    account->name = parts[0];
    account->home = parts[5] ? parts[5] : "";
    account->gid = 0;
    return parse_id(parts[2], &account->id) && (!parts[3] || parse_id(parts[3], &account->gid));
}

static bool parse_group(char *line, struct account *account) {
    char *parts[4] = {0};
    for (int i = 0; i < 4; i++)
        parts[i] = next_part(&line, ':');
    account->name = parts[0];
    account->members = parts[3] ? parts[3] : "";
    return parse_id(parts[2], &account->id);
}

static bool is_member(const char *members, const char *name) {
    size_t length = strlen(name);
    for (const char *at = members; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == 0 || at[length] == ','))
            return true;
    }
    return false;
}

static bool find_user(const char *wanted, long number, const char *passwd, struct identity *identity, char **name) {
    char *copy = must_copy(passwd ? passwd : ""), *rest = copy, *line;
    struct account account;
    bool found = false;
    while (!found && (line = next_part(&rest, '\n'))) {
        if (!parse_user(line, &account))
            continue;
        found = number >= 0 ? account.id == number : strcmp(account.name, wanted) == 0;
    }
    if (found) {
        identity->uid = (uid_t)account.id;
        identity->gid = (gid_t)account.gid;
        snprintf(identity->home, sizeof identity->home, "%s", *account.home ? account.home : "/");
        *name = must_copy(account.name);
    }
    free(copy);
    return found;
}

static void add_group(struct identity *identity, gid_t gid) {
    for (int i = 0; i < identity->group_count; i++)
        if (identity->groups[i] == gid)
            return;
    if (identity->group_count < GROUPS_MAX)
        identity->groups[identity->group_count++] = gid;
}

static long find_group(const char *wanted, const char *group) {
    char *copy = must_copy(group ? group : ""), *rest = copy, *line;
    struct account account;
    long number = -1, result = -1;
    parse_id(wanted, &number);
    while (result < 0 && (line = next_part(&rest, '\n')))
        if (parse_group(line, &account) && (number >= 0 ? account.id == number : strcmp(account.name, wanted) == 0))
            result = account.id;
    free(copy);
    return result >= 0 ? result : number;
}

static void add_memberships(const char *name, const char *group, struct identity *identity) {
    char *copy = must_copy(group ? group : ""), *rest = copy, *line;
    struct account account;
    while ((line = next_part(&rest, '\n')))
        if (parse_group(line, &account) && is_member(account.members, name))
            add_group(identity, (gid_t)account.id);
    free(copy);
}

bool identity_find(const char *spec, const char *passwd, const char *group, struct identity *identity) {
    memset(identity, 0, sizeof *identity);
    strcpy(identity->home, "/");
    char *user = must_copy(spec), *name = NULL;
    char *group_part = strchr(user, ':');
    if (group_part)
        *group_part++ = 0;
    long number = *user ? -1 : 0, gid = 0;
    if (*user)
        parse_id(user, &number);
    bool found = find_user(user, number, passwd, identity, &name);
    if (!found && number >= 0)
        identity->uid = (uid_t)number;
    found = found || number >= 0;
    if (found && group_part && *group_part) {
        gid = find_group(group_part, group);
        found = gid >= 0;
        identity->gid = (gid_t)gid;
        add_group(identity, identity->gid);
    } else if (found) {
        add_group(identity, identity->gid); /* the Engine does since CVE-2022-36109 */
        if (name)
            add_memberships(name, group, identity);
    }
    free(name);
    free(user);
    return found;
}

static char *read_account_file(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(fd);
        return NULL;
    }
    size_t length = 0, capacity = 8192;
    char *text = must_alloc(capacity);
    ssize_t got;
    while (length < ACCOUNT_FILE_MAX && (got = read(fd, text + length, capacity - length - 1)) > 0) {
        length += (size_t)got;
        if (capacity - length < 2)
            text = must_realloc(text, capacity *= 2);
    }
    text[length] = 0;
    close(fd);
    return text;
}

bool identity_resolve(const char *spec, const gid_t *extra, int extra_count, struct identity *identity) {
    char *passwd = read_account_file("/etc/passwd"), *group = read_account_file("/etc/group");
    bool found = identity_find(spec, passwd, group, identity);
    for (int i = 0; i < extra_count; i++)
        add_group(identity, extra[i]);
    free(passwd);
    free(group);
    return found;
}

long identity_group(const char *name) {
    char *group = read_account_file("/etc/group");
    long gid = find_group(name, group);
    free(group);
    return gid;
}
