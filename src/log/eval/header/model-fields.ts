import type { HeaderRecord } from '../../records/header-record.ts'
import { toEvalConfig } from './generate-config.ts'

const NO_MODEL = 'none/none'

/** What a header says of models, in Inspect's form. */
export function modelFields(header: HeaderRecord) {
  const { model = NO_MODEL, modelFacts, modelRoles } = header
  const roles = Object.entries(modelRoles ?? {}).map(([role, { model: name, baseUrl, args }]) => [
    role,
    { model: name, config: {}, base_url: baseUrl, args: args ?? {} },
  ])
  return {
    model,
    model_generate_config: headerConfig(header),
    model_base_url: modelFacts?.baseUrl,
    model_args: modelFacts?.args ?? {},
    model_roles: modelRoles && Object.fromEntries(roles),
  }
}

export function headerConfig({ generateConfig }: HeaderRecord): Record<string, unknown> {
  const { maxConnections, ...config } = generateConfig ?? {}
  return {
    ...toEvalConfig(config),
    ...(maxConnections === undefined ? {} : { max_connections: maxConnections }),
  }
}
