export { type ScriptedOutput, scriptedModel } from './agent/scripted-model.ts'
export { FakeProvider, type FakeProviderOptions } from './sandbox/fake/fake-provider.ts'
export { type FakeExec, FakeSandbox } from './sandbox/fake/fake-sandbox.ts'
export type {
  Capability,
  ConformanceCheck,
  ConformanceContext,
  ConformanceTarget,
  Flavour,
} from './testing/check.ts'
export { sandboxConformance } from './testing/conformance.ts'
export { ConformanceSession, notApplicable, runKnownFailure } from './testing/session.ts'
