import {stemOf} from './stem-of.ts';
import {wordsOf} from './words-of.ts';

/** English words of questions, which say how is asked and not about what. */
const ASKING = new Set(
  (
    'a an and any are as at be been being but by can could did do does for from had has have he her his how i if in into ' +
    'is it its many may me might much must my no nor not of on one or our shall she should so such than that the their ' +
    'them then there these they this those to too us was we were what when where which who whom whose why will with ' +
    'would you your according page article says say said tell mentioned called name named give given'
  ).split(' '),
);
/** A question is a sentence or two; terms beyond these weigh nothing. */
const MOST_TERMS = 64;

/** The different stems of a query, without words that every question has unless it has no others. */
export function queryTerms(query: string): readonly string[] {
  const words = Array.from(wordsOf(query), ({text}) => text);
  const about = words.filter(word => !ASKING.has(word));
  return [...new Set((about.length > 0 ? about : words).map(stemOf))].slice(0, MOST_TERMS);
}
