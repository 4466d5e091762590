import { pack } from 'tar-stream'
import type { ServicePlan } from '../../sandbox-plan.ts'
import { call } from '../engine/call.ts'
import type { PreparedImage } from '../image/prepared-image.ts'
import { DEFAULT_WORKDIR, needsDefaultWorkdir } from './container-body.ts'
import type { ContainerRef } from './container-ref.ts'
import { userIds } from './user-ids.ts'

/** Puts what the plan wants there into a container that has not been started: its files, and a working directory of the user's own. */
export async function fillContainer(
  container: ContainerRef,
  service: ServicePlan,
  image: PreparedImage,
): Promise<void> {
  const archive = pack()
  const entries =
    (await addDefaultWorkdir(archive, { container, service, image })) + addFiles(archive, service)
  if (entries === 0) return
  archive.finalize()
  const body = archive as unknown as NodeJS.ReadableStream
  await call('filling a container', {}, (abortSignal) =>
    container.streams.putArchive(body, { path: '/', abortSignal }),
  )
}

function addFiles(archive: ReturnType<typeof pack>, { files = [] }: ServicePlan): number {
  for (const { path, content, mode, uid, gid } of files) {
    archive.entry({ name: path.replace(/^\/+/, ''), mode, uid, gid }, content)
  }
  return files.length
}

/** Docker makes a working directory for root; the default one belongs to the user of the sandbox. */
async function addDefaultWorkdir(
  archive: ReturnType<typeof pack>,
  { container, service, image }: { container: ContainerRef; service: ServicePlan; image: PreparedImage },
): Promise<number> {
  if (!needsDefaultWorkdir(service, image)) return 0
  const ids = await userIds(container, service.container.user ?? image.user)
  if (ids.uid === 0) return 0
  archive.entry({ name: DEFAULT_WORKDIR.slice(1), type: 'directory', mode: 0o755, ...ids })
  return 1
}
