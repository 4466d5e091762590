#define _GNU_SOURCE
#include "hello.h"

#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "identity.h"
#include "limits.h"
#include "transport.h"

extern char **environ;

static bool take_text(const struct field *field, size_t *environment_count) {
    char *text = field_text(field);
    if (!text)
        return false;
    if (field->tag == FIELD_USER && *text) {
        guest.user = text;
    } else if (field->tag == FIELD_CWD && *text == '/') {
        guest.cwd = text;
    } else if (field->tag == FIELD_ENV && strchr(text, '=')) {
        guest.environment = must_realloc(guest.environment, (*environment_count + 2) * sizeof(char *));
        guest.environment[(*environment_count)++] = text;
        guest.environment[*environment_count] = NULL;
    } else if (field->tag == FIELD_GROUP) {
        long gid = identity_group(text);
        if (gid >= 0 && guest.group_count < GROUPS_MAX)
            guest.groups[guest.group_count++] = (gid_t)gid;
        free(text);
    } else {
        free(text);
    }
    return true;
}

static const char *own_uid(void) {
    static char text[16];
    snprintf(text, sizeof text, "%u", (unsigned)getuid());
    return text;
}

/* Groups of the guest that its own account does not explain: those added to the container. */
static void find_added_groups(void) {
    static gid_t groups[GROUPS_MAX];
    struct identity own;
    int count = getgroups(GROUPS_MAX, groups);
    identity_resolve(own_uid(), NULL, 0, &own);
    for (int i = 0; i < count; i++) {
        bool explained = groups[i] == getgid();
        for (int k = 0; k < own.group_count; k++)
            explained = explained || own.groups[k] == groups[i];
        if (!explained)
            guest.groups[guest.group_count++] = groups[i];
    }
}

/* The Engine sets HOME for the guest's own user, which says nothing of those that commands run as. */
static void take_own_environment(void) {
    struct identity own;
    size_t count = 0, kept = 0;
    identity_resolve(own_uid(), NULL, 0, &own);
    while (environ[count])
        count++;
    guest.environment = must_alloc((count + 1) * sizeof(char *));
    for (size_t i = 0; i < count; i++)
        if (guest.local || strncmp(environ[i], "HOME=", 5) != 0 || strcmp(environ[i] + 5, own.home) != 0)
            guest.environment[kept++] = must_copy(environ[i]);
}

bool hello_take(const struct frame *frame, uint64_t *lease_ms) {
    struct fields fields;
    struct field field;
    size_t environment_count = 0;
    bool groups_given = false;
    fields_begin(&fields, frame->payload, frame->length);
    while (fields_next(&fields, &field)) {
        groups_given = groups_given || field.tag == FIELD_GROUP;
        if (field.tag == FIELD_LEASE_MS && field_number(&field))
            *lease_ms = field_number(&field);
        else if (field.tag == FIELD_EXCLUSIVE)
            guest.exclusive = field_number(&field);
        else if (field.tag != FIELD_LEASE_MS && !take_text(&field, &environment_count))
            return false;
    }
    if (!guest.user && !guest.local)
        guest.user = must_copy(own_uid());
    if (!guest.environment)
        take_own_environment();
    if (!groups_given && !guest.local)
        find_added_groups();
    return !fields.bad;
}

void hello_answer(uint32_t id) {
    struct writer writer = {0};
    writer_number(&writer, FIELD_PID, (uint64_t)getpid());
    writer_number(&writer, FIELD_UID, getuid());
    writer_number(&writer, FIELD_GID, getgid());
    writer_number(&writer, FIELD_INIT, guest.init);
    writer_number(&writer, FIELD_LOCAL, guest.local);
    writer_number(&writer, FIELD_WINDOW, INPUT_WINDOW);
    char cwd[4096];
    if (guest.cwd || getcwd(cwd, sizeof cwd))
        writer_text(&writer, FIELD_CWD, guest.cwd ? guest.cwd : cwd);
    transport_send_fields(FRAME_WELCOME, id, &writer);
}
