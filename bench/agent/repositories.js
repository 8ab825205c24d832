// Four repositories that are the same at every run: what a trial of an agent is replayed on.
import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';

const WORDS =
  'token block inline renderer option parser command context value buffer stream header route cache entry field record state queue worker'.split(
    ' ',
  );

/** Writes the repository of that name into a directory. */
export function makeRepository(name, root) {
  for (const [path, text] of Object.entries(REPOSITORIES[name]())) {
    const file = join(root, path);
    mkdirSync(dirname(file), {recursive: true});
    writeFileSync(file, text);
  }
}

const REPOSITORIES = {markdown, commands, json, server};

/** A parser in TypeScript with its dependencies installed, and a suite of 1,700 lines of output. */
function markdown() {
  const modules = [
    'Lexer',
    'Parser',
    'Renderer',
    'Tokenizer',
    'Hooks',
    'Instance',
    'rules',
    'defaults',
    'helpers',
  ];
  const files = {
    '.gitignore': 'node_modules/\nlib/\n',
    'README.md': prose('Markdown parser', 40),
    'package.json': '{\n  "name": "markdown",\n  "scripts": {"test": "sh test/run.sh"}\n}\n',
    'test/run.sh': suite(1700, [
      ['src/Lexer.ts', 'lexer_12(input.trimEnd())', 412],
      ['src/rules.ts', 'rules_7 = /^ {0,3}/', 877],
      ['src/helpers.ts', 'return value.replaceAll("&", "&amp;")', 1503],
    ]),
    'docs/USING_ADVANCED.md': prose('Options', 160),
  };
  for (const [at, name] of modules.entries()) files[`src/${name}.ts`] = script(name, 38, at);
  files['src/Lexer.ts'] += 'export const last = lexer_12(input.trimStart());\n';
  files['src/rules.ts'] += 'export const rules_7 = /^ {0,4}/;\n';
  files['src/helpers.ts'] += 'export function escape(value) {\n  return value.replaceAll("&", "&amp");\n}\n';
  files['src/Renderer.ts'] +=
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of the file that is made.
    'export function image(href, title) {\n  return `<img src="${href}" title="${title}">`;\n}\n';
  files['src/defaults.ts'] +=
    'export const defaults = {\n  async: false,\n  breaks: false,\n  gfm: true,\n};\n';
  for (let at = 0; at < 1200; at += 1) {
    files[`node_modules/@types/package-${at % 60}/types-${at}.d.ts`] = script(`dependency${at}`, 1, at);
  }
  return files;
}

/** A library in Python with one long module and a virtual environment. */
function commands() {
  const files = {
    '.gitignore': '.venv/\n__pycache__/\n',
    'CHANGES.md': prose('Version 8.2', 60),
    'src/click/core.py': `${python('core', 540, 3)}`,
    'test/run.sh': suite(900, [['src/click/parser.py', 'lenient_parsing', 0]]),
  };
  for (const [at, name] of [
    'parser',
    'types',
    'decorators',
    'shell_completion',
    'globals',
    'utils',
  ].entries()) {
    files[`src/click/${name}.py`] = python(name, 45, at);
  }
  for (const name of ['core', 'parser', 'types', 'shell_completion', 'globals']) {
    const path = `src/click/${name}.py`;
    files[path] +=
      `\n\ndef make_${name}(ctx, resilient_parsing=False):\n    if ctx.resilient_parsing or resilient_parsing:\n        return None\n    return ctx.value\n`;
  }
  files['docs/parsing.md'] = `${prose('Parsing', 60)}\nWith \`resilient_parsing\` nothing fails.\n`;
  files['docs/commands.md'] = `${prose('Commands', 90)}\nSee \`resilient_parsing\`.\n`;
  for (let at = 0; at < 500; at += 1)
    files[`.venv/lib/site/package_${at % 40}/core_${at}.py`] = python(`p${at}`, 1, at);
  return files;
}

/** A library in C with its tests. */
function json() {
  const files = {
    'README.md': prose('cJSON', 120),
    'cJSON.h': header(90),
    'cJSON.c': c('cJSON', 330, 5),
    'tests/run.sh': suite(60, [
      ['cJSON.c', 'return buffer_offset + 1;', 11],
      ['cJSON.c', 'if (depth >= CJSON_NESTING_LIMIT)', 42],
    ]),
  };
  for (let at = 0; at < 20; at += 1) files[`tests/parse_${WORDS[at]}.c`] = c(`parse_${WORDS[at]}`, 14, at);
  files['cJSON.c'] +=
    'static size_t next_offset(size_t buffer_offset)\n{\n    return buffer_offset + 2;\n}\n';
  files['cJSON.c'] +=
    'static int too_deep(size_t depth)\n{\n    if (depth > CJSON_NESTING_LIMIT)\n        return 1;\n    return 0;\n}\n';
  return files;
}

