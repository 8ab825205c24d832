import type {Result} from '../../core/result.ts';
import type {Browser, Isolation} from './browser.ts';

export interface BrowserProbe {
  readonly version: string;
  /** `namespace`: Chromium has no network at all. `flags`: only its own flags keep it from it. */
  readonly isolation: Isolation;
  readonly sandbox: boolean;
}

/** For `doctor`: starts Chromium as a fetch would and says what holds. Errors: `browser_unavailable`. */
export async function probeBrowser(browser: Browser, signal: AbortSignal): Promise<Result<BrowserProbe>> {
  const started = await browser.start(signal);
  if (!started.ok) return started;
  const {chromium, version, isolation, sandbox} = started.value;
  await chromium.close();
  return {ok: true, value: {version, isolation, sandbox}};
}
