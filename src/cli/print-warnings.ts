import type {ResolvedConfig} from '../config/resolve/resolve-config.ts';
import {type Console, styled} from './console.ts';
import {printable} from './terminal/printable.ts';

/** What a configuration says otherwise than it is used, for commands that open no toolbox, which would log it. */
export function printWarnings({warnings}: Pick<ResolvedConfig, 'warnings'>, console: Console): void {
  for (const warning of warnings) {
    console.err(`${styled(console, 'yellow', 'Warning:')} ${printable(warning)}\n`);
  }
}
