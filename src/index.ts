export {type AnthropicOptions, type AnthropicTools, anthropicTools} from './adapters/anthropic.ts';
export {type OpenaiTools, openaiTools} from './adapters/openai.ts';
export {type OpenaiChatTools, openaiChatTools} from './adapters/openai-chat.ts';
export {vercelTools} from './adapters/vercel-ai.ts';
export {ConfigError} from './config/config-error.ts';
export type {Config} from './config/config-schema.ts';
export type {Clock} from './core/clock.ts';
export type {Failure} from './core/failure/failure.ts';
export {FAILURE_CODES, type FailureCode} from './core/failure/failure-codes.ts';
export type {Log, LogEvent, LogLevel} from './core/log.ts';
export type {Result} from './core/result.ts';
export type {ToolError, ToolRequest, ToolResult} from './core/tool.ts';
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
} from './create-toolbox.ts';
export type {WebFetchArgs} from './tools/web/web-fetch.ts';
export type {HostResolver} from './web/guard/dns/host-resolver.ts';
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
export type {FileSystem} from './workspace/file-system.ts';
export {globFiles} from './workspace/glob/glob-files.ts';
export {InMemoryFileSystem} from './workspace/in-memory-file-system.ts';
export type {ProcessEnd, ProcessRequest, ProcessRunner} from './workspace/process/process-runner.ts';
