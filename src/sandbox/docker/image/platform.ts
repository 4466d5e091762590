import { SandboxInitError } from '../../../errors.ts'
import type { Engine } from '../engine/engine.ts'
import type { PreparedImage } from './prepared-image.ts'

const ARCHITECTURES: Readonly<Record<string, string>> = {
  x86_64: 'amd64',
  'x86-64': 'amd64',
  aarch64: 'arm64',
  armhf: 'arm',
  i386: '386',
}

function normalised(os: string, architecture: string): string {
  return `${os}/${ARCHITECTURES[architecture] ?? architecture}`
}

/** Refuses an image of another platform than the one asked for, or, where none was, than the engine's. @throws SandboxInitError */
export function checkPlatform(image: PreparedImage, wanted: string | undefined, engine: Engine): void {
  const has = normalised(image.os, image.architecture)
  const [os = '', architecture = ''] = (wanted ?? '').split('/')
  const expected = wanted
    ? normalised(os, architecture)
    : normalised(engine.facts.os, engine.facts.architecture)
  if (has === expected) return
  const whose = wanted ? `the configuration asks for ${expected}` : `the engine is ${expected}`
  const hint = wanted ? '' : `; set platform: '${has}' to run it under emulation, if this engine has that`
  throw new SandboxInitError(`image ${image.reference} is for ${has}, but ${whose}${hint}`)
}
