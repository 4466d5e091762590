import { text } from 'node:stream/consumers'
import { extract } from 'tar-stream'
import { call } from '../engine/call.ts'
import type { ContainerRef } from './container-ref.ts'

export interface UserIds {
  readonly uid: number
  readonly gid: number
}

/** A passwd file's ids for a name, or the group of a uid. */
export function idsFromPasswd(passwd: string, user: string): UserIds | undefined {
  for (const line of passwd.split('\n')) {
    const [name, , uid, gid] = line.split(':')
    if (name === user || uid === user) return { uid: Number(uid), gid: Number(gid) }
  }
  return undefined
}

async function readPasswd(container: ContainerRef): Promise<string> {
  return call('reading /etc/passwd', { deadlineMs: 10_000 }, async () => {
    const archive = await container.streams.getArchive({ path: '/etc/passwd' })
    const entries = archive.pipe(extract())
    for await (const entry of entries) return await text(entry)
    return ''
  })
}

/** The ids that the Engine gives a user of this container, `name`, `uid` or `uid:gid`; root's where that cannot be read. */
export async function userIds(container: ContainerRef, user: string): Promise<UserIds> {
  const [name = '', group] = user.split(':')
  if (name === '' || name === '0' || name === 'root') return { uid: 0, gid: 0 }
  if (/^\d+$/.test(name) && group !== undefined && /^\d+$/.test(group)) {
    return { uid: Number(name), gid: Number(group) }
  }
  const passwd = await readPasswd(container).catch(() => '')
  const found = idsFromPasswd(passwd, name)
  return found ?? { uid: /^\d+$/.test(name) ? Number(name) : 0, gid: 0 }
}
