import type {FieldParameters} from './accept-signature.ts';

/** One line of what is signed: a component with its identifier, as `Signature-Input` names it. */
export interface Covered {
  readonly identifier: string;
  readonly value: string;
}

/** RFC 9421 §2.5: what is signed. `parameters` are those of `Signature-Input`, the components in front. */
export function signatureBase(covered: readonly Covered[], parameters: string): string {
  const lines = covered.map(({identifier, value}) => `${identifier}: ${value}`);
  return [...lines, `"@signature-params": ${parameters}`].join('\n');
}

/** RFC 9421 §2.3: the components in parentheses, and what is said about the signature. */
export function signatureParameters(
  covered: readonly Covered[],
  parameters: ReadonlyMap<string, string | number>,
): string {
  const about = Array.from(
    parameters,
    ([name, value]) => `;${name}=${typeof value === 'number' ? value : quoted(value)}`,
  );
  return `(${covered.map(({identifier}) => identifier).join(' ')})${about.join('')}`;
}

/** RFC 9651 §4.1.6. The text is printable ASCII. */
export function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** The one parameter that a component has as text, if it has no other. */
export function soleText(parameters: FieldParameters, name: string): string | undefined {
  const value = parameters.get(name);
  return parameters.size === 1 && value?.kind === 'string' ? value.text : undefined;
}
