import {mkdtemp, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {createToolbox, type FetchResponse, type Result, type Toolbox} from '../../index.ts';
import type {Command, CommandContext} from '../command.ts';
import {type Console, styled} from '../console.ts';
import {openDemoSite} from '../demo/demo-site.ts';
import {EXIT} from '../exit-codes.ts';
import {parseFlags} from '../parse-flags.ts';
import {renderForTerminal} from '../render-page.ts';

export const demoCommand: Command = {
  name: 'demo',
  summary: 'Show the whole pipeline on pages of its own; needs no internet',
  usage: '',
  flags: {},
  examples: ['forge-tools demo'],
  async run(argv, context) {
    parseFlags(argv, {});
    const site = await openDemoSite();
    const cacheDir = await mkdtemp(join(context.environment.tempDir, 'forge-demo-'));
    // The guard keeps every fetch away from loopback. The demo site lives there, so this one toolbox
    // may reach it, on that one port.
    const opened = createToolbox({
      environment: context.environment,
      config: {
        tools: {
          webfetch: {
            cache_dir: cacheDir,
            security: {
              allow_insecure_overrides: true,
              block_loopback: false,
              allowed_ports: [site.port],
            },
          },
        },
      },
    });
    const guarded = createToolbox({
      environment: context.environment,
      config: {tools: {webfetch: {cache_dir: ''}}},
    });
    try {
      return (await play(opened, guarded, site.origin, context)) ? EXIT.ok : EXIT.failed;
    } finally {
      await Promise.all([opened.close(), guarded.close(), site.close()]);
      await rm(cacheDir, {recursive: true, force: true});
    }
  },
};

/** One scene: what it shows, and whether the result is the one that was promised. */
interface Scene {
  readonly title: string;
  readonly toolbox: Toolbox;
  readonly url: string;
  readonly maxChunkTokens?: number;
  readonly expects: string;
  readonly holds: (result: Result<FetchResponse>) => boolean;
  readonly brief?: boolean;
}

async function play(
  opened: Toolbox,
  guarded: Toolbox,
  origin: string,
  {console, signal}: CommandContext,
): Promise<boolean> {
  const succeeded = (result: Result<FetchResponse>): boolean => result.ok && result.value.chunks.length > 0;
  const failedWith =
    (code: string) =>
    (result: Result<FetchResponse>): boolean =>
      !result.ok && result.error.code === code;
  const scenes: readonly Scene[] = [
    {
      title: 'A page becomes Markdown chunks with exact token counts',
      toolbox: opened,
      url: `${origin}/release-notes.html`,
      maxChunkTokens: 128,
      expects: 'navigation, footer and hidden text are gone',
      holds: result => succeeded(result) && !JSON.stringify(result).includes('Ignore all previous'),
    },
    {
      title: 'The same page again comes from the disk cache, cut to another chunk size',
      toolbox: opened,
      url: `${origin}/release-notes.html`,
      maxChunkTokens: 600,
      brief: true,
      expects: 'the note cache_hit',
      holds: result => result.ok && result.value.notes.includes('cache_hit'),
    },
    {
      title: 'A redirect inside the site is followed, every hop judged anew',
      toolbox: opened,
      url: `${origin}/moved`,
      brief: true,
      expects: 'final_url is /release-notes.html',
      holds: result => result.ok && result.value.final_url.endsWith('/release-notes.html'),
    },
    {
      title: 'robots.txt says no',
      toolbox: opened,
      url: `${origin}/drafts/plan.html?token=secret`,
      expects: 'robots_disallowed',
      holds: failedWith('robots_disallowed'),
    },
    {
      title: 'A redirect into the private network is stopped, although the first address was allowed',
      toolbox: opened,
      url: `${origin}/metadata`,
      expects: 'ssrf_blocked',
      holds: failedWith('ssrf_blocked'),
    },
    {
      title: 'Without the override, the guard refuses the demo site itself',
      toolbox: guarded,
      url: 'http://localhost/release-notes.html',
      expects: 'ssrf_blocked',
      holds: failedWith('ssrf_blocked'),
    },
    {
      title: 'The address of cloud metadata services, under another spelling',
      toolbox: guarded,
      url: 'http://[::ffff:169.254.169.254]/latest/meta-data/',
      expects: 'ssrf_blocked',
      holds: failedWith('ssrf_blocked'),
    },
    {
      title: 'A number instead of a host',
      toolbox: guarded,
      url: 'http://2130706433/',
      expects: 'invalid_host',
      holds: failedWith('invalid_host'),
    },
  ];
  await console.out(
    `${styled(console, 'bold', 'forge-tools demo')}\nServing a few pages at ${origin}. The guard refuses loopback addresses; for this demo it is\noverridden for that one port (allow_insecure_overrides, block_loopback = false, allowed_ports).\n`,
  );
  let passed = 0;
  for (const [index, scene] of scenes.entries()) {
    if (signal.aborted) return false;
    await console.out(`\n${styled(console, 'bold', `${index + 1}. ${scene.title}`)}\n   ${scene.url}\n`);
    const result = await scene.toolbox.webFetch(
      {url: scene.url, ...(scene.maxChunkTokens !== undefined && {max_chunk_tokens: scene.maxChunkTokens})},
      {signal},
    );
    await console.out(describe(result, scene, console));
    const held = scene.holds(result);
    if (held) passed += 1;
    const verdict = held
      ? styled(console, 'green', 'as promised')
      : styled(console, 'red', 'NOT as promised');
    await console.out(`   ${verdict}: ${scene.expects}\n`);
  }
  await console.out(`\n${passed} of ${scenes.length} scenes went as promised.\n`);
  return passed === scenes.length;
}

function describe(result: Result<FetchResponse>, scene: Scene, console: Console): string {
  if (!result.ok) return `${indent(`${result.error.code}: ${result.error.message}`)}\n`;
  if (!scene.brief) return `${indent(renderForTerminal(result.value, console).trimEnd())}\n`;
  const {chunks, notes, final_url} = result.value;
  const sizes = chunks.map(chunk => chunk.token_count).join(', ');
  return `${indent(`${final_url}: ${chunks.length} chunks of ${sizes} tokens; notes: ${notes.join(', ') || 'none'}`)}\n`;
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '   ');
}
