import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { z } from 'zod'
import { toolLoop } from '../src/agent/loop/tool-loop.ts'
import { scriptedModel } from '../src/agent/scripted-model.ts'
import { defineTool, type Tool } from '../src/agent/tool.ts'
import { bash } from '../src/agent/tools/bash.ts'
import { evaluate } from '../src/run/evaluate.ts'
import { docker } from '../src/sample/sandbox-spec.ts'
import { defineTask, type TaskDefinition } from '../src/task/task.ts'
import { type BenchRow, median } from './table.ts'

const IMAGE = 'debian:bookworm-slim'
const SAMPLES = 200
const TURNS = 20
const AT_ONCE = 64
const LONG_TURNS = 2000
const MIB = 1024 ** 2

/** A tool that does nothing, for what a turn costs without a sandbox. */
const idle = defineTool({
  name: 'bash',
  description: 'Runs a command.',
  parameters: z.object({ command: z.string() }),
  execute: () => 'done',
})

/** Answers at once: so many calls of the tool, then a text. */
const instant = (turns: number, onTurn?: (turn: number) => void) =>
  scriptedModel(({ messages }) => {
    const turn = (messages.length - 1) / 2
    onTurn?.(turn)
    if (turn >= turns) return 'done'
    return { text: `turn ${turn}`, toolCalls: [{ name: 'bash', arguments: { command: 'true' } }] }
  })

interface Load {
  readonly tool: Tool
  readonly samples: number
  readonly turns: number
  readonly atOnce: number
  readonly sandbox: TaskDefinition['sandbox']
  readonly onTurn?: (turn: number) => void
}

interface Outcome {
  /** Of the agents alone, in milliseconds. */
  readonly agentMs: number[]
  readonly delayP99Ms: number
}

async function runLoad({ tool, samples, turns, atOnce, sandbox, onTurn }: Load): Promise<Outcome> {
  const directory = await mkdtemp(join(tmpdir(), 'belljar-bench-'))
  const delay = monitorEventLoopDelay({ resolution: 5 })
  const agentMs: number[] = []
  const task = defineTask({
    name: 'agent',
    dataset: Array.from({ length: samples }, (_, index) => ({ id: index, input: 'go' })),
    sandbox,
    agent: toolLoop({ tools: [tool] }),
    maxSamples: atOnce,
  })
  try {
    delay.enable()
    const { evals } = await evaluate(task, {
      model: instant(turns, onTurn),
      logDir: directory,
      maxSandboxes: atOnce,
      onEvent: (event) => {
        if (event.type !== 'sample-end') return
        const { durationMs = Number.NaN } = event.record.phases.find(({ name }) => name === 'agent') ?? {}
        agentMs.push(durationMs)
      },
    })
    if (evals[0]?.status !== 'success') throw new Error(`the run ended as ${evals[0]?.footer.error?.message}`)
    return { agentMs, delayP99Ms: delay.percentile(99) / 1e6 - 5 }
  } finally {
    delay.disable()
    await rm(directory, { recursive: true })
  }
}

const row = (name: string, metric: string, value: number, unit: string): BenchRow => ({
  bench: 'agent',
  case: name,
  metric,
  value,
  unit,
})

async function turnCost(name: string, load: Omit<Load, 'turns'>): Promise<BenchRow[]> {
  const { agentMs, delayP99Ms } = await runLoad({ ...load, turns: TURNS })
  return [
    row(name, 'one turn, median of samples', median(agentMs) / TURNS, 'ms'),
    row(name, 'event-loop delay, p99', delayP99Ms, 'ms'),
  ]
}

/** Heap in use in the second half of one long sample: how much it grows by turn. */
async function memory(): Promise<BenchRow[]> {
  const used: number[] = []
  const onTurn = (turn: number) => {
    if (turn % 200 !== 0) return
    globalThis.gc?.()
    used.push(process.memoryUsage().heapUsed / MIB)
  }
  const load = { tool: idle, samples: 1, turns: LONG_TURNS, atOnce: 1, sandbox: false as const, onTurn }
  const { agentMs } = await runLoad(load)
  const name = `1 sample of ${LONG_TURNS} turns`
  return [
    row(name, 'one turn', median(agentMs) / LONG_TURNS, 'ms'),
    row(name, 'heap at the start', used[0] ?? Number.NaN, 'MiB'),
    row(name, 'heap at the end', used.at(-1) ?? Number.NaN, 'MiB'),
  ]
}

/** What a turn of an agent costs beside its model: the log included. */
export async function run(): Promise<BenchRow[]> {
  const sandbox = docker({ image: IMAGE })
  return [
    ...(await turnCost('no sandbox, 64 at once', {
      tool: idle,
      samples: SAMPLES,
      atOnce: AT_ONCE,
      sandbox: false,
    })),
    ...(await turnCost('docker, 1 at once', { tool: bash(), samples: 5, atOnce: 1, sandbox })),
    ...(await turnCost('docker, 64 at once', {
      tool: bash(),
      samples: SAMPLES,
      atOnce: AT_ONCE,
      sandbox,
    })),
    ...(await memory()),
  ]
}
