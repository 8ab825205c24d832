export {type AnthropicOptions, type AnthropicTools, anthropicTools} from './adapters/anthropic.ts';
export {type OpenaiChatTools, type OpenaiTools, openaiChatTools, openaiTools} from './adapters/openai.ts';
export {vercelTools} from './adapters/vercel-ai.ts';
export {ConfigError} from './config/config-error.ts';
export type {Config} from './config/config-schema.ts';
export type {Clock} from './core/clock.ts';
export {FAILURE_CODES, type FailureCode} from './core/failure-codes.ts';
export type {Log, LogEvent, LogLevel} from './core/log.ts';
export type {Failure, Result} from './core/result.ts';
export type {ToolRequest, ToolResult} from './core/tool.ts';
export type {
  ApprovalAnswer,
  ApprovalQuestion,
  ApprovalRule,
  Approver,
  CallOptions,
  ToolHost,
  ToolListing,
} from './core/tool-host.ts';
export {
  type CallContext,
  createToolbox,
  type Toolbox,
  type ToolboxOptions,
  type ToolboxPorts,
  type ToolRequestOf,
  type ToolResultOf,
} from './create-toolbox.ts';
export type {ToolMethods, ToolTypes} from './tools/tool-methods.data.ts';
export type {WebFetchArgs} from './tools/web/web-fetch.ts';
export type {HostResolver} from './web/guard/resolver.ts';
export type {CanonicalUrl, FetchChunk, FetchResponse, Note, TruncationReason} from './web/page.ts';
export {
  canonicalizeUrl,
  chunkMarkdown,
  countTokens,
  type HtmlToMarkdownOptions,
  htmlToMarkdown,
  InvalidUrlError,
  isAllowedByRobots,
  parseRobots,
} from './web/public-api.ts';
export type {Robots} from './web/robots/robots.ts';
export {type FileSystem, globFiles, InMemoryFileSystem} from './workspace/memory-workspace.ts';
export type {ProcessEnd, ProcessRequest, ProcessRunner} from './workspace/process-runner.ts';
