import { ConfigError } from '../errors.ts'
import type { SecretValue } from '../util/secret-mask.ts'

/** The name of a variable of this process's environment, or a value under a name. */
export type Secret = string | SecretValue

/** What variables with keys are called, those of model providers among them. */
const KEY_NAME = /(^|_)(API_?KEY|ACCESS_KEY|SECRET_KEY|PRIVATE_KEY|TOKEN|SECRET|PASSWORD|PASSWD)$/i
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/
/** Shorter values of undeclared variables are settings, not keys. */
const SHORTEST_KEY = 8
/** A shorter one would be found everywhere. */
const SHORTEST_SECRET = 4

/** The values of variables that are named as keys, tokens and passwords are. */
export function environmentSecrets(environment: NodeJS.ProcessEnv): SecretValue[] {
  return Object.entries(environment).flatMap(([name, value = '']) =>
    KEY_NAME.test(name) && value.trim().length >= SHORTEST_KEY
      ? [{ name: name.replace(/[^\w.-]/g, '_'), value }]
      : [],
  )
}

/** The values of what was declared; a variable that is not set has none. @throws ConfigError for one that is too short to be masked */
export function declaredSecrets(declared: readonly Secret[], environment: NodeJS.ProcessEnv): SecretValue[] {
  return declared.flatMap((secret) => {
    const { name, value = '' } =
      typeof secret === 'string' ? { name: secret, value: environment[secret] } : secret
    if (!NAME.test(name))
      throw new ConfigError(`expected letters, digits, '_', '.' and '-', got ${JSON.stringify(name)}`, {
        where: 'secrets',
      })
    if (value === '') return []
    if (value.trim().length < SHORTEST_SECRET)
      throw new ConfigError(
        `the value of '${name}' is shorter than ${SHORTEST_SECRET} characters: masking it would garble the log`,
        { where: 'secrets' },
      )
    return [{ name, value }]
  })
}
