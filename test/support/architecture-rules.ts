import {builtinModules} from 'node:module';
import {dirname, join} from 'node:path/posix';
import {type Import, lineAt, type SourceModule} from './source-module.ts';

/** Looks at all modules of src/ and says what breaches it, one line each. */
export type Rule = (modules: readonly SourceModule[]) => readonly string[];

/** docs/architecture.md: room → the rooms below it. A room may always import itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  system: ['core'],
  web: ['core', 'system'],
  workspace: ['core', 'system'],
  sandbox: ['core', 'system'],
  egress: ['core', 'system'],
  runtime: ['core', 'system'],
  hub: ['core', 'system'],
  tools: ['core', 'system', 'web', 'workspace', 'sandbox'],
  config: ['core', 'system'],
  // Shows what the runtime wrote, by the same definitions of an event and of its chain, and diffs as the workspace makes them.
  report: ['core', 'system', 'runtime', 'workspace'],
  // biome-ignore format: a list
  'create-toolbox': [
    'core', 'system', 'config', 'web', 'workspace', 'sandbox', 'egress', 'runtime', 'hub', 'tools', 'report',
  ],
  index: ['core', 'config', 'web', 'workspace', 'sandbox', 'runtime', 'tools', 'create-toolbox', 'adapters'],
  // Definitions for other people's APIs: a third interface.
  adapters: ['core', 'system'],
  mcp: ['core', 'system', 'config', 'create-toolbox', 'index'],
  cli: ['core', 'system', 'config', 'create-toolbox', 'index', 'mcp', 'adapters'],
};

/** The words that every stage of web/ shares. */
const WEB_VOCABULARY = ['src/web/page.ts', 'src/web/options.ts'];

/**
 * Which stages of web/ a stage may import: those below it. What meets the network is url < guard < transport < robots <
 * navigate; what meets the text is tokens < chunk < read, extract < convert. The files of web/ itself are the spine.
 */
const STAGE_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'url.ts': [],
  guard: ['url.ts'],
  transport: ['guard', 'url.ts'],
  robots: ['transport', 'guard', 'url.ts'],
  navigate: ['robots', 'transport', 'guard', 'url.ts'],
  search: ['navigate', 'guard', 'tokens', 'url.ts'],
  tokens: [],
  chunk: ['tokens'],
  read: ['chunk', 'tokens'],
  extract: [],
  // Slow work, where it can be ended (ruling C3). It decodes what came over the wire.
  convert: ['extract', 'read', 'chunk', 'tokens', 'transport'],
  // A page reaches the network through functions that the spine hands in.
  browser: ['url.ts'],
  cache: ['url.ts'],
};

interface Power {
  readonly name: string;
  /** Modules that give it. */
  readonly modules?: readonly string[];
  /** Code that uses it, looked for outside comments and literals. */
  readonly code?: RegExp;
  /** Prefixes of the paths that have it. */
  readonly holders: readonly string[];
}

