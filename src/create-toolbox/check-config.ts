import type {Config} from '../config/config-schema.ts';
import {readGuardPolicy} from '../web/guard/guard-policy.ts';

/** FR-WF-SEC-OVR-01: what stops start-up, also of commands that fetch nothing. Empty where nothing does. */
export function checkConfig({tools}: Config): readonly string[] {
  const guard = readGuardPolicy(tools.webfetch.security, tools.webfetch.allow_private);
  return guard.ok ? [] : guard.error;
}
