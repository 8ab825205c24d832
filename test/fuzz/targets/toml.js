import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {loadConfig} from '../../../dist/config/load-config.js';
import {resolveConfig} from '../../../dist/config/resolve-config.js';
import {expectThat} from '../expect-that.js';

const directory = mkdtempSync(join(tmpdir(), 'forge-fuzz-'));
process.on('exit', () => rmSync(directory, {recursive: true, force: true}));
const path = join(directory, 'config.toml');
const surroundings = {env: {HOME: '/home/u'}, cwd: '/work', tempDir: '/tmp', homeDir: '/home/u'};

/** Ruling A9: any file is a configuration within its ranges, or a list of what is wrong with it. */
async function check(bytes) {
  writeFileSync(path, bytes);
  const loaded = await loadConfig({...surroundings, path});
  if (!loaded.ok) {
    expectThat(loaded.error.length > 0, 'refused without a reason');
    for (const line of loaded.error) expectThat(line.length < 4000, 'an endless reason', line.length);
    return;
  }
  const {config, warnings} = loaded.value;
  const {webfetch} = config.tools;
  expectThat(webfetch.timeout_seconds >= 1 && webfetch.timeout_seconds <= 300, 'out of range');
  for (const line of warnings) expectThat(line.length < 4000, 'an endless warning', line.length);
  const again = resolveConfig(config, surroundings);
  expectThat(again.ok && again.value.warnings.length === 0, 'what was resolved does not resolve', again);
  expectThat(JSON.stringify(again.value.config) === JSON.stringify(config), 'resolving again changes it');
}

export const target = {
  check,
  modules: ['/dist/config/', '/smol-toml/'],
  maxLength: 1024,
  seeds: [
    `[tools]\nmode = "enabled"\n[tools.webfetch]\ntimeout_seconds = 0x10\ncache_dir = "\${TEMP}/x"\n`,
    '[tools.webfetch.security]\nallowed_ports = [80, 443, 70000]\nadditional_blocked_cidrs = ["10.0.0.0/8"]\n',
    "[[tools.approval.rules]]\ntool = '*'\ndecision = \"deny\"\npath = '''docs/**'''\nmatch = ['a']\n",
    'tools.output.max_bytes = 1_000_000 # c\n"tools".run = {enabled = true, memory_mb = 1e3, cpus = -1}\n',
    'a = 1979-05-27T07:32:00Z\nb = [1, [2.5, inf, nan]]\n[tools.unknown]\nx = """\\u00e9\\\n  y"""\n',
  ],
  // biome-ignore format: a list
  tokens: [
    '[', ']', '[[', ']]', '=', '"', "'", '"""', "'''", '\n', '\r\n', '#', '.', ',', '{', '}', 'true', 'false',
    'inf', '-nan', '0x', '1e999', '9223372036854775808', '-1', '1_0', '1979-05-27', '07:32:00', '\\u0000',
    '\\UFFFFFFFF', 'tools', 'webfetch', 'run', 'approval', 'rules', 'mode', 'timeout_seconds', 'cache_dir',
    'allowed_ports', `"\${HOME}"`, '${', '__proto__', 'constructor', 'toString', 'security', '\0', '\ufeff',
    'é', '[tools.run]\n',
  ],
};
