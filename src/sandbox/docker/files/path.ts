import { SandboxFileError } from '../../../errors.ts'

const LONGEST_PATH_BYTES = 4095
const LONGEST_NAME_BYTES = 255

/**
 * A path as the scripts take it: absolute, or beginning with `./`, so that no leading dash is an option.
 * @throws SandboxFileError of kind `invalid-path` for what no file can be called
 */
export function scriptPath(path: string, service: string): string {
  const problem = pathProblem(path)
  if (problem) {
    throw new SandboxFileError(`${JSON.stringify(path.slice(0, 200))} is not a path: ${problem}`, {
      kind: 'invalid-path',
      path,
      service,
    })
  }
  return path.startsWith('/') ? path : `./${path}`
}

function pathProblem(path: string): string | undefined {
  if (path === '') return 'it is empty'
  if (path.includes('\0')) return 'it holds a NUL character'
  if (Buffer.byteLength(path) > LONGEST_PATH_BYTES) return `it is over ${LONGEST_PATH_BYTES} bytes long`
  const longName = path.split('/').some((name) => Buffer.byteLength(name) > LONGEST_NAME_BYTES)
  return longName ? `a name in it is over ${LONGEST_NAME_BYTES} bytes long` : undefined
}
