// Reads the hosts that commands may reach, from `allow` and `presets`.
import type {EgressTarget} from '../core/egress-gate.ts';
import {ok, type Result} from '../core/result.ts';

const KEY = 'tools.run.egress';
const DEFAULT_PORTS = {https: 443, http: 80} as const;

interface Entry extends EgressTarget {
  /** `*.`: every host below the name, and not the name itself. */
  readonly isBelow: boolean;
  /** The setting it comes from. */
  readonly by: string;
}

/** The hosts that the configuration opens. */
export interface AllowList {
  readonly isEmpty: boolean;
  /** The setting that allows the target, if one does. */
  readonly allowing: (target: EgressTarget) => string | undefined;
}

/** Reads `allow` and `presets`. The error holds the messages with which start-up is refused. */
export function readAllowList({
  allow,
  presets,
}: {
  readonly allow: readonly string[];
  readonly presets: readonly string[];
}): Result<AllowList, readonly string[]> {
  const problems: string[] = [];
  const entries: Entry[] = [];
  const read = (text: string, by: string): void => {
    const entry = parseEntry(text, by);
    if (entry !== undefined) entries.push(entry);
    else {
      problems.push(
        `Expected ${by} to be a host such as "packages.example.com", "*.example.com:8443" or "http://deb.example.com", got ${JSON.stringify(text)}.`,
      );
    }
  };
  allow.forEach((text, index) => {
    read(text, `${KEY}.allow[${index}]`);
  });
  presets.forEach((name, index) => {
    if (!isPreset(name)) {
      const known = Object.keys(EGRESS_PRESETS).join(', ');
      problems.push(`Expected ${KEY}.presets[${index}] to be one of ${known}, got ${JSON.stringify(name)}.`);
    } else for (const host of EGRESS_PRESETS[name].hosts) read(host, `${KEY}.presets "${name}"`);
  });
  if (problems.length > 0) return {ok: false, error: problems};
  return ok({
    isEmpty: entries.length === 0,
    allowing: ({scheme, host, port}) =>
      entries.find(
        entry =>
          entry.scheme === scheme &&
          entry.port === port &&
          (entry.isBelow ? host.endsWith(`.${entry.host}`) : host === entry.host),
      )?.by,
  });
}

function isPreset(name: string): name is EgressPresetName {
  return Object.hasOwn(EGRESS_PRESETS, name);
}

/** `HOST`, `HOST:PORT`, `http://HOST`, `http://HOST:PORT`, each with `*.` before the host. Port 80 is plain HTTP. */
function parseEntry(text: string, by: string): Entry | undefined {
  const isPlain = text.startsWith('http://');
  const rest = isPlain ? text.slice('http://'.length) : text;
  const isBelow = rest.startsWith('*.');
  const [name = '', port, ...more] = (isBelow ? rest.slice(2) : rest).split(':');
  const host = hostName(name);
  const number = port === undefined ? undefined : portNumber(port);
  // `*.com` would open a registry of names, not the hosts of one owner.
  if (host === undefined || more.length > 0 || (isBelow && !host.includes('.'))) return undefined;
  if (port !== undefined && number === undefined) return undefined;
  const scheme = isPlain || number === DEFAULT_PORTS.http ? 'http' : 'https';
  return {scheme, host, port: number ?? DEFAULT_PORTS[scheme], isBelow, by};
}

/** As it would be written in the setting, in quotes. */
export function settingName({scheme, host, port}: EgressTarget): string {
  if (scheme === 'https') return JSON.stringify(port === 443 ? host : `${host}:${port}`);
  return JSON.stringify(port === 80 ? `http://${host}` : `http://${host}:${port}`);
}

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const MOST_CHARS = 253;

/**
 * A DNS name in lower case, `undefined` for everything else. An address in any spelling is none: what ends in a number
 * is an IPv4 address to somebody (WHATWG URL, "ends in a number"), and a colon or bracket makes an IPv6 address.
 */
export function hostName(text: string): string | undefined {
  const name = text.toLowerCase();
  if (name.length > MOST_CHARS || name.length === 0) return undefined;
  const labels = name.split('.');
  if (!labels.every(label => LABEL.test(label))) return undefined;
  return /^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '') ? undefined : name;
}

/** A port as it is written, without signs, blanks and leading zeros. */
export function portNumber(text: string): number | undefined {
  if (!/^[1-9]\d{0,4}$/.test(text)) return undefined;
  const port = Number(text);
  return port <= 65_535 ? port : undefined;
}

interface EgressPreset {
  readonly hosts: readonly string[];
  /** What each of them is needed for. */
  readonly why: string;
}

/** Hosts that package managers ask in their default configuration. In a preset as in `allow`. */
export const EGRESS_PRESETS = {
  npm: {hosts: ['registry.npmjs.org'], why: 'Metadata and packages of npm, yarn and pnpm.'},
  pypi: {
    hosts: ['pypi.org', 'files.pythonhosted.org'],
    why: 'The index of pip and uv, and the files that it links to.',
  },
  crates: {
    hosts: ['index.crates.io', 'static.crates.io', 'crates.io'],
    why: 'The sparse index of cargo, the crates, and the API that older versions ask.',
  },
  debian: {
    hosts: ['http://deb.debian.org', 'deb.debian.org', 'http://security.debian.org', 'security.debian.org'],
    why: 'Package lists and packages of apt, which checks their signatures itself, over HTTP and HTTPS.',
  },
  github: {
    hosts: [
      'github.com',
      'codeload.github.com',
      'objects.githubusercontent.com',
      'raw.githubusercontent.com',
    ],
    why: 'Clones over HTTPS, archives, files of releases and single files. Whoever reaches it can also push, with a token.',
  },
} as const satisfies Record<string, EgressPreset>;

type EgressPresetName = keyof typeof EGRESS_PRESETS;
