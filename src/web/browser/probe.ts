import type {Result} from '../../core/result.ts';
import type {Browser} from './browser.ts';
import type {Isolation} from './chromium/start-chromium.ts';

export interface BrowserProbe {
  readonly version: string;
  /** `namespace`: Chromium has no network at all. `flags`: only its own flags keep it from it. */
  readonly isolation: Isolation;
  readonly sandbox: boolean;
  /** Whether the kernel holds it to its memory and its number of processes. */
  readonly bounded: boolean;
}

/** For `doctor`: starts Chromium as a fetch would and says what holds. Errors: `browser_unavailable`. */
export async function probeBrowser(browser: Browser, signal: AbortSignal): Promise<Result<BrowserProbe>> {
  const started = await browser.start(signal);
  if (!started.ok) return started;
  const {chromium, version, isolation, sandbox, bounded} = started.value;
  await chromium.close();
  return {ok: true, value: {version, isolation, sandbox, bounded}};
}
