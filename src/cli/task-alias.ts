import { fileURLToPath } from 'node:url'

/** What `import ... from 'belljar'` in a task file resolves to, wherever the file is: this very belljar. */
export function taskAlias(): Record<string, string> {
  return {
    belljar: fileURLToPath(import.meta.resolve('belljar')),
    'belljar/testing': fileURLToPath(import.meta.resolve('belljar/testing')),
  }
}
