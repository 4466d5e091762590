export type { Agent, AgentContext, AgentState, ModelAccess, VisibleSample } from './agent/agent.ts'
export { type Bridge, type BridgeOptions, openBridge } from './agent/bridge/bridge.ts'
export type { ResponseCacheOptions } from './agent/calls/response-cache.ts'
export { aider } from './agent/cli/aider.ts'
export { claudeCode } from './agent/cli/claude-code.ts'
export {
  type CliAgentFacts,
  type CliAgentOptions,
  type CliAgentRun,
  cliAgent,
} from './agent/cli/cli-agent.ts'
export { codex } from './agent/cli/codex.ts'
export { geminiCli } from './agent/cli/gemini-cli.ts'
export { miniSweAgent } from './agent/cli/mini-swe-agent.ts'
export type { NamedAgentOptions } from './agent/cli/named-agent.ts'
export { openCode } from './agent/cli/opencode.ts'
export { type HumanOptions, human } from './agent/human.ts'
export {
  type ApprovalDecision,
  type ApprovalPolicy,
  approve,
  type RejectOptions,
  reject,
} from './agent/loop/approval.ts'
export { type AskOptions, askAPerson } from './agent/loop/ask-a-person.ts'
export { type Compaction, summarize, trim } from './agent/loop/compaction.ts'
export { type Submission, type ToolLoopOptions, toolLoop } from './agent/loop/tool-loop.ts'
export { type McpServerOptions, mcpServer } from './agent/mcp/mcp-server.ts'
export type { AssistantMessage, Message, ToolCall, ToolError, ToolMessage } from './agent/messages.ts'
export type {
  GenerateConfig,
  Model,
  ModelOutput,
  ModelRequest,
  ModelUsage,
  RawCall,
  ReasoningEffort,
  StopReason,
  ToolChoice,
  ToolDescription,
} from './agent/model.ts'
export { nop } from './agent/nop.ts'
export { oracle } from './agent/oracle.ts'
export { type FromAiSdkOptions, fromAiSdk } from './agent/providers/ai-sdk/from-ai-sdk.ts'
export type { AiSdkModel } from './agent/providers/ai-sdk/types.ts'
export { type LoadModelOptions, loadModel } from './agent/providers/load-model.ts'
export { agentTool, handOff, type RunAgentOptions, runAgent } from './agent/run-agent.ts'
export { type ScriptedCommand, scripted } from './agent/scripted.ts'
export { type ScriptedModelOptions, type ScriptedOutput, scriptedModel } from './agent/scripted-model.ts'
export { span } from './agent/span.ts'
export { defineTool, type OpenTools, type Tool, ToolCallError, type ToolSource } from './agent/tool.ts'
export { bash } from './agent/tools/bash.ts'
export { grep } from './agent/tools/grep.ts'
export { listFiles } from './agent/tools/list-files.ts'
export { python } from './agent/tools/python.ts'
export { readFile } from './agent/tools/read-file.ts'
export { shell } from './agent/tools/shell.ts'
export { submit } from './agent/tools/submit.ts'
export { textEditor } from './agent/tools/text-editor.ts'
export { think } from './agent/tools/think.ts'
export type { Transcript, TranscriptEvent } from './agent/transcript.ts'
export * from './errors.ts'
export type { Budget, ModelPrice, Prices, SampleLimits } from './limit/budget.ts'
export {
  ResumeConfigError,
  ResumeIdentityError,
  ResumeVersionError,
  RunExistsError,
} from './log/prior/resume-errors.ts'
export { readLog } from './log/read/log-reader.ts'
export type { HeaderRecord, LogRecord, SampleRecord } from './log/records/records.ts'
export type { EvalControl, LiveSample, RunControls, TaskCancelAction } from './run/control/eval-control.ts'
export type { CancelAction, ControlReply } from './run/dispatch/run-control.ts'
export type { EvalResult } from './run/eval-parts.ts'
export { evaluate, type RunResult } from './run/evaluate.ts'
export type { EvaluateOptions } from './run/options.ts'
export {
  type RescoreAction,
  type ScoredLog,
  type ScoreFailure,
  type ScoreLogOptions,
  scoreLog,
} from './run/rescore/score-log.ts'
export type { RunEvent } from './run/run-event.ts'
export { evaluateSet } from './run/set/evaluate-set.ts'
export type { SetManifest } from './run/set/folder/set-manifest.ts'
export type { SetPart } from './run/set/plan/set-part.ts'
export type { SetEvent } from './run/set/set-event.ts'
export type { SetOptions, SetResult, SetTaskResult, SetTasks } from './run/set/set-options.ts'
export {
  type AudioPart,
  type Content,
  type ContentPart,
  type DocumentPart,
  type ImagePart,
  type MediaPart,
  type ReasoningPart,
  type TextPart,
  textOf,
  type VideoPart,
} from './sample/content.ts'
export type { SandboxIdentity, SandboxSelector } from './sample/identity.ts'
export type { Input, InputPart, MediaReference } from './sample/input.ts'
export type { FileContent, ReadySample, Sample, SampleFiles } from './sample/sample.ts'
export { type DockerConfig, docker, type SandboxSpec } from './sample/sandbox-spec.ts'
export type { SandboxProvider } from './sandbox/provider.ts'
export type {
  ExecOptions,
  ExecResult,
  ListenOptions,
  Sandbox,
  SandboxListener,
  SandboxProcess,
  SpawnOptions,
} from './sandbox/sandbox.ts'
export { type AnswerKind, answer } from './score/answer.ts'
export { choice, choicePrompt } from './score/choice.ts'
export { type CommandOptions, command } from './score/command.ts'
export { exact } from './score/exact.ts'
export { type F1Options, f1 } from './score/f1.ts'
export { includes } from './score/includes.ts'
export { match } from './score/match.ts'
export { type MathOptions, math } from './score/math/math.ts'
export { accuracy, bootstrap, grouped, type Metric, mean, std, stderr, variance } from './score/metrics.ts'
export { type ModelGradedOptions, modelGraded } from './score/model-graded.ts'
export { pattern } from './score/pattern.ts'
export type { Reducer, ReducerName } from './score/reduce.ts'
export { scoreToNumber } from './score/score-number.ts'
export type { Score, Scorer, ScorerContext } from './score/scorer.ts'
export type { ReportFormat } from './score/tests/report.ts'
export { type RewardFileOptions, rewardFile } from './score/tests/reward-file.ts'
export type { NoResult } from './score/tests/run-verifier.ts'
export type { TestResult } from './score/tests/test-result.ts'
export { type TestSuiteOptions, testSuite } from './score/tests/test-suite.ts'
export {
  type DatasetFile,
  type DatasetFileOptions,
  type DatasetInfo,
  fileDataset,
} from './task/dataset-file.ts'
export type { EarlyStopping, StoppableSample } from './task/early-stopping.ts'
export { type EnqueuedSample, enqueueSample } from './task/enqueue.ts'
export { type FewShotOptions, type FewShots, fewShot } from './task/few-shot.ts'
export { type LoadedTask, loadTasks } from './task/load-tasks.ts'
export { materializeMedia } from './task/materialize-media.ts'
export { type AbandonedReason, type NextSamplesContext, SampleSource } from './task/sample-source.ts'
export type { Secret } from './task/secrets.ts'
export { defineTask, type Task, type TaskDefinition, type TaskFactory } from './task/task.ts'
export type { TaskSetup, TaskSetupContext } from './task/task-setup.ts'
export { type EndedTask, enqueueTask, TaskSource } from './task/task-source.ts'
