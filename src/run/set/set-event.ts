import type { KeptSandbox, LeftObject } from '../../sandbox/provider.ts'

/** What a set tells beside what its runs tell. */
export type SetEvent =
  | { readonly type: 'set-start'; readonly set: string; readonly tasks: number; readonly logDir: string }
  /** A task failed, and is tried again after a pause. Attempts count from 1. */
  | {
      readonly type: 'set-again'
      readonly name: string
      readonly attempt: number
      readonly pauseMs: number
      readonly why: string
    }
  /** A log that another one holds whole was removed. */
  | { readonly type: 'set-removed'; readonly log: string; readonly keptIn: string }
  | { readonly type: 'set-note'; readonly level: 'info' | 'warning'; readonly message: string }
  | {
      readonly type: 'set-end'
      readonly set: string
      readonly complete: number
      readonly tasks: number
      readonly left: readonly LeftObject[]
      readonly kept: readonly KeptSandbox[]
    }