// biome-ignore format: a case is a line
const POWERS: readonly Power[] = [
  {name: 'DNS', modules: ['node:dns'], holders: ['src/web/guard/']},
  {
    name: 'sockets',
    // biome-ignore format: a list
    modules: [
      'node:net', 'node:tls', 'node:http', 'node:https', 'node:http2', 'node:dgram', 'undici',
      '@redis/client',
    ],
    // The gate is what commands reach hosts by; it connects to what the guard has checked.
    // The demo serves its own pages; a live report is a page on loopback that nobody but its reader can find.
    holders: [
      'src/web/transport/',
      'src/cli/demo-site.ts',
      'src/mcp/',
      'src/report/live.ts',
      'src/egress/',
      'src/hub/redis-client.ts',
    ],
  },
  {name: 'an unguarded fetch', code: /\b(?:await|return|=>|=)\s*fetch\s*\(|\bglobalThis\s*\.\s*fetch\b|\bnew\s+(?:WebSocket|EventSource)\b/, holders: []},
  {name: 'child processes', modules: ['node:child_process', 'node:cluster'], holders: ['src/workspace/process-runner.ts', 'src/workspace/patch/patch-server.ts', 'src/workspace/desktop.ts', 'src/sandbox/', 'src/web/browser/', 'src/web/convert/workers.ts']},
  {name: 'the process environment', modules: ['node:process'], code: /\bprocess\s*\??\.\s*(?:env|cwd)\b|\bprocess\s*\[|\{[^{}]*\b(?:env|cwd)\b[^{}]*\}\s*=\s*process\b|(?<![.\w])(?:tmpdir|homedir)\s*\(/, holders: ['src/config/']},
  {name: 'the standard streams', code: /\bprocess\s*\.\s*(?:stdin|stdout|stderr|exit)\b|\{[^{}]*\bstd(?:in|out|err)\b[^{}]*\}\s*=\s*process\b|(?<![.\w])console\s*\./, holders: ['src/web/convert/pdf-reader.ts', 'src/cli/', 'src/mcp/']},
  {
    name: 'the clock',
    modules: ['node:timers', 'node:perf_hooks'],
    code: /(?<![.\w$])set(?:Timeout|Interval)\b|\bglobalThis\s*\.\s*set(?:Timeout|Interval)\b|\bDate\s*\.\s*now\b|(?<![.\w])Date\s*\(\s*\)|\bnew\s+Date\b(?!\s*\()|\bperformance\s*\.|\bprocess\s*\.\s*(?:hrtime|uptime)\b|\bAbortSignal\s*\.\s*timeout\b/,
    holders: ['src/core/'],
  },
  {name: 'randomness', code: /\bMath\s*\.\s*random\b|\b(?:randomBytes|randomUUID|randomInt|randomFill|randomFillSync|getRandomValues)\b/, holders: ['src/core/']},
  {name: 'URL.canParse', code: /\bURL\s*\.\s*canParse\b/, holders: ['src/core/text/parse.ts']},
  {name: 'TOML', modules: ['smol-toml'], holders: ['src/config/']},
];

/** Habit 3: who may say that a value is of a type that stands for a check. */
const MINTS: readonly Power[] = [
  ...['PinnedTarget', 'CheckedUrl'].map(type => mint(type, 'src/web/guard/')),
  ...['WebUrl', 'CanonicalUrl'].map(type => mint(type, 'src/web/url.ts')),
  mint('SafeHtml', 'src/report/markup.ts'),
  mint('LinkTarget', 'src/report/markup.ts'),
];

function mint(type: string, holder: string): Power {
  // `as T`, `as unknown as T`, `as Readonly<T>`, and the predicates `x is T` and `asserts x is T`.
  return {
    name: `minting ${type}`,
    code: new RegExp(`\\b(?:as|is)\\s+(?:unknown\\s+as\\s+)?(?:\\w+\\s*<\\s*)*${type}\\b`),
    holders: [holder],
  };
}

export const RULES: Readonly<Record<string, Rule>> = {
  'rooms import only what is below them': perImport(roomBreach),
  'stages of web/ import only what is below them': perImport(stageBreach),
  'core needs no package': perImport(({path}, {specifier = ''}) =>
    roomOf(path) === 'core' && isPackage(specifier) ? `imports ${specifier}` : undefined,
  ),
  'imports are literal and name a file of src/': modules => {
    const paths = new Set(modules.map(({path}) => path));
    return perImport((module, {kind, specifier}) => {
      if (specifier === undefined) return 'imports what it computes';
      const target = targetOf(module, specifier);
      if (target === undefined || (kind === 'url' && !target.startsWith('src/'))) return undefined;
      if (!paths.has(target)) return `imports ${specifier}, which is not there`;
      return kind === 'url' || specifier.endsWith('.ts') ? undefined : `imports ${specifier}; write .ts`;
    })(modules);
  },
  'files do not import each other in a circle': findCircles,
  'powers are confined': confined(POWERS),
  'what a check proved is minted by the check': confined(MINTS),
  'a file has at most 600 lines': perFile(({path, lineCount}) =>
    lineCount > 600 && !/(?:\.data|\/failure-codes|\/options)\.ts$/.test(path)
      ? [`has ${lineCount} lines`]
      : [],
  ),
  'a file says what it is': perFile(({path}) =>
    /\/(?:utils?|helpers?|common|misc|types?|shared|stuff)(?:\.\w+)*$/.test(path.replace(/\.ts$/, ''))
      ? ['has a name that says nothing']
      : [],
  ),
  'exports are named one by one': perFile(module =>
    matches(
      module,
      /\bexport\s+default\b|\bas\s+default\b|\bexport\s*\*|\bexport\s+type\s*\*|\bexport\s*=/,
    ).map(({line, text}) => `line ${line}: ${text}`),
  ),
};

function roomBreach(module: SourceModule, {specifier = ''}: Import): string | undefined {
  const from = roomOf(module.path);
  const allowed = MAY_IMPORT[from];
  if (allowed === undefined) return `is in room "${from}", which the table does not have`;
  const target = targetOf(module, specifier);
  if (target === undefined || !target.startsWith('src/')) return undefined;
  const to = roomOf(target);
  if (to === from || allowed.includes(to)) return undefined;
  if (from === 'config' && target.endsWith('/options.ts')) return undefined;
  return `imports ${target}, and ${from} may not import ${to}`;
}

function stageBreach(module: SourceModule, {specifier = ''}: Import): string | undefined {
  const from = stageOf(module.path);
  const target = targetOf(module, specifier);
  if (from === undefined || target === undefined || !target.startsWith('src/web/')) return undefined;
  const to = stageOf(target);
  if (to === from || WEB_VOCABULARY.includes(target)) return undefined;
  if (to !== undefined && STAGE_MAY_IMPORT[from]?.includes(to)) return undefined;
  return `imports ${target}, which is not below ${from}`;
}

/** Depth first; a circle is found by the edge that closes it. A circle of types is hard to read too. */
function findCircles(modules: readonly SourceModule[]): readonly string[] {
  const byPath = new Map(modules.map(module => [module.path, module]));
  const done = new Set<string>();
  const trail: string[] = [];
  const circles: string[] = [];
  const visit = (path: string): void => {
    const module = byPath.get(path);
    if (module === undefined || done.has(path)) return;
    const start = trail.indexOf(path);
    if (start >= 0) {
      circles.push([...trail.slice(start), path].join(' → '));
      return;
    }
    trail.push(path);
    for (const {specifier = ''} of module.imports) visit(targetOf(module, specifier) ?? '');
    trail.pop();
    done.add(path);
  };
  for (const {path} of modules) visit(path);
  return circles;
}

function confined(powers: readonly Power[]): Rule {
  return perFile(module =>
    powers
      .filter(({holders}) => !holders.some(holder => module.path.startsWith(holder)))
      .flatMap(({name, modules = [], code}) => {
        const imported = module.imports
          .filter(({specifier = '', erased}) => !erased && modules.some(given => gives(given, specifier)))
          .map(({specifier, line}) => `line ${line}: imports ${specifier} (${name})`);
        const used = code === undefined ? [] : matches(module, code);
        return [...imported, ...used.map(({line, text}) => `line ${line}: ${text} (${name})`)];
      }),
  );
}

function gives(module: string, specifier: string): boolean {
  const name = builtinModules.includes(specifier) ? `node:${specifier}` : specifier;
  return name === module || name.startsWith(`${module}/`);
}

function matches(
  {code}: SourceModule,
  pattern: RegExp,
): readonly {readonly line: number; readonly text: string}[] {
  return [...code.matchAll(new RegExp(pattern, 'g'))].map(match => ({
    line: lineAt(code, match.index + (match[0].length - match[0].trimStart().length)),
    text: match[0].trim().replace(/\s+/g, ' '),
  }));
}

function perFile(look: (module: SourceModule) => readonly string[]): Rule {
  return modules => modules.flatMap(module => look(module).map(breach => `${module.path} ${breach}`));
}

function perImport(look: (module: SourceModule, imported: Import) => string | undefined): Rule {
  return perFile(module =>
    module.imports.flatMap(imported => {
      const breach = look(module, imported);
      return breach === undefined ? [] : [`line ${imported.line}: ${breach}`];
    }),
  );
}

/** `src/web/url.ts` → `web`; `src/index.ts` → `index`. */
function roomOf(path: string): string {
  return (path.split('/')[1] ?? '').replace(/\.ts$/, '');
}

function stageOf(path: string): string | undefined {
  const [, room, stage = '', file] = path.split('/');
  return room === 'web' && (file !== undefined || stage in STAGE_MAY_IMPORT) ? stage : undefined;
}

/** The file that a relative specifier means; a worker is named by the `.js` it will be. */
function targetOf({path}: SourceModule, specifier: string): string | undefined {
  return specifier.startsWith('.') ? join(dirname(path), specifier).replace(/\.js$/, '.ts') : undefined;
}

function isPackage(specifier: string): boolean {
  return (
    specifier !== '' &&
    !specifier.startsWith('.') &&
    !specifier.startsWith('node:') &&
    !builtinModules.includes(specifier)
  );
}
