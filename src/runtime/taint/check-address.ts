import {toUrl} from '../../core/text/to-url.ts';
import type {KnownAddresses} from './known-addresses.ts';
import type {PrivateMatch, PrivateText} from './private-text.ts';
import {textsInAddress} from './texts-in-address.ts';

export type AddressFinding =
  /** Word for word from a delivered page, or asked for before. */
  | {readonly kind: 'given'; readonly bits: number}
  /** Made up by the model. */
  | {
      readonly kind: 'made-up';
      /** The end that no delivered address begins with. */
      readonly novel: string;
      readonly match: PrivateMatch | undefined;
      /** It has more to look through than is looked through. */
      readonly isCut: boolean;
    }
  /** No address that anything would be asked of. */
  | {readonly kind: 'none'};

/** T1: what an address would tell whoever answers it. Pure, and done before any name is looked up: a look-up tells. */
export function checkAddress(
  written: string,
  known: KnownAddresses,
  privateText: PrivateText,
): AddressFinding {
  const text = written.trim();
  const url = toUrl(text);
  if (url === undefined) return {kind: 'none'};
  const bits = known.bitsOf(url);
  if (bits !== undefined) return {kind: 'given', bits};
  const novel = known.novelPart(url);
  // What begins as a delivered address does tells nothing by its beginning.
  const isNew = url.href.endsWith(`//${novel}`);
  const {texts, isCut} = textsInAddress(isNew ? url : new URL(`http://known.invalid/${novel}`));
  return {kind: 'made-up', novel, match: privateText.find(texts), isCut};
}
