"""Reads the logs of a folder by Inspect's own reader; prints what it found as JSON, a log a line."""

import json
import sys

from inspect_ai.log import (
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample,
    read_eval_log_sample_summaries,
)


def sample_facts(sample):
    return {
        "id": sample.id,
        "epoch": sample.epoch,
        "error": sample.error.message if sample.error else None,
        "retries": len(sample.error_retries or []),
        "limit": sample.limit.type if sample.limit else None,
        "scores": {name: score.value for name, score in (sample.scores or {}).items()},
        "messages": [[message.role, len(message.text)] for message in sample.messages],
        "completion": sample.output.completion[:20],
        "events": [event.event for event in sample.events],
        "input": sample.input if isinstance(sample.input, str) else [
            [part.type, part.text if part.type == "text" else getattr(part, part.type)]
            for message in sample.input
            for part in message.content
        ],
        "media": [
            [message.role, part.type, getattr(part, part.type)]
            for message in sample.messages
            if not isinstance(message.content, str)
            for part in message.content
            if part.type != "text"
        ],
        "heard": [
            part.type
            for event in sample.events if event.event == "model"
            for message in event.input
            if message.role == "tool" and not isinstance(message.content, str)
            for part in message.content
        ],
        "inputs": [len(event.input) for event in sample.events if event.event == "model"],
        "unresolved": "attachment://" in repr(sample.model_dump()),
        "tokens": {name: usage.total_tokens for name, usage in sample.model_usage.items()},
    }


def log_facts(path):
    whole = read_eval_log(path, resolve_attachments=True)
    head = read_eval_log(path, header_only=True)
    summaries = read_eval_log_sample_summaries(path)
    for summary in summaries:
        read_eval_log_sample(path, id=summary.id, epoch=summary.epoch)
    results = whole.results
    return {
        "task": whole.eval.task,
        "status": [whole.status, head.status],
        "error": whole.error.message if whole.error else None,
        "total": results.total_samples if results else None,
        "completed": results.completed_samples if results else None,
        "metrics": {
            score.name: {name: metric.value for name, metric in score.metrics.items()}
            for score in (results.scores if results else [])
        },
        "solvers": [step.solver for step in whole.plan.steps],
        "reductions": [[r.scorer, r.reducer, len(r.samples)] for r in whole.reductions or []],
        "summaries": [[s.id, s.epoch, s.completed] for s in summaries],
        "samples": [sample_facts(sample) for sample in whole.samples or []],
    }


for info in sorted(list_eval_logs(sys.argv[1]), key=lambda info: info.name):
    print(json.dumps({"name": info.name.rsplit("/", 1)[-1], "listed": info.task, **log_facts(info.name)}))
