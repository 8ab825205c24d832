import {boundaryAfter} from './text-boundary.ts';

/** At most `max` UTF-16 units from the end of a text, begun between two characters. */
export function takeEnd(text: string, max: number): string {
  return text.length <= max ? text : text.slice(boundaryAfter(text, text.length - max));
}
