import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** What the peer tests of live sources and what it is known to lack, and the titles of the tests here that answer to it. */
const TABLE: readonly (readonly [theirs: string, ours: string])[] = [
  ['runs generations in one task', 'runs seed and later generations in one eval'],
  ['seed only when next is None', 'ends after the seed when the source has no more'],
  ['sample_complete chains generations', 'runs what sampleComplete returns'],
  ['empty seed pulls from next_samples', 'starts with nextSamples when the seed is empty'],
  ['a factory of seed and callbacks', 'made from samples and callbacks hands them out'],
  ['a factory of a seed runs it once', 'has no samples and no follow-ups of its own'],
  ['epochs apply to injected samples', 'gives every added sample all epochs'],
  ['explicit and auto ids', 'numbers around ids that are taken'],
  ['duplicate id errors', 'throws for a duplicate at the call'],
  ['live injection runs beside a sample in flight', 'injects live: a parked sample is released'],
  [
    'enqueue rejected outside a source task, and outside a task',
    'is refused outside a task and in a task with a fixed',
  ],
  ['limit caps total samples', 'ends a source that always has more, cutting its last batch'],
  ['limit consumed by the seed skips the source', 'does not ask a source whose seed uses it up'],
  ['limit truncates a batch', 'ends a source that always has more, cutting its last batch'],
  ['limit counts samples, not epochs', 'counts samples, not their epochs'],
  ['sample_id filters produced samples', 'filters what a source adds; an id that is not in the seed'],
  ['sample_id missing from the seed is no error', 'an id that is not in the seed is no error'],
  ['enqueue during a terminal next_samples', 'asks again after null when a sample that was enqueued'],
  [
    'sandbox startup for an added configuration',
    'are initialised once, before their samples, and never again',
  ],
  ['sandbox startup without a seed', 'initialising before the first sample and removing all at the end'],
  ['the same configuration is not initialised again', 'before their samples, and never again'],
  ['early stopping rejected', 'by a manager without samplesAdded is refused together with a source'],
  ['range limit rejected', 'is refused with a source before anything runs'],
  ['fractional fail_on_error uses the final total', 'as a share of what a source makes is judged at the end'],
  ['retry keeps fresh state', 'starts with a fresh state'],
  ['task retry regenerates follow-ups', 'what it makes again is not run again'],
  ['task retry reuses follow-ups', 'samples again that the code of a finished sample had added'],
  ['retry frees the slot', 'goes to the back of the queue'],
  ['task source: batches, chains, order of callbacks', 'runs what it returns at every point, all in one run'],
  ['task source: added live, within max_tasks', 'adds a task from code of another, within maxTasks'],
  [
    'lacking: enqueue during a blocked next_samples',
    'starts a sample that is enqueued while nextSamples blocks',
  ],
  ['lacking: follow-ups after null', 'keeps follow-ups of what still ran when null was returned'],
  [
    'lacking: endless polling after a graceful cancel',
    'ends a source that always has more: it is never asked',
  ],
  ['lacking: endless []', 'pauses longer and longer while the source answers []'],
  ['lacking: the same object twice', 'accepts the same object twice'],
  ['lacking: two evals share a source', 'for two tasks is refused, with the reason'],
  ['lacking: one slot, parent waits for child', 'gives its slot up: generations of them end with one slot'],
  ['lacking: sample_complete raises', "'eval' fails the eval, told where it threw"],
  ['lacking: next_samples raises', 'fails the eval when %s throws, keeping what is finished'],
  ['lacking: 1 and "1" injected', 'fails the eval when an added id is already used by %s'],
  ['lacking: two models share a source', 'are refused one source between them'],
  ['lacking: limit 0', 'of 0 runs nothing and is a success'],
  ['lacking: operator cancel is told', 'with %s ends it so, and the source is told once'],
  [
    'lacking: requeue and its follow-ups',
    'runs, with its follow-ups, while nextSamples blocks or after it has',
  ],
  ['lacking: retries are told once', 'keeping earlier errors, and tells the source once'],
  [
    'lacking: startup failure of an added configuration',
    'fail only their own samples under failOnError: false',
  ],
  ['lacking: memory is released', 'are let go, the seed too, once they have ended'],
  ['lacking: totals of dynamic tasks', 'numbered on from the seed'],
  ['lacking: seed filtered out by sample_id', 'neither runs nor tells of a seed sample that it leaves out'],
  ['lacking: media only inline', 'that an added sample names by %s are refused'],
  ['lacking: slow startup delays others', 'do not delay samples of a ready one'],
  ['lacking: additions after an abort', 'drops what sampleComplete returns, however soon'],
]

it.each(TABLE)('%s: %s', async (_theirs, ours) => {
  const folders = [
    import.meta.dirname,
    join(import.meta.dirname, 'resume'),
    join(import.meta.dirname, '../task'),
  ]
  const names = await Promise.all(
    folders.map(async (folder) => (await readdir(folder)).map((name) => join(folder, name))),
  )
  const others = names.flat().filter((name) => name.endsWith('.test.ts') && name !== import.meta.filename)
  const texts = await Promise.all(others.map((name) => readFile(name, 'utf8')))
  expect(texts.some((text) => text.includes(ours))).toBe(true)
})
