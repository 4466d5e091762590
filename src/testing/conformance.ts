import type { ConformanceCheck } from './check.ts'
import { execEnvironmentChecks } from './checks/exec-environment.ts'
import { execInputChecks } from './checks/exec-input.ts'
import { execManyChecks } from './checks/exec-many.ts'
import { execOutputChecks } from './checks/exec-output.ts'
import { execResultChecks } from './checks/exec-result.ts'
import { execStopChecks } from './checks/exec-stop.ts'
import { fileContentChecks } from './checks/files-content.ts'
import { fileNameChecks } from './checks/files-names.ts'
import { fileRefusalChecks } from './checks/files-refusals.ts'
import { fileTreeChecks } from './checks/files-tree.ts'
import { flavourChecks } from './checks/flavours.ts'
import { hostSafetyChecks } from './checks/host-safety.ts'
import { hostileChecks } from './checks/hostile.ts'
import { spawnChecks } from './checks/spawn.ts'
import { transferChecks } from './checks/transfer.ts'

/** What every provider's sandboxes must do, check by check. */
export const sandboxConformance: readonly ConformanceCheck[] = [
  ...execResultChecks,
  ...execEnvironmentChecks,
  ...execOutputChecks,
  ...execInputChecks,
  ...execStopChecks,
  ...execManyChecks,
  ...spawnChecks,
  ...fileContentChecks,
  ...fileNameChecks,
  ...fileRefusalChecks,
  ...fileTreeChecks,
  ...transferChecks,
  ...hostSafetyChecks,
  ...flavourChecks,
  ...hostileChecks,
]
