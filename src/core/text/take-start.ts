import {boundaryBefore} from './text-boundary.ts';

/** At most `max` UTF-16 units from the start of a text, ended between two characters. */
export function takeStart(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, boundaryBefore(text, max));
}
