import type { InfoEvent } from '../../agent/transcript.ts'
import { BelljarError, LimitExceededError } from '../../errors.ts'
import { Budget } from '../../limit/budget.ts'
import { timeLimitReached } from '../../limit/time-watch.ts'
import { sleep, soonAfterAbort, untilAborted } from '../../util/abort.ts'
import { linkedController } from '../../util/linked-controller.ts'
import { OperatorError } from '../dispatch/run-control.ts'
import { END_GRACE_MS, PhaseError } from './phases.ts'
import { SampleAccess } from './sample-access.ts'
import type { SampleLife } from './sample-life.ts'
import type { Stage } from './sample-runner.ts'

/** What code that an agent left behind finds in its signal. One for all, as errors are dear. */
const ENDED = new BelljarError('agent-ended', 'the agent has ended')

/** Lets the agent work, up to its limits. What it reached them with, and what an operator ends to be scored, is a normal outcome. */
export async function agentPhase(life: SampleLife, stage: Stage): Promise<void> {
  const { options, sandbox, phase, signal } = stage
  const { control } = life.run
  using time = linkedController(signal, control.agentSignal)
  const { limits } = options
  life.clock.begin()
  void timeLimitReached({ limits, clock: life.clock, sleep, signal: time.signal }).then(
    (error) => error && time.abort(error),
  )
  const budget = new Budget(limits, options.prices)
  const access = new SampleAccess(life, {
    sandbox,
    models: options.models,
    group: options.eval,
    budget,
    signal: time.signal,
    callDefaults: options.callDefaults,
    letGo: () => (control.isHeld ? life.clock.whileWaiting(() => control.letGo()) : control.letGo()),
  })
  try {
    await phase('agent', async () => {
      time.signal.throwIfAborted()
      const work = () => options.task.agent(access.agentContext())
      const output = await access.served(() => untilAborted(options.inScope(life, work), time.signal))
      if (typeof output === 'string') life.state.output = output
      budget.check()
    })
  } catch (error) {
    const reached = limitOf(error, time.signal)
    if (!reached || signal.aborted) throw error
    life.reachLimit(reached)
  } finally {
    time.abort(ENDED)
    access.close()
    await stopCommands(life, stage)
  }
}

function limitOf(error: unknown, { reason }: AbortSignal): LimitExceededError | undefined {
  if (reason instanceof OperatorError)
    return new LimitExceededError({ type: 'operator', limit: 0, message: reason.message })
  const cause = error instanceof PhaseError ? error.cause : error
  return [reason, cause].find((candidate) => candidate instanceof LimitExceededError)
}

/** A verifier judges what an agent left, not what still goes on. */
async function stopCommands(life: SampleLife, { options, sandbox, signal }: Stage): Promise<void> {
  const { agentProcesses } = options.task.task.definition
  const leftBehind = agentProcesses === 'kill' || life.run.planned.gate.verifier !== undefined
  const ending = { signal, graceMs: END_GRACE_MS }
  const stopping = sandbox?.stopCommands({ leftBehind }) ?? Promise.resolve([])
  const stopped = await soonAfterAbort(stopping, ending)
  if (stopped.length > 0) note(life, { stoppedCommands: stopped })
  if (!sandbox || leftBehind) return
  const running = await soonAfterAbort(sandbox.leftRunning(), ending).catch(() => [])
  if (running.length > 0) note(life, { leftRunning: running })
}

function note(life: SampleLife, data: InfoEvent['data']): void {
  life.record({ type: 'info', startedMs: Date.now(), source: 'belljar', data })
}
