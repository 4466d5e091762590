import { ConfigError } from '../../../errors.ts'
import type { ServiceMarks } from './project.ts'

const CONVENTIONAL_NAMES = ['default', 'main', 'client']

const HOW_TO_MARK = "mark one with 'x-default: true', or name it 'default'"

/** The service that the agent works in. @throws ConfigError where the file leaves it open */
export function defaultService(
  names: readonly string[],
  marks: ReadonlyMap<string, Pick<ServiceMarks, 'isDefault'>>,
): string {
  const marked = names.filter((name) => marks.get(name)?.isDefault)
  const [first, second] = marked
  if (first !== undefined) {
    if (second !== undefined) {
      throw new ConfigError(`several services are marked x-default: ${marked.join(', ')}; mark one`)
    }
    if (first !== 'default' && names.includes('default')) {
      throw new ConfigError(`service '${first}' is marked x-default while another is named 'default'`)
    }
    return first
  }
  const conventional = CONVENTIONAL_NAMES.find((name) => names.includes(name))
  if (conventional !== undefined) return conventional
  const [only] = names
  if (only !== undefined && names.length === 1) return only
  throw new ConfigError(
    names.length === 0
      ? 'the file has no service to start'
      : `which service is the sandbox? There are ${names.join(', ')}: ${HOW_TO_MARK}`,
  )
}
