import type {Section, SettingsOf} from '../core/setting.ts';
import {hubSection} from '../hub/options.ts';
import {mcpSection} from '../mcp/options.ts';
import {approvalSection} from '../runtime/approvals/options.ts';
import {taintSection} from '../runtime/taint/options.ts';
import {runSection} from '../sandbox/options.ts';
import {webFetchSection} from '../web/options.ts';
import {webReadSection} from '../web/read/options.ts';
import {PROFILES} from './fill-profile.ts';
import {TOOL_GROUPS} from './tool-groups.ts';

/**
 * SRD 5: the whole configuration file. The sections of the rooms come from their `options.ts`;
 * a new room adds one line under `tools`.
 */
export const configSchema = {
  kind: 'section',
  doc: 'The configuration file.',
  entries: {
    profile: {
      kind: 'choice',
      default: 'none',
      choices: ['none', ...PROFILES],
      extension: true,
      doc: 'Fills what the rest of the file leaves open. `guarded` offers every tool and asks before a call has effects; `read-only` offers those that change nothing; `trusted` is for clients that ask their user themselves: fetches, edits, and commands in a sandbox run without asking, and deny rules hold. `none` leaves the defaults below. Without any file `guarded` holds.',
    },
    tools: {
      kind: 'section',
      doc: 'What holds for every tool.',
      entries: {
        mode: {
          kind: 'choice',
          // FR-WF-CFG-PREC-01, ruling A9: absent means disabled.
          default: 'disabled',
          choices: ['enabled', 'disabled', 'parse_only'],
          doc: '`disabled` offers no tool to agents, whatever the sections below say; `enabled` offers those that are enabled there; `parse_only` executes nothing.',
        },
        access: {
          kind: 'choice',
          default: 'all',
          choices: ['all', 'read-only'],
          extension: true,
          doc: '`read-only` offers no tool that changes files or runs commands.',
        },
        groups: {
          kind: 'text-list',
          default: [...TOOL_GROUPS],
          extension: true,
          doc: 'The tools that are offered, by group, so that a model pays for no definition that it does not need: `core` (files, search and `run`), `web`, `edit-more` (`replace_in_files`, `move_file`, `delete_file`, `undo`), `background` (`wait_for`, `stop_run`, and `run` with `background`).',
        },
        definitions: {
          kind: 'table-list',
          default: [],
          required: ['name'],
          // FR-WF-CFG-PREC-03
          doc: 'The tools that are advertised where `mode` is `"parse_only"`. Other modes advertise what is enabled.',
          entries: {
            name: {kind: 'text', default: '', doc: 'Name of the tool.'},
            description: {
              kind: 'text',
              default: '',
              doc: 'For the model that chooses the tool. Empty takes the description of our tool of that name.',
            },
            parameters: {
              kind: 'open-table',
              default: {},
              doc: 'JSON Schema of the parameters. Empty takes that of our tool of that name.',
            },
          },
        },
        output: {
          kind: 'section',
          doc: 'What a tool may answer.',
          entries: {
            max_bytes: {
              kind: 'integer',
              default: 102_400,
              min: 1024,
              max: 104_857_600,
              unit: 'bytes',
              doc: 'Largest answer of one call, as compact JSON. A caller with less room left lowers it for that call. Where it is not written, read_file may answer with 1 MiB.',
            },
          },
        },
        approval: approvalSection,
        taint: taintSection,
        hub: hubSection,
        mcp: mcpSection,
        run: runSection,
        webfetch: webFetchSection,
        webread: webReadSection,
      },
    },
  },
} as const satisfies Section;

/** The resolved configuration, frozen, under the names that the TOML file uses. */
export type Config = SettingsOf<typeof configSchema>;
