import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const CLI = fileURLToPath(new URL('./cli.mjs', import.meta.url))

/** Makes a folder the context of an image that holds the stand-in agent with the SDKs that it uses, and a Node to run it. */
export async function standInContext(folder: string): Promise<void> {
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: { ssr: CLI, outDir: join(folder, 'bundle'), target: 'node20', minify: false, emptyOutDir: false },
  })
  await copyFile(process.execPath, join(folder, 'node'))
  const lines = [
    'FROM debian:bookworm-slim',
    'COPY node /usr/local/bin/node',
    'COPY bundle /agent',
    'WORKDIR /work',
  ]
  await writeFile(join(folder, 'Dockerfile'), `${lines.join('\n')}\n`)
}
