import { domainToASCII } from 'node:url'

export type CheckedPattern = { readonly pattern: string } | { readonly problem: string }

const DIGITS_AND_DOTS = /^[\d.]+$/
const LABEL = /^[a-z\d_]([a-z\d_-]{0,61}[a-z\d_])?$/
const LONGEST_NAME = 253

function octetsOf(address: string): number[] | undefined {
  const parts = address.split('.')
  const isWritten = parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part))
  const octets = parts.map(Number)
  return isWritten && octets.every((octet) => octet <= 255) ? octets : undefined
}

/** This host, multicast, and what stands for nobody. */
function isNowhere([first = 0]: readonly number[]): boolean {
  return first === 0 || first === 127 || first >= 224
}

function checkBlock(written: string): CheckedPattern {
  const [address = '', prefix = '', ...more] = written.split('/')
  const octets = octetsOf(address)
  const bits = /^\d{1,2}$/.test(prefix) ? Number(prefix) : 33
  if (octets === undefined || bits > 32 || more.length > 0) {
    return { problem: 'is no IPv4 block such as 203.0.113.0/24, nor a host alone, without scheme and path' }
  }
  if (bits === 0) return { problem: "is everything: use network: 'internet'" }
  const size = 2 ** (32 - bits)
  const first = octets.reduce((total, octet) => total * 256 + octet, 0)
  const start = first - (first % size)
  const block = `${[24, 16, 8, 0].map((shift) => Math.floor(start / 2 ** shift) % 256).join('.')}/${bits}`
  if (start !== first) return { problem: `does not begin at a block's beginning: ${block} does` }
  if (isNowhere(octets)) return { problem: 'is no block of hosts outside' }
  return { pattern: block }
}

function checkAddress(written: string): CheckedPattern {
  const octets = octetsOf(written)
  if (octets === undefined) return { problem: 'is no IPv4 address' }
  return isNowhere(octets) ? { problem: 'is no host outside' } : { pattern: written }
}

function checkName(written: string): CheckedPattern {
  const wildcard = written.startsWith('*.') ? '*.' : ''
  const name = domainToASCII(written.slice(wildcard.length).replace(/\.$/, ''))
  const isName = name.length <= LONGEST_NAME && name.split('.').every((label) => LABEL.test(label))
  if (!isName) {
    return {
      problem: written.includes('*')
        ? "may have '*' only at the start, as in '*.example.com'"
        : 'is no host name',
    }
  }
  if (/^\d+$/.test(name.split('.').at(-1) ?? ''))
    return { problem: 'is neither a host name nor an IPv4 address' }
  if (name === 'localhost' || name.endsWith('.localhost')) return { problem: 'is no host outside' }
  return { pattern: `${wildcard}${name}` }
}

/**
 * One entry of a network's allow-list: a host name, `*.suffix` (its subdomains, not itself), an IPv4 address or an IPv4
 * block. `pattern` is what it is compared as: lower case, ASCII, without a final dot.
 */
export function checkEgressPattern(given: string): CheckedPattern {
  const written = given.trim()
  if (written.includes('://')) return { problem: 'is more than a host: leave out scheme, port and path' }
  if (written.includes('/')) return checkBlock(written)
  if (written.split(':').length > 2)
    return { problem: 'is IPv6, which sandboxes with an allow-list do not have' }
  if (written.includes(':'))
    return { problem: 'has a port: leave it out, a host is allowed with all of its ports' }
  return DIGITS_AND_DOTS.test(written) ? checkAddress(written) : checkName(written)
}
