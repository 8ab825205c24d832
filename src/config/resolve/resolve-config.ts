import {ok, type Result} from '../../core/result.ts';
import {type Config, configSchema} from '../config-schema.ts';
import {fillProfile} from '../fill-profile.ts';
import {isTable} from './describe-value.ts';
import type {Surroundings} from './expand-path.ts';
import type {Findings} from './findings.ts';
import {resolveSection} from './resolve-section.ts';

export interface ResolvedConfig {
  readonly config: Config;
  /** One for each value that is used otherwise than written, and for each unknown key. */
  readonly warnings: readonly string[];
  /** W12: whether the user wrote `tools.output.max_bytes`; its default holds for fewer tools. */
  readonly limitsOutput: boolean;
  /** Ruling H3: the `tools.mode` that the user wrote; `undefined` where it is the default. */
  readonly writtenMode: Config['tools']['mode'] | undefined;
  /** Ruling H7: whether the user wrote `tools.approval.mode`; otherwise it is the default, or that of the profile. */
  readonly writesApprovalMode: boolean;
}

/**
 * Ruling A9: raw configuration (parsed TOML, or an object of that shape; `undefined` for none) to
 * resolved configuration. The error is every problem that stops start-up.
 */
export function resolveConfig(
  raw: unknown,
  surroundings: Surroundings,
): Result<ResolvedConfig, readonly string[]> {
  const findings: Findings = {warnings: [], problems: []};
  const config = resolveSection(configSchema, fillProfile(raw), surroundings, findings);
  if (findings.problems.length > 0) return {ok: false, error: findings.problems};
  return ok({
    config,
    warnings: findings.warnings,
    limitsOutput: isWritten(raw, ['tools', 'output', 'max_bytes']),
    writtenMode: isWritten(raw, ['tools', 'mode']) ? config.tools.mode : undefined,
    writesApprovalMode: isWritten(raw, ['tools', 'approval', 'mode']),
  });
}

function isWritten(raw: unknown, [key, ...below]: readonly string[]): boolean {
  if (key === undefined) return raw !== undefined;
  return isTable(raw) && Object.hasOwn(raw, key) && isWritten(raw[key], below);
}
