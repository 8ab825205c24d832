// Checks what stops start-up even where nothing is opened.
import type {Config} from '../config/config-schema.ts';
import {wrongGroups} from '../config/profiles.ts';
import {readGuardPolicy} from '../web/guard/policy.ts';

/** FR-WF-SEC-OVR-01: what stops start-up, also of commands that fetch nothing. Empty where nothing does. */
export function checkConfig({tools}: Config): readonly string[] {
  const guard = readGuardPolicy(tools.webfetch.security, tools.webfetch.allow_private);
  return [...(guard.ok ? [] : guard.error), ...wrongGroups(tools.groups, 'tools.groups')];
}
