import type {WebFetchArgs} from '../index.ts';
import type {CommandContext} from './command.ts';
import {EXIT, type ExitCode} from './exit-codes.ts';
import {readSettings, type SettingFlags} from './read-settings.ts';
import {renderCut} from './render/render-cut.ts';
import {renderFailure} from './render/render-failure.ts';
import {renderOutline} from './render/render-outline.ts';

export interface OutlineRequest {
  readonly urls: readonly string[];
  readonly args: Omit<WebFetchArgs, 'url'>;
  readonly json: boolean;
  readonly settings: SettingFlags;
}

/** `fetch --outline`: the heading tree of each page, one after the other. */
export async function fetchOutlines(
  {urls, args, json, settings}: OutlineRequest,
  context: CommandContext,
): Promise<ExitCode> {
  const {console, environment, signal} = context;
  const {resolved, log} = await readSettings(settings, context);
  const {openPageReader} = await context.services();
  const reader = openPageReader(resolved, {environment, log});
  let failed = false;
  let isCut = false;
  try {
    for (const [index, url] of urls.entries()) {
      const page = await reader.read({...args, url}, signal);
      if (!page.ok) {
        failed = true;
        if (json) await console.out(`${JSON.stringify(page.error)}\n`);
        else console.err(renderFailure(page.error, urls.length > 1 ? url : undefined, console));
        continue;
      }
      const outline = await reader.outline(page.value.markdown);
      const {requested_url, final_url, title} = page.value.response;
      const blank = index > 0 ? '\n' : '';
      await console.out(
        json
          ? `${JSON.stringify({requested_url, final_url, title, ...outline})}\n`
          : blank + renderOutline(page.value, outline, console),
      );
      isCut ||= page.value.response.truncated;
      console.err(renderCut(page.value.response) ?? '');
    }
  } finally {
    await reader.close();
  }
  if (signal.aborted) return EXIT.interrupted;
  if (failed) return EXIT.failed;
  return isCut ? EXIT.cut : EXIT.ok;
}
