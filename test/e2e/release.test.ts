import {execFileSync} from 'node:child_process';
import {copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {Client} from '@modelcontextprotocol/client';
import {StdioClientTransport} from '@modelcontextprotocol/client/stdio';
import {beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {bundleManifest, pluginFiles, serverJson} from '../../scripts/release/manifests.js';
import {setRepository} from '../../scripts/release/set-repository.js';
import {packedPackage} from '../support/packed-package.ts';
import {needs} from '../support/parts.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

describe('npm run release', () => {
  let folder = '';
  beforeAll(async () => {
    const place = mkdtempSync(join(tmpdir(), 'forge-release-test-'));
    folder = join(place, 'release');
    const argv = [folder, '--tarball', await packedPackage()];
    execFileSync(process.execPath, [join(ROOT, 'scripts/release/make-release.js'), ...argv], {
      encoding: 'utf8',
    });
    return () => rmSync(place, {recursive: true, force: true});
  }, 120_000);

  const json = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));

  test('policy: everything is there, and the checklist names what to do with it', () => {
    const names = readdirSync(folder);
    const bundle = `forge-tools-${MANIFEST.version}-${process.platform}-${process.arch}.mcpb`;
    expect(names.sort()).toEqual(
      [
        'CHECKLIST.md',
        'claude-plugin',
        bundle,
        `forge-tools-${MANIFEST.version}.tgz`,
        'image',
        'server.json',
      ].sort(),
    );
    const checklist = readFileSync(join(folder, 'CHECKLIST.md'), 'utf8');
    for (const name of [
      bundle,
      `forge-tools-${MANIFEST.version}.tgz`,
      'server.json',
      'claude-plugin',
      'image',
    ]) {
      expect(checklist).toContain(name);
    }
  });

  test('policy: server.json is what the registry takes, of the name that the package has', () => {
    const server = json('server.json');
    expect(server.name).toBe(MANIFEST.mcpName);
    // The bounds of its schema.
    expect(server.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
    expect(server.description.length).toBeLessThanOrEqual(100);
    expect(server.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(server.packages).toEqual([
      expect.objectContaining({
        registryType: 'npm',
        identifier: MANIFEST.name,
        version: MANIFEST.version,
        transport: {type: 'stdio'},
      }),
    ]);
  });

  test('policy: the addresses of the project have one place, which all manifests follow', async () => {
    const file = join(temporaryDirectory(), 'package.json');
    copyFileSync(join(ROOT, 'package.json'), file);
    await setRepository(file, 'https://github.com/someone/forge-tools.git');
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    const url = 'https://github.com/someone/forge-tools';
    const addresses = {homepage: `${url}#readme`, bugs: `${url}/issues`};
    expect(manifest).toEqual({
      ...MANIFEST,
      ...addresses,
      repository: {type: 'git', url: `git+${url}.git`},
    });
    expect(serverJson(manifest)).toMatchObject({repository: {url, source: 'github'}});
    expect(bundleManifest(manifest, 'linux')).toMatchObject({support: addresses.bugs, repository: {url}});
    expect(pluginFiles(manifest)).toMatchObject({'.claude-plugin/plugin.json': {repository: url}});
    await expect(setRepository(file, 'forge-tools')).rejects.toThrow(
      'Expected https://HOST/OWNER/NAME, got "forge-tools".',
    );
  });

  test('policy: the plugin starts the version that it is of', () => {
    expect(json('claude-plugin/.claude-plugin/plugin.json')).toMatchObject({
      name: expect.stringMatching(/^[a-z][a-z0-9-]*$/),
      version: MANIFEST.version,
    });
    const {command, args} = json('claude-plugin/.mcp.json').mcpServers['forge-tools'];
    expect([command, ...args].join(' ')).toContain(`npx -y forge-tools@${MANIFEST.version} mcp`);
  });

  test('policy: the image runs as nobody in particular, and has what the tools need', () => {
    const lines = readFileSync(join(folder, 'image/Dockerfile'), 'utf8').replaceAll('\\\n', ' ').split('\n');
    const at = (start: string): number => lines.findLastIndex(line => line.startsWith(start));
    expect(lines[at('FROM')]).toMatch(/^FROM node:2\d-\w+-slim$/);
    expect(lines[at('USER')]).toBe('USER node');
    expect(at('USER')).toBeGreaterThan(at('RUN'));
    expect(JSON.parse(lines[at('ENTRYPOINT')]?.replace('ENTRYPOINT ', '') ?? '')).toEqual(['forge-tools']);
    expect(JSON.parse(lines[at('CMD')]?.replace('CMD ', '') ?? '')).toEqual(['mcp']);
    expect(lines.join('\n')).toMatch(/apt-get install .*\bchromium\b/);
    expect(readdirSync(join(folder, 'image')).sort()).toEqual(['Dockerfile', 'forge-tools.tgz']);
  });

  test(
    'policy: the desktop bundle is a zip with a manifest, and what it starts serves every tool',
    needs('Python'),
    async () => {
      const place = temporaryDirectory();
      const workspace = join(place, 'workspace');
      mkdirSync(workspace);
      const bundle = readdirSync(folder).find(name => name.endsWith('.mcpb')) ?? '';
      // Another reader of the format than ours.
      const unzip = `import os,sys,zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    assert z.testzip() is None
    for i in z.infolist():
        p = z.extract(i, sys.argv[2])
        os.chmod(p, i.external_attr >> 16 & 0o777)`;
      execFileSync('python3', ['-c', unzip, join(folder, bundle), place]);
      const manifest = JSON.parse(readFileSync(join(place, 'manifest.json'), 'utf8'));
      expect(manifest).toMatchObject({
        manifest_version: '0.3',
        name: 'forge-tools',
        version: MANIFEST.version,
        server: {type: 'node'},
        compatibility: {platforms: [process.platform]},
      });
      expect(readFileSync(join(place, manifest.server.entry_point), 'utf8')).toMatch(/^#!/);
      const values: Record<string, string> = {
        // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the application replaces such names
        '${__dirname}': place,
        '${user_config.workspace}': workspace,
        '${user_config.profile}': manifest.user_config.profile.default,
        // biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above
      };
      const args = manifest.server.mcp_config.args.map((argument: string) =>
        argument.replace(/\$\{[^}]+\}/g, name => values[name] ?? name),
      );
      expect(args.join(' ')).not.toContain('$');
      const transport = new StdioClientTransport({
        command: process.execPath,
        args,
        cwd: place,
        env: {HOME: place, PATH: process.env['PATH'] ?? ''},
        stderr: 'ignore',
      });
      const client = new Client({name: 'test', version: '1'});
      onTestFinished(() => client.close());
      await client.connect(transport);
      const {tools} = await client.listTools();
      expect(tools.map(({name}) => name)).toEqual(expect.arrayContaining(['web_fetch', 'read_file', 'run']));
      const written = await client.callTool({name: 'search', arguments: {query: 'nothing'}});
      expect(written.isError ?? false).toBe(false);
    },
  );
});
