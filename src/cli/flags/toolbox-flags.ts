import {LOG_LEVELS} from '../json-log.ts';

/** Flags of every command that opens a toolbox. */
export const TOOLBOX_FLAGS = {
  config: {
    type: 'string',
    value: 'FILE',
    help: 'Configuration file (else $FORGE_CONFIG, else the user configuration).',
  },
  'log-level': {
    type: 'string',
    value: 'LEVEL',
    help: `JSON log lines on stderr: ${LOG_LEVELS.join(', ')}. Default: error; info of mcp that is started by a program.`,
  },
} as const;
