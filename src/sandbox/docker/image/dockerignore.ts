import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Ignore } from '@balena/dockerignore'

/** The package says `export default` in its types, but is CommonJS whose export is the function itself. */
const dockerignore = createRequire(import.meta.url)('@balena/dockerignore') as (options: {
  ignorecase: boolean
}) => Ignore

/** Which paths of a context Docker leaves out: `<Dockerfile>.dockerignore` beside the Dockerfile, else the context's own file. */
export function readIgnore(context: string, dockerfile: string): (path: string) => boolean {
  const file = [`${dockerfile}.dockerignore`, join(context, '.dockerignore')].find((name) => existsSync(name))
  if (!file) return () => false
  const text = readFileSync(file, 'utf8').replace(/^\ufeff/, '')
  const matcher = dockerignore({ ignorecase: false }).add(text)
  return (path) => matcher.ignores(path)
}
