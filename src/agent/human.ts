import { ConfigError, SandboxFileError } from '../errors.ts'
import { textOf } from '../sample/content.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { type Sleep, sleep } from '../util/abort.ts'
import { escapeText } from '../util/terminal.ts'
import type { Agent } from './agent.ts'

export interface HumanOptions {
  /** Told what the task is and how to get in (default: written to standard error). */
  readonly announce?: (text: string) => void
  readonly user?: string
  /** Default: a pause of real time. */
  readonly sleep?: Sleep
}

const LOOK_MS = 500
const ANSWER = '/tmp/.belljar-answer'
const PLACES = ['/usr/local/bin/submit', '/tmp/submit']
const SCRIPT = `#!/bin/sh
if [ $# -gt 0 ]; then answer="$*"; else answer=$(cat); fi
printf %s "$answer" > ${ANSWER}.new && mv ${ANSWER}.new ${ANSWER} && echo 'Handed in; this sandbox closes now.'
`

/**
 * A person works in a shell in the sandbox and hands an answer in with the command `submit`; its text is the output.
 * Needs a shell in the image.
 */
export function human(options: HumanOptions = {}): Agent {
  const { announce = (text) => void process.stderr.write(text), user, sleep: wait = sleep } = options
  return async function human({ sample, sandbox, signal }) {
    await sandbox.remove(ANSWER, { user: '0', force: true, signal }).catch(() => undefined)
    const place = await installSubmit(sandbox, signal)
    announce(
      instructions({
        id: String(sample.id),
        input: textOf(sample.input),
        shell: sandbox.shellCommand(),
        place,
      }),
    )
    while (!(await sandbox.exists(ANSWER, { user, signal }))) await wait(LOOK_MS, signal)
    return await sandbox.readText(ANSWER, { user, signal })
  }
}

async function installSubmit(sandbox: Sandbox, signal: AbortSignal): Promise<string> {
  for (const place of PLACES) {
    for (const user of ['0', undefined]) {
      try {
        await sandbox.writeFile(place, SCRIPT, { mode: 0o755, user, signal })
        return place
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof SandboxFileError) && (error as { code?: string }).code !== 'unsupported')
          throw error
      }
    }
  }
  throw new ConfigError(`cannot write ${PLACES.join(' or ')} in the sandbox`, { where: "agent 'human'" })
}

function instructions({
  id,
  input,
  shell,
  place,
}: {
  id: string
  input: string
  shell: string
  place: string
}): string {
  const line = '-'.repeat(60)
  return `\n${line}\nSample ${escapeText(id)}\n\n${escapeText(input)}\n\nGet in:   ${shell}\nHand in:  ${place} 'your answer'\n${line}\n`
}
