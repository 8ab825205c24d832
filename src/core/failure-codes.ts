// The one table of failure codes: who is to blame, whether a retry helps, and which details they carry.

type Blame = 'caller' | 'policy' | 'remote' | 'host';

interface CodeEntry {
  /** Who has to change something for the call to succeed. */
  readonly blame: Blame;
  /** Whether the same call may succeed later without anybody's doing. */
  readonly retryable: boolean;
  /** Values of `details.error` that pass with time, so that the failure is retryable. */
  readonly passing?: readonly string[];
  /** What happened, in one line. */
  readonly meaning: string;
  /** What the one who reads the error does next. */
  readonly next: string;
  /** Names that `details` may carry. */
  readonly details: readonly string[];
}

// biome-ignore format: an entry is a line
/** All failure codes, with who is to blame and whether the same call may succeed later. (SRD 3.7.2) */
export const FAILURE_CODES = {
  bad_args: {blame: 'caller', retryable: false, meaning: 'The arguments of the call are invalid.', next: 'Correct the argument that `details.field` names and call again.', details: ['field', 'reason', 'validation']},
  invalid_url: {blame: 'caller', retryable: false, meaning: 'The URL cannot be parsed, carries credentials, or has an IPv6 zone.', next: 'Pass an absolute http or https URL without user name or password.', details: ['url', 'reason']},
  invalid_scheme: {blame: 'caller', retryable: false, meaning: 'The URL is neither http nor https.', next: 'Use an http:// or https:// address of the same document.', details: ['scheme']},
  invalid_host: {blame: 'caller', retryable: false, meaning: 'The host is an IPv4 address in a form other than canonical dotted decimal.', next: 'Write the address as four decimal numbers, or use the host name.', details: ['host', 'canonical']},
  port_blocked: {blame: 'policy', retryable: false, meaning: 'The port is not in tools.webfetch.security.allowed_ports.', next: 'Use an allowed port, or have the operator add the lines that the message shows.', details: ['port', 'allowed_ports']},
  ssrf_blocked: {blame: 'policy', retryable: false, meaning: 'The host is, or resolves to, an address that the guard blocks.', next: 'Use a public address. Trying another spelling of the same host gives the same answer. The message shows the operator the lines that open a page of their own.', details: ['blocked_ip', 'cidr', 'toggle', 'host']},
  dns_failed: {blame: 'remote', retryable: true, meaning: 'The host name could not be resolved.', next: 'Check the spelling of the host; retry if it is right.', details: ['host', 'error']},
  robots_disallowed: {blame: 'policy', retryable: false, meaning: 'The robots.txt of the site disallows this path for us.', next: 'Choose another source; the site does not want this page fetched by programs.', details: ['path', 'origin', 'rule']},
  robots_unavailable: {blame: 'remote', retryable: true, meaning: 'The robots.txt of the site could not be read, so nothing of it may be fetched.', next: 'Retry later, or fetch `details.redirect_target` if it is given.', details: ['origin', 'error', 'redirect_target', 'status']},
  redirect_limit: {blame: 'remote', retryable: false, meaning: 'More redirects than max_redirects.', next: 'Fetch a later address of the chain, or raise tools.webfetch.max_redirects.', details: ['count', 'max']},
  timeout: {blame: 'remote', retryable: true, meaning: 'The time budget of the call ran out in the phase that `details.phase` names.', next: 'Retry; for web_fetch raise tools.webfetch.timeout_seconds, for other tools ask for less at once.', details: ['timeout_ms', 'phase', 'partial']},
  network: {blame: 'remote', retryable: true, meaning: 'The connection failed, or the server broke the protocol.', next: 'Retry; if `details.error` stays the same, the server is at fault.', details: ['error', 'status', 'host', 'reason', 'addresses']},
  response_too_large: {blame: 'remote', retryable: false, meaning: 'The document is larger than max_download_bytes after decompression.', next: 'Fetch a smaller document, or raise tools.webfetch.max_download_bytes.', details: ['size', 'max_bytes']},
  unsupported_content_type: {blame: 'remote', retryable: false, meaning: 'The document is neither HTML nor plain text.', next: 'Look for an HTML or text version of the document.', details: ['content_type']},
  http_4xx: {blame: 'remote', retryable: false, meaning: 'The server answered with a client error (408 and 429 can be retried).', next: 'Check the address; on 408 and 429 wait, then retry.', details: ['status', 'status_text', 'retry_after', 'reason', 'challenge']},
  http_5xx: {blame: 'remote', retryable: true, meaning: 'The server answered with a server error.', next: 'Retry later.', details: ['status', 'status_text', 'retry_after']},
  browser_unavailable: {blame: 'host', retryable: false, meaning: 'The page needs a browser and none can be run here.', next: 'Call without force_browser, or install Chromium and set browser.chromium_path.', details: ['chromium_path', 'error']},
  browser_crashed: {blame: 'host', retryable: true, meaning: 'The browser process died while it rendered the page.', next: 'Retry once; if it crashes again, call without force_browser.', details: ['error']},
  extraction_failed: {blame: 'remote', retryable: false, meaning: 'The document could not be turned into Markdown.', next: 'Look for another version of the document.', details: ['error', 'reason']},
  cache_read_failed: {blame: 'host', retryable: true, meaning: 'A cache entry could not be read. A fetch never fails for it; only cache commands return it.', next: 'Check the permissions of the cache directory.', details: ['path', 'error']},
  snapshot_gone: {blame: 'caller', retryable: false, meaning: 'The snapshot is no longer kept, and the page has another text now (web_read, verify_quote).', next: 'Read the page again without `snapshot`; old positions and chunk numbers do not hold.', details: ['snapshot', 'current']},
  license_required: {blame: 'remote', retryable: false, meaning: 'The site wants a licence for this use (web_read, verify_quote; web_fetch says `http_4xx` with this as `details.reason`).', next: 'Choose another source, or have the operator get a licence and set it as a credential of the origin.', details: ['status', 'status_text', 'retry_after', 'challenge']},
  hub_unavailable: {blame: 'host', retryable: true, meaning: 'The hub, which replicas share, did not answer or cannot be used (ours).', next: 'Retry; if it lasts, have the operator run `forge-tools doctor`.', details: ['error', 'operation']},
  host_busy: {blame: 'remote', retryable: true, meaning: 'The host was not asked: it requested a pause, or other replicas kept it busy for too long (ours).', next: 'Retry after `details.retry_after` seconds.', details: ['host', 'reason', 'retry_after']},
  invalid_params: {blame: 'caller', retryable: false, meaning: 'The parameters of a workspace tool are invalid.', next: 'Correct the parameter that `details.field` names and call again.', details: ['field', 'reason', 'validation', 'total_lines', 'edit']},
  path_escape: {blame: 'policy', retryable: false, meaning: 'The path leaves the workspace, or names a place no tool may write, such as .git/.', next: 'Use a path inside the workspace.', details: ['path', 'reason', 'problems']},
  symlink_blocked: {blame: 'policy', retryable: false, meaning: 'The path goes through a symbolic link.', next: 'Use the path of the real file inside the workspace.', details: ['path', 'component', 'problems']},
  file_not_found: {blame: 'caller', retryable: false, meaning: 'There is no such file or directory.', next: 'Look the path up with list_files or glob.', details: ['path', 'similar', 'problems']},
  not_a_file: {blame: 'caller', retryable: false, meaning: 'The path is a directory, device, FIFO or socket, or a file to write with several hard links.', next: 'Name a regular file.', details: ['path', 'kind', 'problems']},
  binary_file: {blame: 'caller', retryable: false, meaning: 'The file is not UTF-8 text.', next: 'Use run with a tool that understands the format.', details: ['path', 'offset']},
  file_too_large: {blame: 'caller', retryable: false, meaning: 'The file is larger than this operation handles.', next: 'Read a range of lines, or use run.', details: ['path', 'size', 'max_bytes']},
  not_read: {blame: 'caller', retryable: false, meaning: 'The file was not read in this session, so it may not be changed yet.', next: 'Call read_file on it first.', details: ['path']},
  stale_read: {blame: 'caller', retryable: false, meaning: 'The content of the file changed since it was read in this session.', next: 'Call read_file again and base the change on what it says.', details: ['path', 'problems']},
  no_match: {blame: 'caller', retryable: false, meaning: 'The text to replace does not occur.', next: 'Compare with the nearest match in `details`, or read the file again.', details: ['path', 'nearest', 'hint', 'edit']},
  ambiguous_match: {blame: 'caller', retryable: false, meaning: 'old_string occurs more than once.', next: 'Add surrounding lines until it is unique, or set replace_all.', details: ['path', 'count', 'lines', 'edit']},
  patch_parse_error: {blame: 'caller', retryable: false, meaning: 'The text is not a unified diff that may be applied.', next: 'Send a plain unified diff with ---, +++ and @@ lines.', details: ['line', 'reason', 'problems']},
  patch_hunk_fail: {blame: 'caller', retryable: false, meaning: 'A hunk does not match the file. Nothing was written.', next: 'Read the named lines again and rebuild the hunks in `details.problems`.', details: ['problems']},
  ripgrep_unavailable: {blame: 'host', retryable: false, meaning: 'ripgrep is not installed.', next: 'Install ripgrep (`apt-get install ripgrep`) or the optional package @vscode/ripgrep.', details: ['error']},
  ripgrep_error: {blame: 'caller', retryable: false, meaning: 'ripgrep refused the search, for example for an invalid regular expression.', next: 'Correct the query; `details.error` has the words of ripgrep.', details: ['error', 'exit_code']},
  sandbox_error: {blame: 'host', retryable: false, meaning: 'No sandbox could be started, so nothing was run.', next: 'Follow the line in `details.remedy`.', details: ['error', 'remedy', 'tried']},
  unsupported_platform: {blame: 'host', retryable: false, meaning: 'This operating system lacks a part that the call needs.', next: 'Use what `details.remedy` names, or another machine.', details: ['platform', 'remedy', 'tried']},
  abnormal_exit: {blame: 'remote', retryable: false, meaning: 'The command was killed by a signal or ran out of memory.', next: 'Look at the output; give the command less to do.', details: ['signal', 'reason', 'exit_code', 'partial']},
  io_error: {blame: 'host', retryable: false, passing: ['EAGAIN', 'EBUSY', 'EINTR', 'EMFILE', 'ENFILE', 'ESTALE', 'ETIMEDOUT', 'ETXTBSY'], meaning: 'The operating system refused a file operation. Nothing was half-written.', next: 'Check permissions and free space; `details.error` has the code of the operating system.', details: ['path', 'error', 'operation']},
  approval_required: {blame: 'policy', retryable: false, meaning: 'The call needs an approval and nobody can be asked here.', next: 'Have the operator allow it with the setting that the message names.', details: ['tool', 'setting', 'approval_id', 'rule']},
  approval_denied: {blame: 'policy', retryable: false, meaning: 'The user, or a rule, refused the call.', next: 'Do not repeat the call; take the reason into account.', details: ['tool', 'reason', 'rule', 'host']},
  unknown_tool: {blame: 'caller', retryable: false, meaning: 'There is no tool of that name, or it is not enabled.', next: 'Use one of `details.available`.', details: ['tool', 'available', 'did_you_mean']},
  tool_disabled: {blame: 'policy', retryable: false, meaning: 'The configuration keeps the tool from being executed.', next: 'Have the operator add the shown line to the named file.', details: ['tool', 'setting']},
  cancelled: {blame: 'caller', retryable: true, meaning: 'The caller cancelled the call or closed the toolbox (ours).', next: 'Call again if you still want the answer. If `details.phase` is "closed", create a new toolbox first.', details: ['phase']},
  internal: {blame: 'host', retryable: true, meaning: 'An unexpected error, or the output limit is too small for any answer.', next: 'On `tool_output_limit` allow more output; otherwise report it with `details.error`.', details: ['error', 'max_bytes']},
} as const satisfies Record<string, CodeEntry>;

/** The codes of failures. docs/errors.md says of each who is to blame and what to do. */
export type FailureCode = keyof typeof FAILURE_CODES;

export function isRetryable(code: FailureCode, {error}: {readonly error?: unknown}): boolean {
  const {retryable, passing = []}: CodeEntry = FAILURE_CODES[code];
  return retryable || passing.some(value => value === error);
}
