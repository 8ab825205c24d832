import {Budget} from '../../core/budget.ts';
import type {Failure} from '../../core/failure/failure.ts';
import type {Err, Result} from '../../core/result.ts';
import {toUrl} from '../../core/text/to-url.ts';
import type {PausedRequest} from './cdp/cdp-protocol.ts';
import type {NetworkIdle} from './network-idle.ts';
import type {MainDocument, Navigated, RenderPorts} from './render-ports.ts';
import type {Answer} from './requests/answer.ts';
import {responseHeaders} from './requests/response-headers.ts';

/** What becomes of a request for the top frame's document; a failure ends the call if it still matters. */
export interface MainAnswer {
  readonly answer: Answer;
  readonly failure?: Err<Failure>;
}

/** FR-WF-11c: the way of the top frame, from the document that was fetched ahead to wherever scripts lead. */
export class PageLoad {
  /** The page asked for its own next document by another method than GET. */
  blockedNonGet = false;
  readonly #ports: RenderPorts;
  readonly #budget: Budget;
  readonly #idle: NetworkIdle;
  readonly #given = new Map<string, MainDocument>();
  #committed: MainDocument;
  #begun: 'no' | 'redirected' | 'yes' = 'no';

  constructor(first: MainDocument, ports: RenderPorts, idle: NetworkIdle, budget: Budget) {
    this.#committed = first;
    this.#ports = ports;
    this.#idle = idle;
    this.#budget = budget;
  }

  /** The document that is in the frame. */
  get document(): MainDocument {
    return this.#committed;
  }

  async load({request}: PausedRequest): Promise<MainAnswer> {
    if (request.method !== 'GET') {
      this.blockedNonGet = true;
      // "Aborted" leaves the page as it is; every other reason puts an error page in its place.
      return {answer: {refuse: 'Aborted'}};
    }
    if (this.#begun !== 'yes') {
      const first = this.#committed;
      if (this.#begun === 'no' && !isSameUrl(request.url, first.url)) {
        this.#begun = 'redirected';
        return {answer: redirect(first.url)};
      }
      this.#begun = 'yes';
      return {answer: this.#give(first)};
    }
    const next = await this.#navigate(request.url);
    if (!next.ok) return {answer: {refuse: 'Aborted'}, failure: next};
    switch (next.value.kind) {
      case 'redirect':
        return {answer: redirect(next.value.location)};
      case 'empty':
        return {answer: {refuse: 'Aborted'}};
      case 'document':
        return {answer: this.#give(next.value.document)};
    }
  }

  /** The top frame shows another document now. */
  navigated(url: string): void {
    this.#idle.documentReplaced();
    this.#committed = this.#given.get(hrefOf(url)) ?? this.#committed;
  }

  async #navigate(url: string): Promise<Result<Navigated>> {
    const budget = new Budget(this.#budget.remainingMs(), this.#ports.clock, this.#budget.signal);
    try {
      return await this.#ports.navigate(url, budget);
    } finally {
      budget.close();
    }
  }

  #give(document: MainDocument): Answer {
    this.#given.set(hrefOf(document.url), document);
    this.#idle.documentReplaced();
    const headers = responseHeaders(document.headers).filter(
      ({name}) => name !== 'content-type' && name !== 'location',
    );
    headers.push({name: 'content-type', value: `${document.contentType}; charset=utf-8`});
    return {status: 200, headers, body: document.bytes};
  }
}

function redirect(location: string): Answer {
  return {status: 302, headers: [{name: 'location', value: location}]};
}

function isSameUrl(one: string, other: string): boolean {
  return hrefOf(one) === hrefOf(other);
}

/** An address that a browser shows need not be one (`:`, review B12). */
function hrefOf(url: string): string {
  const parsed = toUrl(url);
  if (parsed === undefined) return url;
  parsed.hash = '';
  return parsed.href;
}
