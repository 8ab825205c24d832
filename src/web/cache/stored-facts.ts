import {EXTRA_MEDIA, type PageFacts, USAGE_NAMES, USAGE_SOURCES, type UsagePreference} from '../page.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const TEXTS = ['alternate', 'author', 'published', 'site'] as const;

/** The fields of an entry for what is known of a document beside its text. */
export function printFacts({validatedAt, media, usage, ...texts}: PageFacts): object {
  return {validated_at: validatedAt, media, ...texts, usage_preferences: usage};
}

/** `undefined` where something of it is wrong. */
export function readFacts(fields: {readonly [field: string]: unknown}): PageFacts | undefined {
  const {validated_at: validatedAt, usage_preferences: usage} = fields;
  const media = EXTRA_MEDIA.find(one => one === fields['media']);
  if (media !== fields['media']) return undefined;
  if (validatedAt !== undefined && !isTime(validatedAt)) return undefined;
  if (usage !== undefined && !(Array.isArray(usage) && usage.every(isPreference))) return undefined;
  const texts: {[name in (typeof TEXTS)[number]]?: string} = {};
  for (const name of TEXTS) {
    const text = fields[name];
    if (typeof text === 'string') texts[name] = text;
    else if (text !== undefined) return undefined;
  }
  return {
    ...(validatedAt !== undefined && {validatedAt}),
    ...(media && {media}),
    ...texts,
    ...(usage !== undefined && {usage}),
  };
}

export function isTime(value: unknown): value is string {
  return typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value));
}

function isPreference(value: unknown): value is UsagePreference {
  if (typeof value !== 'object' || value === null) return false;
  const {source, name, value: said}: Readonly<Record<string, unknown>> = {...value};
  return (
    USAGE_SOURCES.some(one => one === source) &&
    USAGE_NAMES.some(one => one === name) &&
    typeof said === 'string'
  );
}
