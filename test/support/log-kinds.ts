import { FakeProvider } from 'belljar/testing'
import { z } from 'zod'
import { toolLoop } from '../../src/agent/loop/tool-loop.ts'
import { scriptedModel } from '../../src/agent/scripted-model.ts'
import { defineTool, ToolCallError } from '../../src/agent/tool.ts'
import { bash } from '../../src/agent/tools/bash.ts'
import { submit } from '../../src/agent/tools/submit.ts'
import { evaluate } from '../../src/run/evaluate.ts'
import type { EvaluateOptions } from '../../src/run/options.ts'
import { exact } from '../../src/score/exact.ts'
import { includes } from '../../src/score/includes.ts'
import { SampleSource } from '../../src/task/sample-source.ts'
import type { Task } from '../../src/task/task.ts'
import { fakeTask } from './fake-run.ts'

/** Whatever a log may have to hold that is not plain text. */
export const HOSTILE = {
  control: '\u0000\u001b[31m\u202e</script>',
  surrogate: 'a\ud800b',
  long: 'ä'.repeat(5000),
  huge: 2n ** 90n,
  notANumber: Number.NaN,
  infinite: Number.POSITIVE_INFINITY,
  nothing: null,
}

const agentOf = (output: string) => async () => output

const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  parameters: z.object({}),
  execute: () => Promise.reject(new ToolCallError('not-found', 'there is no such thing')),
})

const ANSWERS = [
  {
    toolCalls: [{ name: 'bash', arguments: { command: 'ls -l /' } }],
    usage: { inputTokens: 5, outputTokens: 7 },
  },
  {
    toolCalls: [
      { name: 'fail', arguments: {} },
      { name: 'none', arguments: {} },
    ],
  },
  {
    toolCalls: [{ name: 'submit', arguments: { answer: '42' } }],
    usage: { inputTokens: 9, outputTokens: 1 },
  },
]

/** A PNG of one pixel. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const look = defineTool({
  name: 'look',
  description: 'Shows the screen.',
  parameters: z.object({}),
  execute: async () => [
    { type: 'text', text: 'the screen:' },
    { type: 'image', data: PIXEL, mediaType: 'image/png' },
  ],
})

interface Kind {
  readonly task: () => Task
  readonly options?: () => EvaluateOptions
}

/** A log of every kind: how a run of it is made. */

