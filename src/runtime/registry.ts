// Knows the tools by name and what of them is advertised. An unknown name gets the nearest one.
import {type Err, type Failure, fail, type Json, ok, type Result} from '../core/result.ts';
import {takeStart} from '../core/text/cut.ts';
import type {Tool, ToolAnnotations} from '../core/tool.ts';
import {disabledFailure, offByMode, ourName, type SwitchedOff, switchedOffSentence} from './prepare-call.ts';
import {TOOL_SYNONYMS} from './synonyms.data.ts';

/** One `[[tools.definitions]]`; what is left out is empty. */
export interface WrittenDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: {readonly [keyword: string]: Json};
}

export interface RegistryOptions {
  /** SRD 5.2: `tools.mode`. */
  readonly mode: 'enabled' | 'disabled' | 'parse_only';
  /** A sentence: how the operator changes the mode. */
  readonly turnModeOn: string;
  /** Every tool that can be run here, enabled or not. */
  readonly tools: readonly Tool[];
  /** Tools that are switched off, with the setting that does it. */
  readonly switchedOff: ReadonlyMap<string, SwitchedOff>;
  readonly definitions: readonly WrittenDefinition[];
  /** A sentence: which tools are not here, why, and what to do. It ends `unknown_tool`. */
  readonly absent?: string | undefined;
}

/** What a model is told of a tool. */
export interface AdvertisedTool {
  readonly name: string;
  readonly description: string;
  readonly paramsSchema: {readonly [keyword: string]: Json};
  /** Of our own tools only, not of what `[[tools.definitions]]` makes up. */
  readonly title?: string;
  readonly annotations?: ToolAnnotations;
  readonly dataSchema?: {readonly [keyword: string]: Json};
}

export interface Registry {
  /** In the order in which they were registered. */
  readonly advertised: readonly AdvertisedTool[];
  /** The tool, if it may be run. */
  readonly find: (name: string) => Result<Tool>;
}

export function createRegistry({
  mode,
  turnModeOn,
  tools,
  switchedOff,
  definitions,
  absent,
}: RegistryOptions): Registry {
  const byMode = offByMode(mode, turnModeOn);
  const byName = new Map(tools.map(tool => [tool.name, tool]));
  for (const {name} of tools) {
    if (!/^[a-z][a-z0-9_]{0,63}$/.test(name))
      throw new Error(`Expected a tool name in snake_case, got "${name}".`);
  }
  if (byName.size !== tools.length) throw new Error('Two tools have the same name.');
  const enabled = tools.filter(({name}) => !switchedOff.has(name));
  const advertised = Object.freeze(advertise());

  return {
    advertised,
    find: name => {
      const tool = byName.get(name);
      const isWritten = mode === 'parse_only' && advertised.some(known => known.name === name);
      // The mode stands above the setting of the tool. (FR-WF-CFG-PREC-01, FR-WF-CFG-PREC-03)
      const off = byMode ?? switchedOff.get(name);
      if (off !== undefined && (tool !== undefined || isWritten)) return disabledFailure(name, off);
      return tool === undefined ? unknownTool(name) : ok(tool);
    },
  };

  function advertise(): readonly AdvertisedTool[] {
    switch (mode) {
      case 'disabled':
        return [];
      case 'enabled':
        return enabled.map(({name, title, description, annotations, paramsSchema, dataSchema}) => ({
          name,
          title,
          description,
          annotations,
          paramsSchema,
          dataSchema,
        }));
      case 'parse_only':
        return definitions.map(({name, description, parameters}) => {
          const tool = byName.get(name);
          const isEmpty = Object.keys(parameters).length === 0;
          return {
            name,
            description: description === '' ? (tool?.description ?? '') : description,
            paramsSchema: isEmpty ? (tool?.paramsSchema ?? {type: 'object'}) : parameters,
          };
        });
    }
  }

  function unknownTool(name: string): Err<Failure> {
    const available = advertised.map(tool => tool.name);
    const shown = takeStart(name, 64);
    const nearest = ourName(name, available, TOOL_SYNONYMS);
    const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
    const none = byMode === undefined ? 'No tool is enabled.' : switchedOffSentence('Every tool is', byMode);
    const list = available.length === 0 ? none : `The tools are ${available.join(', ')}.`;
    const why = absent === undefined ? '' : ` ${absent}`;
    return fail('unknown_tool', `There is no tool ${JSON.stringify(shown)}.${hint} ${list}${why}`, {
      tool: shown,
      available,
      did_you_mean: nearest,
    });
  }
}
