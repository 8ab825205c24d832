import type {Brand} from '../core/brand.ts';

/** An absolute http or https address that a reader may choose to follow. */
export type LinkTarget = Brand<string, 'LinkTarget'>;

const LONGEST = 2000;

/** `undefined` for every other scheme, for credentials, and for an address whose query the log left out. */
export function linkTarget(written: string): LinkTarget | undefined {
  if (written.length > LONGEST || !/^https?:\/\//i.test(written) || written.includes('?…')) return undefined;
  try {
    const {protocol, username, password, href} = new URL(written);
    const isWeb = protocol === 'http:' || protocol === 'https:';
    return isWeb && username === '' && password === '' ? (href as LinkTarget) : undefined;
  } catch {
    return undefined;
  }
}
