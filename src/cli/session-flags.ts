// Flags that several commands share.
import {PROFILES, TOOL_GROUPS} from '../config/profiles.ts';
import {LOG_LEVELS} from './console.ts';

/** Ruling H7. */
export const PROFILE_FLAG = {
  type: 'string',
  value: 'NAME',
  choices: PROFILES,
  help: 'What the configuration leaves open: read-only (nothing is changed), guarded (every tool, and effects are asked about), trusted (for clients that ask their user themselves). Default: that of the file; guarded without one.',
} as const;

// biome-ignore format: a flag is a line
/** Flags of every command that opens a toolbox. */
export const TOOLBOX_FLAGS = {
  config: {type: 'string', value: 'FILE', help: 'Configuration file (else $FORGE_TOOLS_CONFIG, else the user configuration).'},
  'log-level': {type: 'string', value: 'LEVEL', help: `JSON log lines on stderr: ${LOG_LEVELS.join(', ')}. Default: error; info of mcp that is started by a program.`},
} as const;

// biome-ignore format: a flag is a line
/** Flags of every command that checks or runs calls of tools. */
export const SESSION_FLAGS = {
  workspace: {type: 'string', value: 'DIR', help: 'The directory that the tools see. Default: the working directory; for mcp, the first root that its client names.'},
  'run-dir': {type: 'string', value: 'DIR', help: 'Where events and artifacts go, outside the workspace; one that is there is resumed. Default: a new one.'},
  allow: {type: 'string', value: 'NAMES', help: 'Tools or actions, separated by commas, that run without asking in this session. What is denied stays denied.'},
  groups: {type: 'string', value: 'NAMES', help: `Groups of tools that are offered, separated by commas: ${TOOL_GROUPS.join(', ')}. Default: those of tools.groups.`},
  profile: PROFILE_FLAG,
  ...TOOLBOX_FLAGS,
} as const;