export const KINDS: Readonly<Record<string, Kind>> = {
  success: {
    task: () =>
      fakeTask({
        name: 'success',
        dataset: [
          {
            id: 'a',
            input: 'one',
            target: '1',
            metadata: HOSTILE,
            choices: ['1', '2'],
            files: { '/f': 'x' },
          },
          { id: '../b/ü', input: 'two', target: ['2', 'zwei'], setup: 'true' },
          { id: 3, input: 'x'.repeat(6000) },
        ],
        agent: agentOf('1'),
        scorers: [exact(), includes()],
        tags: ['t1'],
        metadata: { suite: 'interop' },
      }),
  },
  tools: {
    task: () =>
      fakeTask({
        name: 'tools',
        dataset: [{ input: 'What is there?', target: '42' }],
        agent: toolLoop({ tools: [bash(), fail, submit()], system: 'Be brief.' }),
        scorers: [exact()],
      }),
    options: () => ({
      model: scriptedModel(ANSWERS),
      providers: {
        fake: async () => new FakeProvider({ exec: () => ({ stdout: 'line of output\n'.repeat(500) }) }),
      },
    }),
  },
  error: {
    task: () =>
      fakeTask({
        name: 'error',
        dataset: ['good', 'bad'].map((input) => ({ input, target: 'good' })),
        agent: async ({ sample }) => {
          if (sample.input === 'bad') throw new Error('the agent broke')
          return sample.input
        },
        scorers: [exact()],
        maxSamples: 1,
      }),
  },
  'error-kept': {
    task: () =>
      fakeTask({
        name: 'error-kept',
        dataset: ['good', 'bad'].map((input) => ({ input, target: 'good' })),
        agent: async ({ sample }) => {
          if (sample.input === 'bad') throw new Error('the agent broke')
          return sample.input
        },
        scorers: [exact()],
        failOnError: false,
        retryOnError: 1,
      }),
  },
  'error-scored': {
    task: () =>
      fakeTask({
        name: 'error-scored',
        dataset: ['good', 'bad'].map((input) => ({ input, target: input })),
        agent: async ({ sample, state }) => {
          state.output = sample.input
          if (sample.input === 'bad') throw new Error('the agent broke')
        },
        scorers: [exact()],
        failOnError: false,
        scoreOnError: true,
      }),
  },
  limit: {
    task: () =>
      fakeTask({
        name: 'limit',
        dataset: [{ input: 'again and again', target: '1' }],
        agent: toolLoop({ tools: [bash()] }),
        scorers: [exact()],
        limits: { turns: 2 },
      }),
    options: () => ({ model: scriptedModel(() => ANSWERS[0]!) }),
  },
  cancelled: {
    task: () =>
      fakeTask({
        name: 'cancelled',
        dataset: [{ input: 'forever' }],
        agent: ({ signal }) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
        scorers: [exact()],
      }),
    options: () => {
      const controller = new AbortController()
      return {
        signal: controller.signal,
        onEvent: (event) => {
          if (event.type === 'sample-phase' && event.phase === 'agent') setImmediate(() => controller.abort())
        },
      }
    },
  },
  unscored: {
    task: () =>
      fakeTask({
        name: 'unscored',
        dataset: [{ input: 'a' }, { input: 'b' }],
        scorers: [{ name: 'silent', score: async () => null }],
      }),
  },
  'no-scorers': { task: () => fakeTask({ name: 'no scorers', dataset: [{ input: 'a' }], sandbox: false }) },
  epochs: {
    task: () =>
      fakeTask({
        name: 'epochs',
        dataset: [1, 2, 3].map((n) => ({ input: `${n}`, target: '1' })),
        agent: async ({ sample }) => sample.input,
        scorers: [exact()],
        epochs: 3,
      }),
  },
  dynamic: {
    task: () =>
      fakeTask({
        name: 'dynamic',
        dataset: () =>
          SampleSource.fromSamples([{ id: 's1', input: '1', target: '1' }], {
            sampleComplete: async ({ input }) =>
              Number(input) < 5
                ? [{ id: `s${Number(input) + 1}`, input: `${Number(input) + 1}`, target: '1' }]
                : null,
          }),
        agent: async ({ sample }) => sample.input,
        scorers: [exact()],
      }),
  },
  media: {
    task: () =>
      fakeTask({
        name: 'media',
        dataset: [
          {
            input: [
              { type: 'text', text: `What is this? ${'Look closely. '.repeat(20)}` },
              { type: 'image', data: `data:image/png;base64,${PIXEL}`, detail: 'low' },
              {
                type: 'document',
                data: Buffer.from('a,b\n1,2\n'),
                mediaType: 'text/csv',
                filename: 'table.csv',
              },
              { type: 'audio', data: Buffer.from('RIFF\0\0\0\0WAVEfmt ') },
              { type: 'video', data: Buffer.from('\0\0\0\x18ftypisom') },
            ],
            target: 'a pixel',
          },
        ],
        agent: toolLoop({ tools: [look, submit()] }),
        scorers: [exact()],
      }),
    options: () => ({
      model: scriptedModel([{ toolCalls: [{ name: 'look', arguments: {} }] }, ANSWERS[2]!]),
    }),
  },
  empty: {
    task: () => fakeTask({ name: 'empty', dataset: () => SampleSource.fromSamples([]), scorers: [exact()] }),
  },
}

/** Runs one kind; the path of its log. */
export async function logOfKind(name: string, logDir: string): Promise<string> {
  const kind = KINDS[name]!
  const { evals } = await evaluate(kind.task(), {
    providers: { fake: async () => new FakeProvider() },
    ...kind.options?.(),
    logDir,
  })
  return evals[0]!.log
}
