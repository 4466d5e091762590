import { setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { sleep } from '../../../util/abort.ts'
import { linkedController } from '../../../util/linked-controller.ts'
import type { RunClaim } from '../../provider.ts'
import type { Engine } from '../engine/engine.ts'
import { ANCHOR_LABEL, KEEP_LABEL, PROJECT_LABEL } from '../identity/labels.ts'
import { Anchor } from './anchor.ts'
import { endsWith, ownSurroundings } from './detachment.ts'
import { ownCreates } from './owned-creates.ts'
import { ReaperClient } from './reaper-client.ts'
import { Sweep } from './sweep.ts'

/** How long a run that ends waits for what it removes of others. */
const SWEEP_PATIENCE_MS = 5000
const ANCHOR_PATIENCE_MS = 10_000

const reapers = new WeakMap<RunClaim, ReaperClient>()

/** One for each run, whatever the number of its engines. */
function reaperOf(claim: RunClaim): ReaperClient | undefined {
  if (claim.reaper === false) return undefined
  let reaper = reapers.get(claim)
  if (!reaper) {
    const end = endsWith(ownSurroundings())
    if (end)
      claim.note('info', `the reaper ends together with ${end}; what is left then goes with the next run`)
    reaper = new ReaperClient({ run: claim.run, warn: (message) => claim.note('warning', message) })
    reapers.set(claim, reaper)
  }
  return reaper
}

/** What makes a run's sandboxes on one engine recognisable as a live run's, and go when it dies. */
export class RunOwnership {
  readonly #claim: RunClaim
  readonly #engine: Engine
  readonly #reaper: ReaperClient | undefined
  readonly #anchor: Anchor
  readonly #ending = new AbortController()
  readonly #firstLook: Promise<void>

  private constructor(claim: RunClaim, engine: Engine) {
    setMaxListeners(Number.POSITIVE_INFINITY, this.#ending.signal)
    this.#claim = claim
    this.#engine = engine
    this.#reaper = reaperOf(claim)
    this.#reaper?.addEngine(engine)
    ownCreates(engine.control, {
      labels: (given) => this.#labels(given),
      creating: (kind, name) => this.#reaper?.creating(engine, kind, name) ?? (() => undefined),
    })
    this.#anchor = new Anchor({ engine, run: claim.run, warn: (message) => claim.note('warning', message) })
    const clock = { now: () => performance.now(), sleep: claim.sleep ?? sleep }
    const { firstLook, done } = new Sweep({
      engine,
      run: claim.run,
      clock,
      note: claim.note,
      signal: this.#ending.signal,
    }).begin()
    this.#firstLook = firstLook
    void done
  }

  /** Starts the reaper, where there is to be one, the anchor and the sweep; none of them is waited for. */
  static begin(claim: RunClaim, engine: Engine): RunOwnership {
    return new RunOwnership(claim, engine)
  }

  /** An image of the run, for an anchor where the guest cannot run. */
  offerImage(id: string): void {
    this.#anchor.offerImage(id)
  }

  keep(project: string): void {
    this.#engine.kept.add(project)
    this.#reaper?.keep(project)
  }

  /** To be called before the run's own objects are removed for good. */
  async release(): Promise<void> {
    const patience = pause(SWEEP_PATIENCE_MS, undefined, { ref: false })
    await Promise.all([this.#anchor.release(), Promise.race([this.#firstLook, patience])])
    this.#ending.abort(new Error('the run has ended'))
  }

  /** The run ends with things of it left: its reaper removes them. */
  abandon(): void {
    this.#reaper?.takeOver()
  }

  /** The run has removed what it could: its reaper is not needed. */
  close(): void {
    this.#ending.abort(new Error('the run has ended'))
    this.#reaper?.removeEngine(this.#engine)
  }

  /** What is there for the run as a whole, such as the guest's volume, is not worth waiting for. */
  async #anchored(patienceMs: number): Promise<boolean> {
    using over = linkedController(this.#ending.signal)
    const late =
      patienceMs === 0
        ? false
        : pause(patienceMs, false, { ref: false, signal: over.signal }).catch(() => false)
    try {
      return await Promise.race([this.#anchor.ready, late])
    } finally {
      over.abort(undefined)
    }
  }

  /** What is made says that its run has an anchor, and what belongs to a sandbox whether it may be kept. */
  async #labels(given: Readonly<Record<string, string>>): Promise<Record<string, string>> {
    if (given[ANCHOR_LABEL] !== undefined) return {}
    const ofSandbox = given[PROJECT_LABEL] !== undefined
    const anchored = await this.#anchored(ofSandbox ? ANCHOR_PATIENCE_MS : 0)
    const { keep = 'none' } = this.#claim
    return {
      ...(anchored && { [ANCHOR_LABEL]: 'held' }),
      ...(keep !== 'none' && ofSandbox && { [KEEP_LABEL]: keep }),
    }
  }
}
