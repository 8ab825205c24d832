import {expect, test} from 'vitest';
import {fail} from './fail.ts';
import {FAILURE_CODES} from './failure-codes.ts';

/** SRD 3.7.2 as it is printed there. 408, 429 and `tool_output_limit` are exceptions of single failures. */
const PRINTED = {
  bad_args: [false, 'field', 'reason'],
  invalid_url: [false, 'url'],
  invalid_scheme: [false, 'scheme'],
  invalid_host: [false, 'host'],
  port_blocked: [false, 'port', 'allowed_ports'],
  ssrf_blocked: [false, 'blocked_ip', 'cidr', 'toggle'],
  dns_failed: [true, 'host', 'error'],
  robots_disallowed: [false, 'path', 'origin'],
  robots_unavailable: [true, 'origin', 'error'],
  redirect_limit: [false, 'count', 'max'],
  timeout: [true, 'timeout_ms', 'phase'],
  network: [true, 'error'],
  response_too_large: [false, 'size', 'max_bytes'],
  unsupported_content_type: [false, 'content_type'],
  http_4xx: [false, 'status', 'status_text'],
  http_5xx: [true, 'status', 'status_text'],
  browser_unavailable: [false, 'chromium_path', 'error'],
  browser_crashed: [true, 'error'],
  extraction_failed: [false, 'error'],
  cache_read_failed: [true, 'path', 'error'],
  internal: [true, 'error'],
} as const satisfies Partial<Record<keyof typeof FAILURE_CODES, readonly [boolean, ...string[]]>>;

test.each(Object.entries(PRINTED))('FR-WF-18 FR-WF-18a %s is in the registry as printed: %j', (code, row) => {
  const [retryable, ...details] = row;
  const known = code as keyof typeof PRINTED;
  expect(FAILURE_CODES[known].retryable).toBe(retryable);
  expect(FAILURE_CODES[known].details).toEqual(expect.arrayContaining([...details]));
  expect(fail(known, 'what happened').error).toMatchObject({code, message: 'what happened', retryable});
});
