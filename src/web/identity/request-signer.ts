import {type KeyObject, sign} from 'node:crypto';
import type {Clock} from '../../core/clock.ts';
import {randomHex} from '../../core/random.ts';
import type {RequestSigner, WebUrl} from '../page.ts';
import {type AskedSignature, parseAcceptSignature} from './accept-signature.ts';
import {publicJwk, thumbprintOf} from './bot-key.ts';
import {type Covered, quoted, signatureBase, signatureParameters, soleText} from './signature-base.ts';

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
