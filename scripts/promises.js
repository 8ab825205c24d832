/**
 * What SECURITY.md promises, and the tests that prove it: a path, or the beginning of paths, and where only some
 * of their tests count, a part of the titles. `npm run security` fills in cases and results.
 */
export const PROMISES = [
  {
    promise: 'No address inside is reached: every special range, in every spelling and embedding',
    proofs: [
      'test/hostile/addresses-classifier.test.ts',
      'src/web/guard/classify-address.test.ts',
      'src/web/ip/ip-address.test.ts',
    ],
  },
  {
    promise:
      'The tool, a redirect, robots.txt, `<base>` and the browser get the same verdict about an address',
    proofs: ['test/hostile/addresses-reached.test.ts', 'test/e2e/web-fetch-policy.test.ts'],
  },
  {
    promise:
      'Names that change their answer, mix public and private ones, or answer without end reach nothing',
    proofs: ['test/hostile/dns', 'src/web/guard/create-guard.test.ts'],
  },
  {
    promise:
      'Whatever a server sends, the right code comes within the deadline, and sockets and memory come back',
    proofs: ['test/hostile/wire.test.ts', 'test/hostile/wire-keep-alive.test.ts', 'src/web/transport/'],
  },
  {
    promise: 'A credential goes to its one origin, and is kept and said nowhere',
    proofs: ['test/hostile/credential-leaks.test.ts'],
  },
  {promise: 'TLS is verified, and what is wrong with it is said', proofs: ['test/hostile/wire-tls.test.ts']},
  {
    promise:
      'Bombs, nested codings and wrong encodings end at their limits, each tested one below, at and above',
    proofs: ['test/hostile/encoding-'],
  },
  {
    promise: 'robots.txt is obeyed as RFC 9309 says',
    proofs: ['src/web/robots/', 'test/e2e/'],
    titles: /robots|ROB-/i,
  },
  {
    promise: 'Chromium has no network: no packet leaves, and a sign of one ends it',
    proofs: [
      'test/e2e/browser-egress.test.ts',
      'test/e2e/browser-guard.test.ts',
      'test/e2e/browser-remains.test.ts',
    ],
  },
  {
    promise: 'Documents of any structure take time and memory that grow with their length, no faster',
    proofs: [
      'test/hostile/documents-growth.test.ts',
      'test/hostile/reading-growth.test.ts',
      'src/web/extract/hostile-html.test.ts',
    ],
  },
  {
    promise: 'A deadline ends a heavy page, and the others are answered meanwhile',
    proofs: ['test/hostile/documents-deadline.test.ts', 'test/hostile/pdf-damaged.test.ts'],
  },
  {
    promise: 'No control or invisible character, raw HTML, fence or link trick gets out, by any interface',
    proofs: ['test/hostile/output-'],
  },
  {
    promise:
      'The cache survives kills, full disks, strangers and hostile entries, and never serves a wrong page',
    proofs: ['test/hostile/cache-files-', 'src/web/cache/'],
  },
  {
    promise: 'When any one I/O operation fails: a typed error, nothing left open, nothing half-written',
    proofs: ['test/hostile/faults'],
  },
  {
    promise: 'Ten thousand calls with faults in one process: no growth, every call answered',
    proofs: ['test/hostile/soak.test.ts'],
  },
  {
    promise: 'A tree that is moved at full speed while tools and commands work in it leads none of them out',
    proofs: ['test/hostile/moving-adversary.test.ts', 'test/hostile/workspace-swaps.test.ts'],
  },
  {
    promise: 'Nothing in the workspace is believed: no program, package, configuration or journal',
    proofs: [
      'src/system/find-program.test.ts',
      'test/e2e/protected-paths.test.ts',
      'src/workspace/protect/protected-paths.test.ts',
      'src/workspace/edit/recover-journals.test.ts',
    ],
  },
  {
    promise: 'No tool leaves the working tree, by name, link or race',
    proofs: [
      'src/workspace/jail/',
      'src/workspace/open-file.test.ts',
      'src/workspace/protect/protected-',
      'src/workspace/workspace-path.test.ts',
      'test/hostile/workspace-',
    ],
  },
  {
    promise: 'A patch is whole or not at all, whatever it says and wherever it is cut off',
    proofs: ['src/workspace/patch/', 'src/workspace/edit/'],
  },
  {
    promise:
      'Whoever edits at the same time, in whichever process: a success is in the tree, and can be undone',
    proofs: [
      'test/hostile/edit-schedules.test.ts',
      'test/hostile/edit-kill-points.test.ts',
      'src/tools/change/one-commit.test.ts',
      'src/tools/change/undo-step.test.ts',
    ],
  },
  {
    promise:
      'A command has the working tree and nothing else, and nothing outlives it (Docker and bubblewrap)',
    proofs: ['test/e2e/sandbox-', 'test/hostile/background-', 'test/hostile/sandbox-', 'src/sandbox/'],
  },
  {
    promise:
      'Commands reach the hosts that the operator names and nothing else: 78 ways out, no packet past the gate (Docker and bubblewrap)',
    proofs: ['test/hostile/egress-', 'test/e2e/egress-', 'src/egress/'],
  },
  {
    promise: 'No argument changes policy; what was approved is what was shown; `deny` holds',
    proofs: [
      'src/runtime/approvals/',
      'src/runtime/execute-call.test.ts',
      'src/mcp/approval/approval-form.test.ts',
    ],
  },
  {
    promise:
      'With taint enforced, an obedient agent that a page has hijacked reaches no address and no file that executes later without a person',
    proofs: ['test/hostile/taint', 'src/runtime/taint/'],
  },
  {
    promise: 'The log verifies after a kill at any moment, and shows what was changed',
    proofs: ['src/runtime/events/', 'src/runtime/session'],
  },
  {
    promise: 'MCP over HTTP answers nobody without the token, on no other host or origin',
    proofs: ['src/mcp/http/serve-http.test.ts'],
  },
  {
    promise: 'What a page or a command wrote cannot run in a report',
    proofs: ['test/e2e/report', 'src/report/'],
  },
  {
    promise: 'Code that skips the guard does not compile; powers stay where they are given',
    proofs: ['test/architecture.test.ts'],
  },
];
