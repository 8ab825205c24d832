import {stripInvisible} from '../../core/text/strip-invisible.ts';

/** Ruling D12: what a page, a server or a file said reaches a terminal without what the terminal would act on. */
export function printable(text: string): string {
  return stripInvisible(text);
}
