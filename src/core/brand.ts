declare const brand: unique symbol;

/** A value that only the code that checked it may mint: `Brand<string, 'CanonicalUrl'>`. */
export type Brand<Value, Name extends string> = Value & {readonly [brand]: Name};
