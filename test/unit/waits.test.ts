import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Where a wait of a known shape stands although nothing there bounds or ends it, and what does. */
const ALLOWED: Readonly<Record<string, string>> = {
  'agent/providers/patient-fetch.ts: fetch(String(input), { ...(init as RequestInit), dispatcher:':
    'the signal is in what the caller passes on',
  'limit/limiter.ts: new Promise<void>((release) => { unfollow() resolve(slot(rel':
    'the job of a slot, which ends when its holder gives it back',
  'run/dispatch/run-control.ts: new Promise<void>((resolve) => { end = resolve })':
    'an operator holds a sample; whoever waits does so up to its own signal',
  'run/dispatch/sample-slots.ts: new Promise<void>((resolve) => absence.resume.push(resolve))':
    'comes when a slot is free, and with the end of the eval',
  'sandbox/docker/events/event-stream.ts: for await of jsonLines<EngineEvent>(stream)':
    'follows the engine for as long as it is used; what is lost is looked for every 30 s',
  'sandbox/docker/events/lasting-pause.ts: new Promise((resolve) => { const off = watch.onPause(() => {':
    'nobody waits for it: a command that a pause outlived is killed then',
  'sandbox/docker/exec/byte-queue.ts: new Promise<void>((resolve) => { this.#wake = resolve })':
    'the queue ends with its command',
  'sandbox/docker/exec/command.ts: new Promise<never>(() => undefined)':
    'loses a race with the end of the command, which its stream, a deadline or an abort brings',
  'sandbox/docker/exec/spawn-command.ts: new Promise<void>((resolve) => { started = resolve })':
    'raced with the end of the command, whose launch has a deadline',
  'sandbox/docker/files/safe-extract.ts: for await of entries':
    'the source is a command with a deadline, which ends it',
  'sandbox/docker/files/safe-extract.ts: for await of entry': 'as that of the archive it is in',
  'sandbox/docker/image/json-lines.ts: for await of lines(stream)': 'whoever reads it bounds the stream',
  'sandbox/docker/image/json-lines.ts: for await of stream': 'whoever reads it bounds the stream',
  "sandbox/docker/ownership/anchor-container.ts: new Promise((resolve) => socket.once('close', resolve))":
    'raced with the release of the anchor',
  'sandbox/docker/ownership/reaper/main.ts: for await of createInterface({ input: process.stdin })':
    'to wait for the end of its run is all that a reaper is there for',
  'sandbox/guest/connection.ts: new Promise((resolve) => { this.#settleLost = resolve })':
    'heartbeats find out when a guest is lost',
  'sandbox/guest/flow.ts: new Promise<void>((resolve) => { this.#wake = resolve })':
    'ends with its exchange, at the latest when the guest is lost',
  "sandbox/local/local-sandbox.ts: new Promise((resolve) => parts.child.once('exit', resolve))":
    'the child is killed when it takes long',
  'sandbox/relay/listen.ts: new Promise<void>((resolve) => { this.#begun = resolve })':
    'raced with the end of the relay, which the signal ends',
}

/** Logs are files of this machine, commands wait for people, and what is for tests is no part of a run. */
const ELSEWHERE = /^(log|cli|testing)\//

const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !ELSEWHERE.test(name),
)

function parsed(file: string): ts.SourceFile {
  return ts.createSourceFile(
    file,
    readFileSync(join(ROOT, 'src', file), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  )
}

function each(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node)
  node.forEachChild((child) => each(child, visit))
}

function within(node: ts.Node, holds: (node: ts.Node) => boolean): boolean {
  for (let at: ts.Node | undefined = node.parent; at; at = at.parent) if (holds(at)) return true
  return false
}

const isCallOf = (node: ts.Node, name: string): node is ts.CallExpression =>
  ts.isCallExpression(node) && node.expression.getText() === name
const functionOf = (node: ts.Node): ts.Node => {
  let at = node
  while (at.parent && !ts.isFunctionLike(at)) at = at.parent
  return at
}
const snippet = (node: ts.Node) => node.getText().replace(/\s+/g, ' ').slice(0, 60)

