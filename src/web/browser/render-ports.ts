import type {Budget} from '../../core/budget.ts';
import type {Clock} from '../../core/clock.ts';
import type {Log} from '../../core/log.ts';
import type {Result} from '../../core/result.ts';
import type {WebFetchOptions} from '../options.ts';
import type {HeaderMap, HttpRequest, HttpResponse} from '../page.ts';
import type {ResourceType} from './requests/blocked-resources.ts';

/** The document that a page begins with, or that it went on to. */
export interface MainDocument {
  /** Final, absolute, without fragment. */
  readonly url: string;
  readonly headers: HeaderMap;
  readonly contentType: 'text/html' | 'text/plain';
  /** UTF-8; decoded by the same rules as in HTTP mode (ruling D1). */
  readonly bytes: Uint8Array;
  readonly charsetFallback: boolean;
}

export type Navigated =
  | {readonly kind: 'redirect'; readonly location: string}
  | {readonly kind: 'document'; readonly document: MainDocument}
  /** 204 and 205: the browser stays where it is. */
  | {readonly kind: 'empty'};

/** The guarded ways out that the spine hands in; there are no others. */
export interface RenderPorts {
  /** FR-WF-11c: one hop of the main document, counted, checked, and allowed by robots.txt. */
  readonly navigate: (url: string, budget: Budget) => Promise<Result<Navigated>>;
  /** FR-WF-11b: one hop of anything else; checked, but not held against robots.txt (FR-WF-ROBOTS-SCOPE-01). */
  readonly openUrl: (url: string, request: HttpRequest, budget: Budget) => Promise<Result<HttpResponse>>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RenderSettings {
  readonly options: Pick<
    WebFetchOptions['browser'],
    'max_total_subresource_bytes' | 'network_idle_ms' | 'max_rendered_dom_bytes' | 'memory_mb'
  >;
  readonly maxDownloadBytes: number;
  readonly blocked: ReadonlySet<ResourceType>;
}
