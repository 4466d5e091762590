import { ConfigError } from '../errors.ts'
import type { Agent } from './agent.ts'
import { human } from './human.ts'
import { nop } from './nop.ts'
import { oracle } from './oracle.ts'

const BUILT_IN: Readonly<Record<string, () => Agent>> = { oracle, nop, human }

/** An agent as it is, or the built-in one of that name. @throws ConfigError with `where` */
export function namedAgent(agent: Agent | string, where: string): Agent {
  if (typeof agent !== 'string') return agent
  const make = Object.hasOwn(BUILT_IN, agent) ? BUILT_IN[agent] : undefined
  if (make) return make()
  const names = Object.keys(BUILT_IN).join(', ')
  throw new ConfigError(`unknown agent '${agent}'; expected a function or one of ${names}`, { where })
}