/** A web framework with an old configuration of its linter. */
function server() {
  const files = {
    '.gitignore': 'node_modules/\n',
    '.eslintrc.yml':
      'root: true\nenv:\n  es2022: true\n  node: true\nrules:\n  eol-last: error\n  no-unused-vars: off\n',
    '.eslintignore': 'coverage\nnode_modules\n',
    'package.json':
      '{\n  "name": "server",\n  "scripts": {"lint": "eslint .", "test": "sh test/run.sh"}\n}\n',
    'History.md': prose('5.0.0', 120),
    'test/run.sh': suite(1256, [['lib/response.js', "require('./helpers')", 900]]),
  };
  for (const [at, name] of ['application', 'request', 'response', 'view', 'express'].entries()) {
    files[`lib/${name}.js`] = `const utils = require('./utils');\n${script(name, 34, at)}`;
  }
  files['lib/utils.js'] = script('utils', 26, 9);
  for (const name of ['app', 'req', 'res']) {
    files[`test/${name}.js`] = `const utils = require('../lib/utils');\n${script(name, 20, 4)}`;
  }
  for (let at = 0; at < 400; at += 1)
    files[`node_modules/eslint-${at % 30}/rule-${at}.js`] = script(`r${at}`, 1, at);
  return files;
}

function word(seed) {
  return WORDS[(seed * 7 + (seed >> 3)) % WORDS.length];
}

function script(name, functions, seed) {
  const prefix = name.toLowerCase();
  return Array.from({length: functions}, (_, at) => {
    const [one, two] = [word(seed + at), word(seed + 3 * at + 1)];
    return `/** Takes the ${one} of a ${two} apart, or says why it cannot. */\nexport function ${prefix}_${at}(${one}, options = {}) {\n  const ${two}s = ${one}.split(options.separator ?? ' ');\n  if (options.strict && ${two}s.length === 0) throw new Error('Expected a ${two}, got ' + ${one});\n  return ${two}s.map(part => part.trim()).filter(part => part !== '');\n}\n`;
  }).join('\n');
}

function python(name, functions, seed) {
  return Array.from({length: functions}, (_, at) => {
    const [one, two] = [word(seed + at), word(seed + 5 * at + 2)];
    return `def ${name}_${at}(${one}, ${two}=None):\n    """Return the ${one} for a ${two}, or None."""\n    if ${two} is None:\n        ${two} = default_${two}(${one})\n    return ${one}.convert(${two})\n`;
  }).join('\n\n');
}

function c(name, functions, seed) {
  return Array.from({length: functions}, (_, at) => {
    const [one, two] = [word(seed + at), word(seed + 11 * at + 4)];
    return `/* Reads a ${one} from the ${two}. */\nstatic int ${name}_${at}(const char *${one}, size_t ${two}_length)\n{\n    if (${one} == NULL || ${two}_length == 0)\n        return 0;\n    return ${one}[${two}_length - 1] != '\\0';\n}\n`;
  }).join('\n');
}

function header(functions) {
  return Array.from(
    {length: functions},
    (_, at) =>
      `/* ${word(at)} of a ${word(at + 9)}. */\nCJSON_PUBLIC(int) cJSON_Get_${at}(const cJSON *item);\n`,
  ).join('');
}

function prose(title, lines) {
  const text = Array.from(
    {length: lines},
    (_, at) => `The ${word(at)} takes a ${word(at + 4)} and gives the ${word(at + 13)} back.`,
  );
  return `# ${title}\n\n${text.join('\n')}\n`;
}

/** A suite that goes through `count` cases; those named fail until their file has their text. */
function suite(count, wanted) {
  const checks = wanted
    .filter(([, , at]) => at > 0)
    .map(
      ([file, text, at]) =>
        `  if [ $i = ${at} ] && ! grep -qF '${text.replaceAll("'", `'"'"'`)}' ${file}; then echo "not ok $i ${file}: expected another result"; failed=1; i=$((i+1)); continue; fi`,
    );
  return `i=1\nfailed=0\nwhile [ $i -le ${count} ]; do\n${checks.join('\n')}\n  echo "ok $i takes the ${word(count)} of example $i apart"\n  i=$((i+1))\ndone\nexit $failed\n`;
}
