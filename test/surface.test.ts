import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import * as surface from '../src/index.ts';
import * as mcp from '../src/mcp.ts';

/** Written out, so that a change of what users import is a change of this list. */
test('policy: the values that the package exports', () => {
  expect(Object.keys(surface).sort()).toEqual([
    'ConfigError',
    'FAILURE_CODES',
    'InMemoryFileSystem',
    'InvalidUrlError',
    'anthropicTools',
    'canonicalizeUrl',
    'chunkMarkdown',
    'countTokens',
    'createToolbox',
    'globFiles',
    'htmlToMarkdown',
    'isAllowedByRobots',
    'openaiChatTools',
    'openaiTools',
    'parseRobots',
    'vercelTools',
  ]);
});

test('policy: the values that forge-tools/mcp exports', () => {
  expect(Object.keys(mcp).sort()).toEqual(['CallMetrics', 'createMcpService', 'serveHttp', 'serveStdio']);
});

test('policy: the building blocks do what their names say', () => {
  expect(surface.canonicalizeUrl('HTTPS://Example.COM:443/a/../b?z#f')).toBe('https://example.com/b?z');
  expect(() => surface.canonicalizeUrl('ftp://example.com/')).toThrow(surface.InvalidUrlError);
  const robots = surface.parseRobots('User-agent: *\nDisallow: /private');
  expect(surface.isAllowedByRobots(robots, 'forge-webfetch', '/private/x')).toBe(false);
  expect(surface.isAllowedByRobots(robots, 'forge-webfetch', '/public')).toBe(true);
  expect(surface.countTokens('hello world')).toBe(2);
  expect(surface.htmlToMarkdown('<h1>A</h1><p><a href="/b">c</a>', 'https://e.com/')).toBe(
    '# A\n\n[c](https://e.com/b)\n',
  );
  expect(surface.chunkMarkdown('# A\n\ntext', 100)).toEqual([
    {heading: 'A', text: '# A\n\ntext', token_count: surface.countTokens('# A\n\ntext')},
  ]);
});

test('policy: the package ships what it needs and says which Node it runs on', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(manifest).toMatchObject({type: 'module', engines: {node: '^20.19 || >=22.12'}, license: 'MIT'});
  expect(manifest.files).toEqual(expect.arrayContaining(['dist', 'vocabulary', 'demo']));
  // No package of ours downloads a binary when it is installed.
  expect(manifest.scripts).not.toHaveProperty('postinstall');
});
