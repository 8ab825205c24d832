import type {Runtime} from '../runtime.ts';

/** Ruling E7, W12: what the operator wrote holds for every tool; the default only for those without a limit of their own. */
export function outputLimitOf(
  {registry, maxOutputBytes, maxOutputBytesIsDefault = false}: Runtime,
  tool: string,
): number {
  if (!maxOutputBytesIsDefault) return maxOutputBytes;
  const found = registry.find(tool);
  return (found.ok ? found.value.maxOutputBytes : undefined) ?? maxOutputBytes;
}
