export { type ScriptedOutput, scriptedModel } from './agent/scripted-model.ts'
export { FakeProvider, type FakeProviderOptions } from './sandbox/fake/fake-provider.ts'
export { type FakeExec, FakeSandbox } from './sandbox/fake/fake-sandbox.ts'
