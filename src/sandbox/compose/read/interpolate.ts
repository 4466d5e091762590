import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { type ConfigCall, runConfig } from './run-config.ts'

const answerSchema = z.object({
  services: z.object({ any: z.object({ labels: z.record(z.string(), z.string()) }) }),
})

/** Each text as Compose itself interpolates it in that folder, so that nothing can read differently from what Compose will read. */
export async function composeInterpolate(
  texts: readonly string[],
  call: Omit<ConfigCall, 'files'>,
): Promise<string[]> {
  if (!texts.some((text) => text.includes('$'))) return [...texts]
  const folder = await mkdtemp(join(tmpdir(), 'belljar-compose-'))
  try {
    const file = join(folder, 'compose.yaml')
    const labels = Object.fromEntries(texts.map((text, index) => [`t${index}`, text]))
    await writeFile(file, stringify({ services: { any: { image: 'any', labels } } }))
    const { text } = await runConfig({ ...call, files: [file] }, ['--format', 'yaml'])
    const answer = answerSchema.parse(parse(text)).services.any.labels
    return texts.map((_, index) => (answer[`t${index}`] ?? '').replaceAll('$$', '$'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Values of variables, as Compose sees them in that folder; unset ones are left out. */
export async function composeVariables(
  names: readonly string[],
  call: Omit<ConfigCall, 'files'>,
): Promise<Record<string, string>> {
  const texts = names.flatMap((name) => [`\${${name}+set}`, `\${${name}-}`])
  const values = await composeInterpolate(texts, call)
  return Object.fromEntries(
    names.flatMap((name, index) =>
      values[2 * index] === 'set' ? [[name, values[2 * index + 1] ?? '']] : [],
    ),
  )
}
