import type {Section, SettingsOf} from '../core/setting.ts';

/** Ruling H8: `[tools.mcp]`. */
export const mcpSection = {
  kind: 'section',
  doc: 'Serving the tools over the Model Context Protocol.',
  extension: true,
  entries: {
    results: {
      kind: 'choice',
      default: 'both',
      choices: ['both', 'text'],
      doc: 'What a client gets. `text` leaves out `structuredContent` and `outputSchema`, for clients that would show a model the structure instead of the shorter text. The text of web_fetch is its JSON in both.',
    },
    max_result_bytes: {
      kind: 'integer',
      default: 65_536,
      min: 1024,
      max: 104_857_600,
      unit: 'bytes',
      doc: 'Largest answer of a call over MCP, as compact JSON, where it is smaller than `tools.output.max_bytes`: clients cut or refuse longer ones. web_fetch has its own limits.',
    },
  },
} as const satisfies Section;

export type McpSettings = SettingsOf<typeof mcpSection>;
