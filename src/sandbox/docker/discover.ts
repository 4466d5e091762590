import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DockerConfig } from '../../sample/sandbox-spec.ts'

const COMPOSE_FILES = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml']

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile()
}

/** The sandbox configuration that lies beside a task file, if any: a compose file before a Dockerfile. */
export function discoverDockerConfig(taskDirectory: string): DockerConfig | undefined {
  const compose = COMPOSE_FILES.find((name) => isFile(join(taskDirectory, name)))
  if (compose) return { compose }
  return isFile(join(taskDirectory, 'Dockerfile')) ? { build: '.' } : undefined
}
