import { createRequire } from 'node:module'

/** The package's own version; the file is found by name, wherever the build has put this module. */
export const VERSION: string = createRequire(import.meta.url)('belljar/package.json').version
