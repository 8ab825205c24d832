import type {Result} from '../../core/result.ts';
import type {ListedUrl, NoUrl} from '../toolbox-services.ts';
import type {FinishedUrl, UnfinishedUrl} from './batch-record.ts';
import {type PageFormat, pageFileName, urlDigest} from './page-file-name.ts';

export type ParseListed = (text: string) => Result<ListedUrl, NoUrl>;

/** What earlier runs have finished, by digest: about a hundred bytes of memory for each address. */
export class FinishedUrls {
  readonly #digests = new Set<string>();
  readonly #parse: ParseListed;
  readonly #format: PageFormat;

  constructor(parse: ParseListed, format: PageFormat) {
    this.#parse = parse;
    this.#format = format;
  }

  /** One line of the manifest, in the order of the file. */
  note(entry: FinishedUrl | UnfinishedUrl): void {
    const url = this.#parse(entry.url);
    if (!url.ok) return;
    const {canonical} = url.value;
    const digest = urlDigest(canonical);
    // A page that was kept in the other format is not the file that is wanted now.
    const wanted = 'file' in entry && (entry.file ?? pageFileName(canonical, this.#format));
    if (wanted === pageFileName(canonical, this.#format)) this.#digests.add(digest);
    else this.#digests.delete(digest);
  }

  has(digest: string): boolean {
    return this.#digests.has(digest);
  }
}
