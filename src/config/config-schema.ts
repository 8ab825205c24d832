// The table of all settings, put together from the tables of the rooms.
import {choice, integer, own, type SettingsOf, section, tableList, text, textList} from '../core/setting.ts';
import {hubSection} from '../hub/options.ts';
import {mcpSection} from '../mcp/options.ts';
import {approvalSection} from '../runtime/approvals/options.ts';
import {taintSection} from '../runtime/taint/options.ts';
import {runSection} from '../sandbox/options.ts';
import {webFetchSection, webReadSection, webSearchSection} from '../web/options.ts';
import {PROFILES, TOOL_GROUPS} from './profiles.ts';

/**
 * SRD 5: the whole configuration file. The sections of the rooms come from their `options.ts`;
 * a new room adds one line under `tools`.
 */
// biome-ignore format: a setting is a line
export const configSchema = section('The configuration file.', {
  profile: { kind: 'choice', default: 'none', choices: ['none', ...PROFILES], extension: true, doc: 'Preset for settings that the file leaves open. `guarded` offers every tool and asks before side effects. `read-only` offers tools that change nothing. `trusted` is for clients that ask their user: fetches, edits and sandboxed commands run without asking, and deny rules hold. `none` keeps the defaults of the specification; it holds if only `tools.mode` is written.', },
  runs: own(section('How long runs are kept. A new session removes older ones, at most once an hour. Open runs, runs younger than a day, and runs with a waiting approval stay.', {
    keep_days: integer(30, [1, 36_500, 'days'], 'A run is removed this long after its last log line.'),
    keep_mb: integer(1000, [1, 1_000_000, 'MiB'], 'Total size of all runs; the oldest are removed first.'),
  })),
  tools: section('Settings of all tools.', {
    // Absent means disabled. (FR-WF-CFG-PREC-01, A9)
    mode: {kind: 'choice', default: 'disabled', choices: ['enabled', 'disabled', 'parse_only'], doc: '`disabled` offers no tool to agents. `enabled` offers those that the sections below enable. `parse_only` executes nothing.', },
    access: own(choice(['all', 'read-only'], '`read-only` offers no tool that changes files or runs commands.')),
    groups: own(textList([...TOOL_GROUPS], 'Groups of tools to offer; fewer cost a model fewer tokens. `core`: files, search and `run`. `web`. `edit-more`: `replace_in_files`, `move_file`, `delete_file`, `undo`. `background`: `wait_for`, `stop_run`, and `run` with `background`.')),
    // FR-WF-CFG-PREC-03
    definitions: tableList(['name'], 'Tools to advertise under `mode = "parse_only"`. Other modes advertise the enabled ones.', {
      name: text('', 'Name of the tool.'),
      description: text('', 'Description for the model. Empty takes that of our tool of that name.'),
      parameters: {kind: 'open-table', default: {}, doc: 'JSON Schema of the parameters. Empty takes that of our tool of that name.'},
    }),
    output: section('Size of answers.', {
      max_bytes: integer(102_400, [1024, 104_857_600, 'bytes'], 'Largest answer of one call, as compact JSON. A caller may lower it for a call. Unless you write it, read_file may answer with 1 MiB.'),
    }),
    approval: approvalSection,
    taint: taintSection,
    hub: hubSection,
    mcp: mcpSection,
    run: runSection,
    webfetch: webFetchSection,
    webread: webReadSection,
    websearch: webSearchSection,
  }),
});

/** The resolved configuration, frozen, under the names that the TOML file uses. */
export type Config = SettingsOf<typeof configSchema>;
