import {createHash} from 'node:crypto';

export type PageFormat = 'md' | 'json';

const LONGEST_HOST = 100;
const LONGEST_SLUG = 60;
/** Names that some systems keep for devices, whatever follows a dot. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/** 80 bits that stand for an address, in a string of its own. */
export function urlDigest(url: string): string {
  return createHash('sha256').update(url, 'utf8').digest().toString('hex', 0, 10);
}

/**
 * Where a page is kept below the output directory: `host/path-of-the-page-DIGEST.md`. The digest of the
 * canonical address makes the name unique; all else is there to be read, and is made of lower-case letters,
 * digits, dots, `-` and `_` alone, so that no address leads elsewhere or to another's file on any system.
 */
export function pageFileName(canonicalUrl: string, format: PageFormat): string {
  const {host, pathname} = new URL(canonicalUrl);
  return `${directoryName(host)}/${slugOf(pathname)}${urlDigest(canonicalUrl)}.${format}`;
}

function directoryName(host: string): string {
  const name = host
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '_')
    .slice(0, LONGEST_HOST)
    // Hidden on one system, dropped by another.
    .replace(/^\.+|\.+$/g, '');
  return name === '' || DEVICE.test(name) ? `_${name}` : name;
}

function slugOf(pathname: string): string {
  const slug = decoded(pathname)
    .toLowerCase()
    .replace(/\.(?:html?|php|aspx?|md|txt)$/, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST_SLUG)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? '' : `${slug}-`;
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}
