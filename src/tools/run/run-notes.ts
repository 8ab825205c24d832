import type {RunOptions} from '../../sandbox/options.ts';
import type {RunOutcome} from '../../sandbox/sandbox.ts';
import type {EgressLog} from './egress-log.ts';
import {lacksNetwork, NO_NETWORK, ONLY_BY_PROXY} from './lacks-network.ts';
import type {SavedOutput} from './output-keeper.ts';

/** What git may do here, by the setting. */
const GIT_NOTES: Readonly<Record<RunOptions['git'], string>> = {
  'read-only':
    'Commands may read .git and not change it (tools.run.git = "read-only"). The user commits, or sets it to "commit".',
  commit:
    'Commands may commit and not change what git executes or is configured by (tools.run.git = "commit"). The user does that.',
};

/** Ruling W11: git's own words name a file and no setting. */
function isGitRefused({stderr}: SavedOutput): boolean {
  return /\.git\b[^\n]*Read-only file system|Read-only file system[^\n]*\.git\b/.test(stderr.text);
}

/** Why something failed that the sandbox or a setting does not allow. */
export function runNotes(
  {sandbox}: RunOutcome,
  saved: SavedOutput,
  {git, egress: {allow, presets}}: RunOptions,
  egress: EgressLog,
): readonly string[] {
  const connections = egress.note();
  const isClosed = allow.length === 0 && presets.length === 0;
  return [
    ...(isGitRefused(saved) ? [GIT_NOTES[git]] : []),
    ...(connections === undefined ? [] : [connections]),
    ...(sandbox !== 'none' && lacksNetwork(saved.stderr.text) ? [isClosed ? NO_NETWORK : ONLY_BY_PROXY] : []),
  ];
}
