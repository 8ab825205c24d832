// Signs requests for origins that want it (Web Bot Auth).

import {type KeyObject, sign} from 'node:crypto';
import {type Clock, randomHex} from '../../core/clock.ts';
import {ok, type Result} from '../../core/result.ts';
import {toUrl} from '../../core/text/parse.ts';
import type {WebFetchOptions} from '../options.ts';
import type {RequestSigner, WebUrl} from '../page.ts';
import {publicJwk, readKeyFile, thumbprintOf} from './bot-key.ts';

/** What stands behind a `;` of a structured field. */
type FieldParameters = ReadonlyMap<string, FieldValue>;

type FieldValue =
  | {readonly kind: 'string'; readonly text: string}
  /** A number, token, byte sequence or boolean, as it is written. */
  | {readonly kind: 'other'; readonly text: string};

/** A signature that a server asks for: one member of `Accept-Signature` (RFC 9421 §5.1). */
interface AskedSignature {
  readonly label: string;
  readonly components: readonly {readonly name: string; readonly parameters: FieldParameters}[];
  readonly parameters: FieldParameters;
}

/** A field of this length asks for a signature near its start, or not for ours. */
const MOST_CHARACTERS = 4096;

const KEY = /[a-z*][a-z0-9_.*-]{0,63}/y;
const STRING = /"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"/y;
const OTHER = /-?\d{1,15}(?:\.\d{1,3})?|\?[01]|:[A-Za-z0-9+/=]*:|[A-Za-z*][\w!#$%&'*+.^`|~:/-]*/y;

/** RFC 9651 §4.2.2: the members that are inner lists; none where the field is not of that form. */
export function parseAcceptSignature(field: string): readonly AskedSignature[] {
  const reader = new FieldReader(field.slice(0, MOST_CHARACTERS));
  const asked: AskedSignature[] = [];
  do {
    reader.skip(/[ \t]*/y);
    const label = reader.take(KEY)?.[0];
    if (label === undefined || !reader.skip(/=\(/y)) return [];
    const components = readComponents(reader);
    const parameters = components && readParameters(reader);
    if (!components || !parameters) return [];
    asked.push({label, components, parameters});
  } while (reader.skip(/[ \t]*,/y));
  return reader.isAtEnd ? asked : [];
}

function readComponents(reader: FieldReader): AskedSignature['components'] | undefined {
  const components: AskedSignature['components'][number][] = [];
  for (;;) {
    reader.skip(/ */y);
    if (reader.skip(/\)/y)) return components;
    const name = reader.take(STRING)?.[1];
    const parameters = name === undefined ? undefined : readParameters(reader);
    if (name === undefined || !parameters) return undefined;
    components.push({name, parameters});
  }
}

function readParameters(reader: FieldReader): FieldParameters | undefined {
  const parameters = new Map<string, FieldValue>();
  while (reader.skip(/; */y)) {
    const name = reader.take(KEY)?.[0];
    if (name === undefined) return undefined;
    let value: FieldValue = {kind: 'other', text: '?1'};
    if (reader.skip(/=/y)) {
      const quoted = reader.take(STRING)?.[1];
      const text = quoted?.replace(/\\(["\\])/g, '$1') ?? reader.take(OTHER)?.[0];
      if (text === undefined) return undefined;
      value = {kind: quoted === undefined ? 'other' : 'string', text};
    }
    parameters.set(name, value);
  }
  return parameters;
}

/** Goes through a field by expressions that match at its place or not at all. */
class FieldReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#text.slice(this.#at).trim() === '';
  }

  take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const match = expression.exec(this.#text);
    if (!match) return undefined;
    this.#at = expression.lastIndex;
    return match;
  }

  skip(expression: RegExp): boolean {
    return this.take(expression) !== undefined;
  }
}

/** One line of what is signed: a component with its identifier, as `Signature-Input` names it. */
interface Covered {
  readonly identifier: string;
  readonly value: string;
}

/** RFC 9421 §2.5: what is signed. `parameters` are those of `Signature-Input`, the components in front. */
export function signatureBase(covered: readonly Covered[], parameters: string): string {
  const lines = covered.map(({identifier, value}) => `${identifier}: ${value}`);
  return [...lines, `"@signature-params": ${parameters}`].join('\n');
}

/** RFC 9421 §2.3: the components in parentheses, and what is said about the signature. */
export function signatureParameters(
  covered: readonly Covered[],
  parameters: ReadonlyMap<string, string | number>,
): string {
  const about = Array.from(
    parameters,
    ([name, value]) => `;${name}=${typeof value === 'number' ? value : quoted(value)}`,
  );
  return `(${covered.map(({identifier}) => identifier).join(' ')})${about.join('')}`;
}

/** RFC 9651 §4.1.6. The text is printable ASCII. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** The one parameter that a component has as text, if it has no other. */
function soleText(parameters: FieldParameters, name: string): string | undefined {
  const value = parameters.get(name);
  return parameters.size === 1 && value?.kind === 'string' ? value.text : undefined;
}

/** The profile of RFC 9421 that says which program asks (draft-meunier-webbotauth-httpsig-protocol). */
const TAG = 'web-bot-auth';
/** The draft allows a day; a request takes seconds, and clocks are a little apart. */
const VALID_SECONDS = 300;
const NONCE_BYTES = 64;
const MOST_COMPONENTS = 16;
const DICTIONARY_KEY = /^[a-z*][a-z0-9_.*-]{0,63}$/;

/** Signs requests as the program that publishes its keys at `agent`, an https origin. */
export function createRequestSigner(key: KeyObject, agent: string, clock: Clock): RequestSigner {
  const keyid = thumbprintOf(publicJwk(key));
  return {
    answer: (challenge, url) => {
      const asked = parseAcceptSignature(challenge).find(
        ({parameters}) => parameters.get('tag')?.text === TAG && isOurs(parameters, keyid),
      );
      if (!asked) return undefined;
      const {label} = asked;
      const agentKey = agentMember(asked);
      const covered = agentKey === undefined ? undefined : coveredOf(asked, url, agent, agentKey);
      if (!covered) return undefined;
      const created = Math.floor(clock.now() / 1000);
      const parameters = signatureParameters(
        covered,
        new Map<string, string | number>([
          ['created', created],
          ['expires', created + VALID_SECONDS],
          ['keyid', keyid],
          ['alg', 'ed25519'],
          ['nonce', nonceOf(asked)],
          ['tag', TAG],
        ]),
      );
      const signature = sign(null, Buffer.from(signatureBase(covered, parameters)), key);
      return {
        'Signature-Agent': `${agentKey}=${quoted(agent)}`,
        'Signature-Input': `${label}=${parameters}`,
        Signature: `${label}=:${signature.toString('base64')}:`,
      };
    },
  };
}

/** RFC 9421 §5.2: a server may name the key and the algorithm that it takes. */
function isOurs(parameters: AskedSignature['parameters'], keyid: string): boolean {
  const named = (name: string, ours: string): boolean => (parameters.get(name)?.text ?? ours) === ours;
  return named('keyid', keyid) && named('alg', 'ed25519');
}

/** The name under which `Signature-Agent` has our address: the one that is asked for, else that of the signature. */
function agentMember({label, components}: AskedSignature): string | undefined {
  const asked = components.find(({name}) => name === 'signature-agent');
  if (!asked || asked.parameters.size === 0) return label;
  const member = soleText(asked.parameters, 'key');
  return member !== undefined && DICTIONARY_KEY.test(member) ? member : undefined;
}

/**
 * What the server wants signed, as far as it is known here, and always whom the request is for and who signs: without
 * the first, the signature would be good for another origin. `undefined` where something else is wanted.
 */
function coveredOf(
  {components}: AskedSignature,
  url: WebUrl,
  agent: string,
  agentKey: string,
): readonly Covered[] | undefined {
  if (components.length > MOST_COMPONENTS) return undefined;
  const derived = derivedComponents(url);
  const covered: Covered[] = [];
  const member = {identifier: `"signature-agent";key="${agentKey}"`, value: quoted(agent)};
  for (const {name, parameters} of components) {
    const value = derived.get(name);
    if (name === 'signature-agent') {
      covered.push(
        parameters.size === 0
          ? {identifier: '"signature-agent"', value: `${agentKey}=${quoted(agent)}`}
          : member,
      );
    } else if (value !== undefined && parameters.size === 0) {
      covered.push({identifier: quoted(name), value});
    } else return undefined;
  }
  const identifiers = new Set(covered.map(({identifier}) => identifier));
  // RFC 9421 §2: a component is covered once.
  if (identifiers.size < covered.length) return undefined;
  const authority = {identifier: '"@authority"', value: derived.get('@authority') ?? ''};
  return [
    ...(identifiers.has(authority.identifier) ? [] : [authority]),
    ...covered,
    ...(components.some(({name}) => name === 'signature-agent') ? [] : [member]),
  ];
}

/** RFC 9421 §2.2: what a request says by itself. The method is the one that is sent for pages. */
function derivedComponents({scheme, name, port, path, pathAndQuery}: WebUrl): ReadonlyMap<string, string> {
  const host = name.includes(':') ? `[${name}]` : name;
  const authority = port === (scheme === 'https' ? 443 : 80) ? host : `${host}:${port}`;
  return new Map([
    ['@authority', authority],
    ['@method', 'GET'],
    ['@scheme', scheme],
    ['@path', path],
    ['@query', pathAndQuery.slice(path.length) || '?'],
    ['@request-target', pathAndQuery],
    ['@target-uri', `${scheme}://${authority}${pathAndQuery}`],
  ]);
}

/** The server's own, where it gives one. */
function nonceOf({parameters}: AskedSignature): string {
  const asked = parameters.get('nonce');
  return asked?.kind === 'string' && asked.text !== ''
    ? asked.text
    : Buffer.from(randomHex(NONCE_BYTES), 'hex').toString('base64');
}

const SETTING = 'tools.webfetch.identity';

/** Reads `[tools.webfetch.identity]`: nothing where it is not set. The error is what start-up is refused with. */
export function readIdentity(
  {key_file, agent_url}: WebFetchOptions['identity'],
  {clock, untrustedTrees}: {readonly clock: Clock; readonly untrustedTrees: readonly string[]},
): Result<RequestSigner | undefined, string> {
  if (key_file === '' && agent_url === '') return ok(undefined);
  if (key_file === '' || agent_url === '') {
    const missing = key_file === '' ? 'key_file' : 'agent_url';
    return {
      ok: false,
      error: `${SETTING}.${missing} is missing. Set key_file and agent_url, or neither.`,
    };
  }
  const agent = agentOrigin(agent_url);
  if (agent === undefined) {
    return {
      ok: false,
      error: `Expected ${SETTING}.agent_url to be an https origin such as "https://bot.example.com", got ${JSON.stringify(agent_url)}.`,
    };
  }
  const key = readKeyFile(key_file, untrustedTrees);
  return key.ok
    ? ok(createRequestSigner(key.value, agent, clock))
    : {ok: false, error: `${SETTING}.key_file: ${key.error}`};
}

function agentOrigin(text: string): string | undefined {
  const url = toUrl(text);
  if (url === undefined) return undefined;
  const {protocol, username, password, pathname, search, hash, origin} = url;
  const isBare = username + password + search + hash === '' && pathname === '/';
  return protocol === 'https:' && isBare ? origin : undefined;
}
