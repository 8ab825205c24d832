import type {Failure} from '../core/failure/failure.ts';
import type {Json} from '../core/json.ts';
import type {Tool, ToolError, ToolResult} from '../core/tool.ts';

/** Which of several kinds of a failure it is, and what a sentence was made from: for programs. */
const FOR_PROGRAMS = new Set(['retryable', 'error', 'field', 'reason', 'validation', 'operation']);

/** Ruling H2. `web_fetch` fails with the bare envelope (FR-ERR-JSON-01), the others with a sentence. */
export function renderResult({error, data}: ToolResult, tool: Tool | undefined): string {
  if (!error) return tool ? tool.renderText(data) : JSON.stringify(data);
  if (tool?.badParams === 'bad_args') return JSON.stringify(toEnvelope(error));
  const {error_type, message, details} = error;
  const retry = details?.['retryable'] === true ? ' (may work when retried)' : '';
  const unsaid = Object.entries(details ?? {}).filter(
    ([name, value]) => !FOR_PROGRAMS.has(name) && !isSaid(value, message),
  );
  const more = unsaid.length === 0 ? '' : `\n${JSON.stringify(Object.fromEntries(unsaid))}`;
  return `${error_type}: ${message}${retry}${more}`;
}

/** Whether a model that reads the message knows the value. */
function isSaid(value: Json, message: string): boolean {
  switch (typeof value) {
    case 'string':
      return message.includes(value) || message.includes(JSON.stringify(value).slice(1, -1));
    case 'number':
      return message.replace(/(?<=\d),(?=\d{3})/g, '').includes(String(value));
    case 'boolean':
      return true;
    default:
      return value === null || Object.values(value).every(one => isSaid(one, message));
  }
}

/** Ruling H1, the other way round. */
function toEnvelope({error_type, message, details}: ToolError): Failure {
  const {retryable, ...rest} = details ?? {};
  return {code: error_type, message, retryable: retryable === true, details: rest};
}
