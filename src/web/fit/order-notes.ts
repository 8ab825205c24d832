import {NOTE_ORDER, type Note} from '../page.ts';

/** FR-WF-NOTES-ORDER-01: each note once, by pipeline stage. */
export function orderNotes(notes: readonly Note[]): Note[] {
  return NOTE_ORDER.filter(note => notes.includes(note));
}
