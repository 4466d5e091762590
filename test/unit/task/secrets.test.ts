import { describe, expect, it } from 'vitest'
import { declaredSecrets, environmentSecrets } from '../../../src/task/secrets.ts'

describe('what the environment holds', () => {
  it.each([
    'OPENAI_API_KEY',
    'ANTHROPIC_API_KEY',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'HF_TOKEN',
    'GITHUB_TOKEN',
    'DB_PASSWORD',
    'apikey',
  ])('%s is a secret', (name) => {
    expect(environmentSecrets({ [name]: 'long enough' })).toEqual([{ name, value: 'long enough' }])
  })

  it.each(['PATH', 'TOKENIZERS_PARALLELISM', 'KEYBOARD', 'OPENAI_BASE_URL', 'PASSWORD_FILE'])(
    '%s is none',
    (name) => {
      expect(environmentSecrets({ [name]: 'long enough' })).toEqual([])
    },
  )

  it('and what is too short to be a key is none', () => {
    expect(environmentSecrets({ MY_TOKEN: 'true', OTHER_TOKEN: '' })).toEqual([])
  })
})

describe('what is declared', () => {
  it('is a variable, or a value under a name', () => {
    const declared = ['SEED', { name: 'password', value: 'hunter2' }, 'UNSET']
    expect(declaredSecrets(declared, { SEED: 'abcd' })).toEqual([
      { name: 'SEED', value: 'abcd' },
      { name: 'password', value: 'hunter2' },
    ])
  })

  it('is refused where it cannot be masked', () => {
    expect(() => declaredSecrets(['SHORT'], { SHORT: 'abc' })).toThrow(/'SHORT' is shorter than 4/)
    expect(() => declaredSecrets([{ name: 'a b', value: 'abcdef' }], {})).toThrow(/got "a b"/)
  })
})