/** Can only be resolved, by something outside: when that does not come, whoever waits does so for ever. */
function onlyResolves(node: ts.Node): string | undefined {
  if (!ts.isNewExpression(node) || node.expression.getText() !== 'Promise') return undefined
  const text = node.getText()
  return /setTimeout|signal|reject|fail\b/i.test(text) ? undefined : snippet(node)
}

/** `once` of node:events without its options, where a signal would be. */
function onceWithoutSignal(node: ts.Node): string | undefined {
  if (!isCallOf(node, 'once') || node.arguments.length > 2) return undefined
  return node.getSourceFile().text.includes("from 'node:events'") ? snippet(node) : undefined
}

/** Of the engine, which can fall silent; what a command prints ends with the command. */
function streamLoop(node: ts.Node): string | undefined {
  if (!ts.isForOfStatement(node) || !node.awaitModifier) return undefined
  if (!node.getSourceFile().fileName.startsWith('sandbox/docker/')) return undefined
  const around = functionOf(node).getText()
  if (/setTimeout|silence/.test(around) || within(node, (at) => isCallOf(at, 'call'))) return undefined
  return `for await of ${snippet(node.expression)}`
}

/** An engine's method outside `call`, which gives it its deadline. */
function engineCall(node: ts.Node): string | undefined {
  if (!ts.isAwaitExpression(node) || !ts.isCallExpression(node.expression)) return undefined
  const callee = node.expression.expression.getText()
  if (!/\b(control|streams|exec|modem)\.\w+$|\bget(Container|Network|Volume|Image|Exec)\(/.test(callee))
    return undefined
  return within(node, (at) => isCallOf(at, 'call')) ? undefined : snippet(node)
}

/** A program that runs for as long as it likes. */
function program(node: ts.Node): string | undefined {
  if (!isCallOf(node, 'execFile')) return undefined
  return /\btimeout\b/.test(functionOf(functionOf(node).parent ?? node).getText()) ? undefined : snippet(node)
}

function request(node: ts.Node): string | undefined {
  return isCallOf(node, 'fetch') && !/signal/.test(node.getText()) ? snippet(node) : undefined
}

/** A turn that cannot be given up. */
function slot(node: ts.Node): string | undefined {
  if (!ts.isCallExpression(node) || !/(limiter|starts)\.acquire$/i.test(node.expression.getText()))
    return undefined
  return /signal|options/.test(node.arguments.map((one) => one.getText()).join()) ? undefined : snippet(node)
}

const SHAPES = [onlyResolves, onceWithoutSignal, streamLoop, engineCall, program, request, slot]

function waitsIn(source: ts.SourceFile): string[] {
  const all: string[] = []
  each(source, (node) => all.push(...SHAPES.flatMap((shape) => shape(node) ?? [])))
  return all
}

it('no wait is unbounded and unabortable, but for those that something else ends', {
  timeout: 60_000,
}, () => {
  const found = sources.flatMap((file) => waitsIn(parsed(file)).map((wait) => `${file}: ${wait}`))
  expect([...new Set(found)].sort()).toEqual(Object.keys(ALLOWED).sort())
})

it.each([
  ['a promise that can only be resolved', 'await new Promise((resolve) => socket.on("end", resolve))'],
  ['an event without a signal', "import { once } from 'node:events'\nawait once(child, 'exit')"],
  [
    'a stream of the engine that nobody bounds',
    'async () => { for await (const line of stream) take(line) }',
  ],
  ['a call of the engine without a deadline', 'await engine.control.getContainer(id).inspect()'],
  ['a program without a deadline', "execFile('docker', [], { signal }, done)"],
  ['a request without a signal', 'await fetch(url)'],
  ['a turn that cannot be given up', 'await this.#limiter.acquire({ group })'],
])('%s would be found', (_what, code) => {
  const source = ts.createSourceFile('sandbox/docker/x.ts', code, ts.ScriptTarget.Latest, true)
  expect(waitsIn(source)).toHaveLength(1)
})
