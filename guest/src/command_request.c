#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command.h"
#include "guest.h"
#include "limits.h"
#include "oom.h"
#include "transport.h"
#include "tree.h"

struct text_list {
    char **items;
    size_t count;
    size_t capacity;
};

static void list_add(struct text_list *list, char *item) {
    if (list->count + 2 > list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 16;
        list->items = must_realloc(list->items, list->capacity * sizeof *list->items);
    }
    list->items[list->count++] = item;
    list->items[list->count] = NULL;
}

/* `assignment` replaces an earlier one of the same name. */
static void environment_set(struct text_list *list, char *assignment) {
    size_t name = strcspn(assignment, "=") + 1;
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->items[i], assignment, name) == 0) {
            free(list->items[i]);
            list->items[i] = assignment;
            return;
        }
    list_add(list, assignment);
}

static char *absolute_cwd(char *given) {
    if (!given || !*given) {
        free(given);
        return guest.cwd ? must_copy(guest.cwd) : NULL;
    }
    if (given[0] == '/' || !guest.cwd)
        return given;
    size_t size = strlen(guest.cwd) + strlen(given) + 2;
    char *joined = must_alloc(size);
    snprintf(joined, size, "%s/%s", guest.cwd, given);
    free(given);
    return joined;
}

static bool take_text(struct command *command, const struct field *field, struct text_list *arguments, struct text_list *environment) {
    struct launch *launch = &command->launch;
    char *text = field_text(field);
    if (!text || arguments->count + environment->count > ARGUMENTS_MAX)
        return false;
    char **target = field->tag == FIELD_USER ? &launch->user : field->tag == FIELD_CWD ? &launch->cwd : NULL;
    if (field->tag == FIELD_ARGUMENT) {
        list_add(arguments, text);
    } else if (field->tag == FIELD_ENV && strchr(text, '=') && *text != '=') {
        environment_set(environment, text);
    } else if (target) {
        free(*target);
        *target = text;
    } else {
        free(text);
        return false;
    }
    return true;
}

static void take_number(struct command *command, const struct field *field) {
    uint64_t value = field_number(field);
    switch (field->tag) {
    case FIELD_DEADLINE_MS:
        command->deadline_ms = value;
        break;
    case FIELD_STDOUT_CAP:
    case FIELD_STDERR_CAP:
        command->outputs[field->tag - FIELD_STDOUT_CAP].ring.cap = value < OUTPUT_CAP_MAX ? value : OUTPUT_CAP_MAX;
        break;
    case FIELD_STREAM:
        command->streamed = value;
        break;
    case FIELD_STDIN:
        command->input_streamed = value;
        break;
    case FIELD_ROWS:
        command->rows = (uint16_t)value;
        command->launch.pty = true;
        break;
    case FIELD_COLUMNS:
        command->columns = (uint16_t)value;
        command->launch.pty = true;
        break;
    case FIELD_CREDIT:
        command->outputs[0].credit = command->outputs[1].credit = (int64_t)value;
        break;
    case FIELD_STRICT:
        command->launch.strict = value;
        break;
    case FIELD_KILL_TREE:
        command->kill_tree = value;
        break;
    case FIELD_GRACE_MS:
        command->grace_ms = (uint32_t)value;
        break;
    }
}

static bool parse(struct command *command, const struct frame *frame) {
    struct text_list arguments = {0}, environment = {0};
    struct fields fields;
    struct field field;
    bool good = true;
    environment.items = must_alloc(sizeof *environment.items);
    for (size_t i = 0; guest.environment && guest.environment[i]; i++)
        environment_set(&environment, must_copy(guest.environment[i]));
    fields_begin(&fields, frame->payload, frame->length);
    while (good && fields_next(&fields, &field)) {
        if (field.tag <= FIELD_USER)
            good = take_text(command, &field, &arguments, &environment);
        else
            take_number(command, &field);
    }
    command->launch.arguments = arguments.items;
    command->launch.environment = environment.items;
    if (fields.bad)
        _exit(65);
    return good && arguments.count > 0;
}

static struct command *command_new(uint32_t id) {
    struct command *command = must_alloc(sizeof *command);
    command->id = id;
    command->grace_ms = GRACE_DEFAULT_MS;
    command->control.fd = command->input.watch.fd = -1;
    for (int i = 0; i < 2; i++) {
        command->outputs[i].watch.fd = -1;
        command->outputs[i].ring.cap = OUTPUT_CAP_DEFAULT;
    }
    command->launch.local = guest.local;
    command->launch.groups = guest.groups;
    command->launch.group_count = guest.group_count;
    command->launch.descriptors = guest.descriptors;
    return command;
}

void command_request_run(const struct frame *frame) {
    if (command_find(frame->id))
        _exit(65);
    struct command *command = command_new(frame->id);
    bool good = parse(command, frame);
    if (!good) {
        command_answer_failure(frame->id, ERROR_INVALID, EINVAL);
        command_free(command);
        return;
    }
    if (!command->launch.user && guest.user)
        command->launch.user = must_copy(guest.user);
    command->launch.cwd = absolute_cwd(command->launch.cwd);
    command->name = must_copy(command->launch.arguments[0]);
    command->oom_kills_before = oom_kills();
    if (!command_spawn(command)) {
        command_answer_failure(frame->id, ERROR_RESOURCE, errno);
        command_free(command);
        return;
    }
    command->next = commands;
    commands = command;
}

void command_request_kill(const struct frame *frame) {
    struct fields fields;
    struct field field;
    uint64_t target = 0, number = 0, grace = 0;
    fields_begin(&fields, frame->payload, frame->length);
    while (fields_next(&fields, &field)) {
        uint64_t value = field_number(&field);
        *(field.tag == FIELD_TARGET ? &target : field.tag == FIELD_SIGNAL ? &number : &grace) = value;
    }
    struct command *command = command_find((uint32_t)target);
    if (!command || number || command->tree_gone) {
        if (command && !command->tree_gone && number < 65 && command->control.fd >= 0)
            command_signal(command, (int)number);
        transport_send(FRAME_RESULT, frame->id, NULL, 0);
        return;
    }
    struct kill_waiter *waiter = must_alloc(sizeof *waiter);
    *waiter = (struct kill_waiter){command->waiters, frame->id};
    command->waiters = waiter;
    command_kill(command, (uint32_t)grace);
    command_step(command);
}

void command_request_resize(const struct frame *frame) {
    struct command *command = command_find(frame->id);
    struct fields fields;
    struct field field;
    if (!command || !command->launch.pty || command->outputs[0].watch.fd < 0)
        return;
    struct winsize size = {.ws_row = command->rows, .ws_col = command->columns};
    fields_begin(&fields, frame->payload, frame->length);
    while (fields_next(&fields, &field))
        *(field.tag == FIELD_ROWS ? &size.ws_row : &size.ws_col) = (unsigned short)field_number(&field);
    ioctl(command->outputs[0].watch.fd, TIOCSWINSZ, &size);
}

void command_request_list(const struct frame *frame) {
    struct writer writer = {0};
    for (struct command *command = commands; command; command = command->next) {
        struct process *found;
        size_t count = command->supervisor_reaped ? 0 : tree_below(command->supervisor, NULL, 0, &found);
        if (count == 0)
            continue;
        writer_number(&writer, FIELD_TARGET, command->id);
        writer_text(&writer, FIELD_ARGUMENT, command->name);
        for (size_t i = 0; i < count; i++)
            if (found[i].state != 'Z')
                writer_number(&writer, FIELD_PID, (uint64_t)found[i].pid);
        free(found);
    }
    transport_send_fields(FRAME_RESULT, frame->id, &writer);
}
