import type { Agent } from './agent.ts'

/** Does nothing: shows what a sample scores when nobody works on it. */
export function nop(): Agent {
  return async function nop() {
    return undefined
  }
}
