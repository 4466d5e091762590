import { ConfigError } from '../errors.ts'

/** An IPv4 block: its first address as a number, and the length of its prefix. */
export interface Subnet {
  readonly first: number
  readonly prefixLength: number
}

export interface SubnetSearch {
  /** Where blocks come from; default 10.192.0.0/12. */
  readonly range?: string
  /** Prefix length of the blocks that are handed out. */
  readonly prefixLength: number
  /** Routes of the host and subnets of networks; IPv6 ones and default routes are passed over. */
  readonly used: Iterable<string>
  /** From 0 up to 1: which part of the range is tried first, so that two runs do not start at one place. */
  readonly offset: number
}

export const DEFAULT_RANGE = '10.192.0.0/12'

const WRITTEN = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\/(\d{1,2}))?$/

function sizeOf(prefixLength: number): number {
  return 2 ** (32 - prefixLength)
}

/** Reads `10.0.0.0/8` or a single address; undefined for anything else. Bits behind the prefix are cleared. */
export function parseSubnet(written: string): Subnet | undefined {
  const match = WRITTEN.exec(written)
  if (match === null) return undefined
  const octets = match.slice(1, 5).map(Number)
  const prefixLength = match[5] === undefined ? 32 : Number(match[5])
  if (prefixLength > 32 || octets.some((octet) => octet > 255)) return undefined
  const address = octets.reduce((total, octet) => total * 256 + octet, 0)
  return { first: address - (address % sizeOf(prefixLength)), prefixLength }
}

export function formatSubnet({ first, prefixLength }: Subnet): string {
  const octets = [24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256)
  return `${octets.join('.')}/${prefixLength}`
}

export function overlaps(a: Subnet, b: Subnet): boolean {
  return a.first < b.first + sizeOf(b.prefixLength) && b.first < a.first + sizeOf(a.prefixLength)
}

/** The longest prefix, up to `longest`, whose block has an address for each container beside network, gateway and broadcast. */
export function prefixLengthFor(containers: number, longest = 28): number {
  const needed = Math.ceil(Math.log2(containers + 3))
  return Math.min(longest, 32 - needed)
}

function checkedRange(written: string, prefixLength: number): Subnet {
  const range = parseSubnet(written)
  if (range === undefined || range.prefixLength > prefixLength || prefixLength > 30) {
    throw new ConfigError(
      `expected an IPv4 range that holds blocks of /${prefixLength}, such as ${DEFAULT_RANGE}, got '${written}'`,
    )
  }
  return range
}

/** First and last numbers of the range's blocks that a used subnet touches. */
function touchedBlocks(range: Subnet, blockSize: number, used: Subnet): [number, number] | undefined {
  if (used.prefixLength === 0 || !overlaps(range, used)) return undefined
  const last = used.first + sizeOf(used.prefixLength) - 1
  const highest = sizeOf(range.prefixLength) / blockSize - 1
  return [
    Math.max(0, Math.floor((used.first - range.first) / blockSize)),
    Math.min(highest, Math.floor((last - range.first) / blockSize)),
  ]
}

/** Every free block of the range, each once, beginning at the offset. Whoever is refused one takes the next. */
export function* freeSubnets(search: SubnetSearch): Generator<string, void, undefined> {
  const { prefixLength, offset } = search
  const range = checkedRange(search.range ?? DEFAULT_RANGE, prefixLength)
  const blockSize = sizeOf(prefixLength)
  const count = sizeOf(range.prefixLength) / blockSize
  const taken = [...search.used]
    .flatMap((written) => parseSubnet(written) ?? [])
    .flatMap((used) => [touchedBlocks(range, blockSize, used) ?? []])
    .flatMap(([from, to]) => (from === undefined || to === undefined ? [] : [{ from, to }]))
  const start = Math.floor(offset * count) % count
  for (let step = 0; step < count; step++) {
    const block = (start + step) % count
    const hit = taken.find(({ from, to }) => from <= block && block <= to)
    if (hit !== undefined) step += hit.to - block
    else yield formatSubnet({ first: range.first + block * blockSize, prefixLength })
  }
}

/** A private IPv6 block of /64 (RFC 4193) from seven random bytes: so many that none needs to be looked for. */
export function uniqueLocalSubnet(random: Uint8Array): string {
  const bytes = [0xfd, ...random.slice(0, 7)]
  const groups = [0, 2, 4, 6].map((index) =>
    ((bytes[index] ?? 0) * 256 + (bytes[index + 1] ?? 0)).toString(16),
  )
  return `${groups.join(':')}::/64`
}
