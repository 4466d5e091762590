import { type FileErrorKind, SandboxFileError, UnsupportedError } from '../../errors.ts'
import { FieldReader } from './fields.ts'
import { ERROR_KINDS, type GuestErrorKind, Tag } from './protocol.ts'

const KINDS: Partial<Record<GuestErrorKind, FileErrorKind>> = {
  'not-found': 'not-found',
  permission: 'permission',
  'is-directory': 'is-a-directory',
  'not-regular': 'not-a-regular-file',
  'too-large': 'too-large',
  'not-directory': 'not-a-directory',
  loop: 'invalid-path',
  'name-too-long': 'invalid-path',
  invalid: 'invalid-path',
  'no-space': 'no-space',
  'read-only': 'read-only',
}

const TEXTS: Partial<Record<FileErrorKind, string>> = {
  'not-found': 'no such file or directory',
  permission: 'permission denied',
  'is-a-directory': 'is a directory',
  'not-a-regular-file': 'is not a regular file',
  'too-large': 'is larger than allowed',
  'not-a-directory': 'not a directory',
  'invalid-path': 'is no usable path',
  'no-space': 'no space left',
  'read-only': 'the file system is read-only',
}

/** The fields of an answer. @throws SandboxFileError, UnsupportedError where it tells a failure */
export function checkFileAnswer(payload: Buffer, path: string, service: string): FieldReader {
  const fields = new FieldReader(payload)
  const number = fields.number(Tag.error)
  if (!number) return fields
  const guestKind = ERROR_KINDS[number] ?? 'other'
  if (guestKind === 'cannot-switch-user')
    throw new UnsupportedError('the guest may not switch users in this sandbox')
  const kind = KINDS[guestKind] ?? 'other'
  const at = fields.text(Tag.path)
  const size = fields.number(Tag.size)
  const detail = TEXTS[kind] ?? `${guestKind} (errno ${fields.number(Tag.errno) ?? 0})`
  throw new SandboxFileError(
    `${path}${at ? ` at '${at}'` : ''}: ${detail}${kind === 'too-large' && size ? ` (${size} bytes)` : ''}`,
    { kind, path, service },
  )
}
