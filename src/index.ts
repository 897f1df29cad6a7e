export type { Configuration, ConfiguredOptions } from './config/configuration.js';
export { loadConfig } from './config/load-config.js';
export type { AgentRunner, AgentWorld, NarrowOptions } from './contract/agent-runner.js';
export type { AgentReply, AgentTask, ToolAgents } from './contract/agents.js';
export type {
  ApprovalDecision,
  ApprovalRequest,
  Approver,
  Disposition,
  PersonWhileRunning,
  Plan,
  PlannedCall,
  Reviewer,
  ReviewRequest,
  ReviewVerdict,
  ShownFile,
} from './contract/approval.js';
export type {
  ContentBlock,
  Executed,
  MediaBlock,
  ReadError,
  ResourceBlock,
  ResourceLinkBlock,
  ResultError,
  TextBlock,
  ToolCall,
  ToolFailure,
  ToolResult,
  ToolSuccess,
} from './contract/call.js';
export type { CommandChanges, UnkeptChange } from './contract/changes.js';
export type {
  Clock,
  ContextLimits,
  ConversationMemory,
  Logger,
  Middleware,
  MiddlewareContext,
  ToolContext,
} from './contract/context.js';
export type { Transcript, TranscriptEntry } from './contract/conversation.js';
export type { Effect, EffectFields, EffectKind, Risk } from './contract/effect.js';
export type {
  ApproveOptions,
  BatchRun,
  DecideOptions,
  Executor,
  ExecutorMode,
  IncomingBatch,
  Preview,
  ReadOutputOptions,
  RunOptions,
  SkippedFile,
  SubmittedResult,
  ToolEvent,
  UndoOptions,
  UndoReport,
  WaitingOptions,
} from './contract/executor.js';
export type {
  ExternalSpan,
  ExternalToolChange,
  ExternalToolCircuit,
  ExternalToolInfo,
  ExternalToolMetrics,
  ExternalToolStatus,
  ExternalTools,
  ExternalToolsReport,
  ToolSource,
  TraceContext,
} from './contract/external.js';
export type {
  ChangeOptions,
  ContainedFiles,
  DirectoryEntry,
  FileChange,
  FileIntent,
  FileStat,
  IntendedChange,
  ReadOptions,
  Sandbox,
  WriteAllOptions,
  WriteMode,
  WriteOutcome,
} from './contract/files.js';
export type {
  Acceptance,
  BatchDecision,
  BatchEntry,
  BatchFilter,
  BatchMessage,
  BatchRecord,
  CallEntry,
  CallKey,
  CallPage,
  CallRecord,
  CallState,
  ConversationEntry,
  ConversationFact,
  ConversationMessage,
  DecisionKind,
  Journal,
  JournalNote,
  LiveText,
  OpenCounts,
  Placement,
  Pruned,
  PruneLimits,
  QueuedPage,
  RecalledFacts,
  Renewal,
  SessionWorker,
  Settlement,
  Worker,
  WorkerOffer,
  WorkerSession,
} from './contract/journal.js';
export type { JsonObject, JsonSchema, JsonValue } from './contract/json.js';
export type { RecoveredBatch, RecoveredCall, WaitingBatch } from './contract/open-batch.js';
export type { CallOrigins, Origin } from './contract/origin.js';
export type { CacheStats, ResultCache } from './contract/outputs.js';
export type {
  CommandMark,
  CommandPart,
  Picture,
  PicturePart,
} from './contract/picture.js';
export type { Policy, PolicyAnswer, PolicyQuestion, WriteConsent } from './contract/policy.js';
export type {
  CommandOutcome,
  CommandSandbox,
  ExposedPort,
  KeptOutput,
  LimitHit,
  SandboxRefusal,
} from './contract/processes.js';
export type {
  Asker,
  AskOptions,
  FormPart,
  Question,
  QuestionAnswer,
  QuestionOption,
} from './contract/question.js';
export type { AskedTicket, TicketOptions } from './contract/ticket.js';
export type {
  PreviewContext,
  ProbeContext,
  Registry,
  Tool,
  ToolAnnotations,
  ToolCategory,
  ToolDefinition,
  ToolOutput,
  ToolReturn,
  ToolSpec,
  TypedTool,
} from './contract/tool.js';
export type { ToolProcesses } from './contract/tool-processes.js';
export type { ErrorCode } from './errors/catalogue.js';
export { isToolError, ToolError } from './errors/tool-error.js';
export { describeRequest } from './executor/approve/describe-request.js';
export { builtinTools } from './executor/builtin-tools.js';
export { createResultCache, type ResultCacheOptions } from './executor/cache/create-result-cache.js';
export { createExecutor } from './executor/create-executor.js';
export { defineTool } from './executor/declare/define-tool.js';
export { createRegistry, defaultRegistry } from './executor/declare/registry.js';
export { discoverTools } from './executor/discover-tools.js';
export type { CommandLimitOptions, ExecutorOptions } from './executor/executor-options.js';
export {
  createMetrics,
  createTiming,
  loggingMiddleware,
  type Metrics,
  type ToolMetrics,
} from './executor/middleware/builtin-middleware.js';
export type { BreakerOptions } from './external/circuit-breaker.js';
export type { DiscoverOptions } from './external/external-options.js';
export type { ConcurrencyLimits } from './external/limit-calls.js';
export type { BeginSpan } from './external/trace-context.js';
export type { VersionRanges } from './external/version-ranges.js';
export type { WarmOptions } from './external/warm-pool.js';
export type { SandboxRoot } from './files/sandbox-options.js';
export { openJournal } from './journal/open-journal.js';
export { type CommandAgentsOptions, commandAgents, type ModelAgentsOptions } from './loop/agents.js';
export type {
  LoopEvent,
  LoopResult,
  LoopRunOptions,
  LoopState,
  ToolLoop,
  ToolLoopOptions,
} from './loop/loop-contract.js';
export { createToolLoop, modelAgents } from './loop/tool-loop.js';
export type { WireFormat } from './providers/registry.js';
