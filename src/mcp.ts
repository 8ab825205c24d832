export {createMcpService, type McpService, type McpServiceOptions} from './mcp/create-mcp-service.ts';
export {type HttpOptions, type HttpService, serveHttp} from './mcp/http/serve-http.ts';
export {CallMetrics} from './mcp/metrics.ts';
export {type StdioOptions, serveStdio} from './mcp/serve-stdio.ts';
