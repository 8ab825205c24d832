// Follows what a session has seen. Private text may not leave after untrusted text came in.
import {createHash} from 'node:crypto';
import type {Json} from '../../core/result.ts';
import {takeStart} from '../../core/text/cut.ts';
import {showInvisible} from '../../core/text/invisible.ts';
import {toUrl} from '../../core/text/parse.ts';
import type {ApprovalSubject} from '../../core/tool.ts';
import type {EventPayload} from '../run-event.ts';
import {checkAddress, KnownAddresses} from './check-address.ts';
import {commandWritesLater, executesLater} from './executes-later.ts';
import type {TaintOptions} from './options.ts';
import {findSecrets, PrivateText} from './private-text.ts';

/** Characters that a model may make up of an address while no private text was delivered. */
const NOVEL_CHARACTERS = 24;
const MOST_ORIGINS = 1000;
const MOST_HASHES = 10_000;
const NAMED_ORIGINS = 3;
const LONGEST_NAME = 120;
const LONGEST_WORDS = 80;

/** Where something would leave, or would be executed later. */
export type Sink =
  /** What a call with effects is about: addresses, files that it writes, a command. */
  | Pick<ApprovalSubject, 'kind' | 'values'>
  /** A host that a command would reach, as `name` or `name:port`. */
  | {readonly kind: 'host'; readonly host: string};

/** What taint says of a sink, apart from the policy. */
export interface TaintFinding {
  readonly decision: 'pass' | 'ask' | 'deny';
  /** What of the sink it is about. */
  readonly about: 'given' | 'choice' | 'made-up' | 'private' | 'executed-later' | 'new-host';
  /** Sentences: which pages, which words, which file. */
  readonly reason: string;
  /** Of the budget for choices, if the call goes on and nobody was asked. */
  readonly bits: number;
}

/** One text that a tool put in front of the model. */
interface Delivery {
  readonly kind: 'untrusted' | 'private';
  /** Where it is from, redacted: an address, or the summary of the call. */
  readonly origin: string;
  readonly text: string;
  /** Whether the addresses in it were written by its author; a message of ours repeats those of the call. */
  readonly hasLinks: boolean;
}

type Emit = (event: string, payload: {readonly [field: string]: Json}) => unknown;

/**
 * What passed through the tools of one run. It only grows, and goes on where an earlier process left it: what was
 * delivered is in the log, by origin and hash. The texts are not, so after a restart private words are not
 * recognised any more; every address that is made up is asked about all the same.
 */
export class RunTaint {
  readonly #options: TaintOptions;
  readonly #emit: Emit;
  readonly #known = new KnownAddresses();
  readonly #operators = new Set<string>();
  readonly #hosts = new Set<string>();
  readonly #private = new PrivateText();
  readonly #hashes = new Set<string>();
  readonly #untrusted: string[];
  readonly #privateOrigins: string[];
  #hasSecret: boolean;
  #spent: number;

  constructor(options: TaintOptions, past: PastTaint, emit: Emit) {
    this.#options = options;
    this.#emit = emit;
    this.#untrusted = [...past.untrusted];
    this.#privateOrigins = [...past.private];
    this.#hasSecret = past.hasSecret;
    this.#spent = past.bits;
    if (options.assume === 'untrusted') this.#untrusted.unshift('tools.taint.assume');
  }

  get mode(): TaintOptions['mode'] {
    return this.#options.mode;
  }

