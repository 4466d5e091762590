"""A small command-line agent: agent.py TASK. It asks a model for shell commands and runs them, over OpenAI's chat protocol."""
import json, os, subprocess, sys, urllib.request

TOOLS = [{"type": "function", "function": {
    "name": "shell", "description": "Runs a shell command.",
    "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}}}]


def ask(messages):
    body = json.dumps({"model": os.environ["MODEL"], "messages": messages, "tools": TOOLS}).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]


messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    message = ask(messages)
    messages.append(message)
    for call in message.get("tool_calls") or []:
        command = json.loads(call["function"]["arguments"])["command"]
        print("$", command, flush=True)
        done = subprocess.run(command, shell=True, capture_output=True, text=True)
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": done.stdout + done.stderr})
    if not message.get("tool_calls"):
        print(message["content"])
        break
