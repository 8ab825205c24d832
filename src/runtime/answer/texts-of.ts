import type {Json} from '../../core/json.ts';

/** All texts in a value, each on a line of its own. Names of fields are ours and no part of it. */
export function textsOf(value: Json): string {
  const texts: string[] = [];
  const walk = (one: Json): void => {
    if (typeof one === 'string') texts.push(one);
    else if (typeof one === 'object' && one !== null)
      for (const entry of Object.values<Json>(one)) walk(entry);
  };
  walk(value);
  return texts.join('\n');
}