  /** Bits that are left for choices among links. */
  get bitsLeft(): number {
    return Math.max(0, this.#options.choice_bits - this.#spent);
  }

  /** Addresses that the operator or the user gave, by way of the host. They stay theirs for the whole run. */
  addOperatorAddresses(addresses: readonly string[]): void {
    for (const address of addresses) {
      if (this.mode === 'off' || this.#operators.size >= MOST_ORIGINS) return;
      const url = toUrl(address);
      if (url !== undefined) this.#operators.add(url.href);
    }
  }

  /** T1: changes nothing; `undefined` while no untrusted text was delivered, when the policy alone decides. */
  decide(sink: Sink): TaintFinding | undefined {
    if (this.mode === 'off' || this.#untrusted.length === 0) return undefined;
    switch (sink.kind) {
      case 'url':
        return strictest(sink.values.map(value => this.#decideAddress(value)));
      case 'path':
        return strictest(sink.values.map(value => this.#decidePath(value)));
      case 'command':
        return strictest(sink.values.map(value => this.#decideCommand(value)));
      case 'host':
        return this.#decideHost(sink.host);
    }
  }

  /** A call to the addresses goes on. `finding` is what `decide` said where nobody was asked, or else nothing. */
  passed(sink: Sink, finding: TaintFinding | undefined): void {
    if (this.mode === 'off') return;
    this.#spent += finding?.bits ?? 0;
    if (sink.kind === 'host') this.#hosts.add(sink.host.toLowerCase());
    if (sink.kind !== 'url') return;
    for (const value of sink.values) {
      const url = toUrl(value.trim());
      if (url !== undefined) this.#known.addRequested(url);
    }
  }

  /** Takes in a text before the model gets it. The log says of it where it was from, and its hash. */
  async deliver(delivery: Delivery, about: {readonly [field: string]: Json}): Promise<void> {
    if (this.mode === 'off' || delivery.text === '') return;
    const {kind, origin, text, hasLinks} = delivery;
    const secrets = kind === 'private' ? findSecrets(text) : [];
    // What a page links to, and what files link to that were read before any page: later ones may have been
    // written by a model that obeys a page.
    const mayLink = hasLinks && (kind === 'untrusted' || this.#untrusted.length === 0);
    this.#addOrigin(kind, origin);
    this.#hasSecret ||= secrets.length > 0;
    const sha256 = hashOf(text);
    const key = kind + sha256;
    const isNew = !this.#hashes.has(key);
    if (this.#hashes.size < MOST_HASHES) this.#hashes.add(key);
    const links = mayLink && isNew ? this.#known.addLinks(text) : 0;
    const characters = text.length;
    if (isNew) this.#record(delivery, about, {sha256, characters, links, secrets: secrets.length});
    if (kind === 'private' && isNew) {
      const source = this.#privateOrigins.indexOf(origin);
      await this.#private.add(text, source === -1 ? MOST_ORIGINS : source, secrets);
    }
  }

  /** Takes text for delivered that is not at hand, and says so in the log once for each origin. */
  assume(kind: Delivery['kind'], origin: string, about: {readonly [field: string]: Json}): void {
    if (this.mode === 'off' || this.#originsOf(kind).includes(origin)) return;
    this.#addOrigin(kind, origin);
    this.#record({kind, origin}, about, {sha256: hashOf(''), characters: 0, links: 0, secrets: 0});
  }

  #record(
    {kind, origin}: Pick<Delivery, 'kind' | 'origin'>,
    about: {readonly [field: string]: Json},
    found: {readonly [field: string]: Json},
  ): void {
    this.#emit('taint_delivered', {
      ...about,
      kind,
      origin: takeStart(origin, LONGEST_NAME),
      ...found,
    });
  }

  #addOrigin(kind: Delivery['kind'], origin: string): void {
    const origins = this.#originsOf(kind);
    if (!origins.includes(origin) && origins.length < MOST_ORIGINS) origins.push(origin);
  }

  #originsOf(kind: Delivery['kind']): string[] {
    return kind === 'untrusted' ? this.#untrusted : this.#privateOrigins;
  }

  #decideAddress(written: string): TaintFinding | undefined {
    const text = written.trim();
    if (this.#operators.has(toUrl(text)?.href ?? '')) return undefined;
    const found = checkAddress(text, this.#known, this.#private);
    const hasPrivate = this.#privateOrigins.length > 0;
    if (found.kind === 'none') return undefined;
    if (found.kind === 'given') {
      const bits = hasPrivate ? found.bits : 0;
      if (bits <= this.bitsLeft) {
        return {decision: 'pass', about: 'given', reason: 'The address was delivered before.', bits};
      }
      return this.#finding(
        'ask',
        'choice',
        `The choice among links may tell what private text says: this one says up to ${bits.toFixed(1)} bits, and ${this.bitsLeft.toFixed(1)} of ${this.#options.choice_bits} are left (tools.taint.choice_bits).`,
      );
    }
    const {novel, match, isCut} = found;
    const words = quoted(novel);
    if (isCut && hasPrivate) {
      const why = 'The address is too long to be looked through, and private text was delivered.';
      return this.#finding('deny', 'private', why);
    }
    const file = match?.source === undefined ? undefined : this.#privateOrigins[match.source];
    const where = file === undefined ? '' : `, as in ${named([file])}`;
    if (match?.isSure === true) {
      const why = `The address carries private text, ${quoted(match.words)}${where}.`;
      return this.#finding('deny', 'private', why);
    }
    if (match !== undefined) {
      const why = `No page mentioned this address. The model wrote it, and it has words that it read before: ${quoted(match.words)}${where}.`;
      return this.#finding('ask', 'private', why);
    }
    if (hasPrivate) {
      const secret = this.#hasSecret ? ' They hold what looks like a secret.' : '';
      const why = `No page mentioned this address. The model wrote it after reading your files (${named(this.#privateOrigins)}).${secret} Check that it carries nothing out. New in it: ${words}.`;
      return this.#finding('ask', 'made-up', why);
    }
    if (novel.length <= NOVEL_CHARACTERS) {
      return {decision: 'pass', about: 'made-up', reason: 'Little of the address was made up.', bits: 0};
    }
    return this.#finding(
      'ask',
      'made-up',
      `No page mentioned this address. The model wrote ${novel.length} characters of it: ${words}.`,
    );
  }

  #decidePath(path: string): TaintFinding | undefined {
    const reason = executesLater(path);
    if (reason === undefined) return undefined;
    return this.#finding('ask', 'executed-later', `${quoted(path)} is a file that ${reason}.`);
  }

  #decideCommand(command: string): TaintFinding | undefined {
    const reason = commandWritesLater(command);
    if (reason === undefined) return undefined;
    const why = `The command may write what is executed later: ${takeStart(showInvisible(reason), 300)}.`;
    return this.#finding('ask', 'executed-later', why);
  }

  #decideHost(host: string): TaintFinding | undefined {
    if (this.#hosts.has(host.toLowerCase())) return undefined;
    return this.#finding('ask', 'new-host', `The command would reach ${quoted(host)} for the first time.`);
  }

  #finding(decision: 'ask' | 'deny', about: TaintFinding['about'], why: string): TaintFinding {
    const reason = `${why} Untrusted text came from ${named(this.#untrusted)}.`;
    return {decision, about, reason, bits: 0};
  }
}

const STRICTNESS = {pass: 0, ask: 1, deny: 2} as const;

/** Of several values the strictest, with what all of them cost. */
function strictest(findings: readonly (TaintFinding | undefined)[]): TaintFinding | undefined {
  const said = findings.filter(finding => finding !== undefined);
  const [first, ...more] = said;
  if (first === undefined) return undefined;
  const worst = more.reduce(
    (one, other) => (STRICTNESS[other.decision] > STRICTNESS[one.decision] ? other : one),
    first,
  );
  return {...worst, bits: said.reduce((sum, {bits}) => sum + bits, 0)};
}

/** The last ones, as they are the likeliest. */
function named(origins: readonly string[]): string {
  const shown = origins.slice(-NAMED_ORIGINS).map(origin => showInvisible(takeStart(origin, LONGEST_NAME)));
  const more = origins.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function quoted(words: string): string {
  const shown = takeStart(words, LONGEST_WORDS);
  return `${JSON.stringify(showInvisible(shown))}${shown.length < words.length ? '…' : ''}`;
}

/** What the log of a run says was delivered in it. */
export interface PastTaint {
  readonly untrusted: readonly string[];
  readonly private: readonly string[];
  readonly hasSecret: boolean;
  /** Spent by choices among links. */
  readonly bits: number;
  /** Calls ended while nothing was followed, or lines were lost, so that anything may have been delivered. */
  readonly isUnknown: boolean;
}
/** Where text is from that the log does not have. */
export const UNKNOWN = 'an earlier session, of which the log does not say';

/** Reads the taint of earlier sessions out of the events of a run, one by one. */
export class TaintReader {
  readonly #untrusted = new Set<string>();
  readonly #private = new Set<string>();
  #hasSecret = false;
  #bits = 0;
  /** Of the session that is read. */
  #followed = false;
  #calls = 0;
  #isUnknown = false;

  add(event: string, payload: EventPayload): void {
    if (event === 'session_resumed') this.#endSession();
    if (event === 'log_repaired') this.#isUnknown = true;
    if (event === 'tool_call_finished') this.#calls += 1;
    if (event === 'taint_checked') {
      this.#followed = true;
      const {bits} = payload;
      if (typeof bits === 'number' && bits > 0) this.#bits += bits;
    }
    if (event !== 'taint_delivered') return;
    this.#followed = true;
    const {kind, origin, secrets} = payload;
    const origins = kind === 'untrusted' ? this.#untrusted : this.#private;
    if (origins.size < MOST_ORIGINS) origins.add(typeof origin === 'string' ? origin : UNKNOWN);
    if (typeof secrets === 'number' && secrets > 0) this.#hasSecret = true;
  }

  /** What all sessions so far say. */
  taint(): PastTaint {
    this.#endSession();
    return {
      untrusted: [...this.#untrusted],
      private: [...this.#private],
      hasSecret: this.#hasSecret,
      bits: this.#bits,
      isUnknown: this.#isUnknown,
    };
  }

  #endSession(): void {
    this.#isUnknown ||= this.#calls > 0 && !this.#followed;
    this.#calls = 0;
    this.#followed = false;
  }
}
