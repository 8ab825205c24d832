import type {Json} from '../core/json.ts';
import type {CallOptions, ToolHost} from '../core/tool-host.ts';

/** Calls a tool with arguments as a model wrote them, and gives the text for the model. */
export async function callWithJson(
  host: ToolHost,
  call: {readonly id: string; readonly tool: string; readonly json: string},
  options?: CallOptions,
): Promise<string> {
  let params: Json = {};
  try {
    // Some models send nothing at all where a tool needs no argument (ruling H2).
    if (call.json.trim() !== '') params = JSON.parse(call.json);
  } catch {
    return `invalid_params: The arguments of ${call.tool} are not valid JSON. Call again with one JSON object.`;
  }
  // The toolbox refuses what is no object.
  const request = {tool: call.tool, params: params as {readonly [name: string]: Json}, request_id: call.id};
  return host.renderText(await host.call(request, options));
}
