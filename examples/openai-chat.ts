import {createToolbox, openaiChatTools} from 'forge-tools';
import OpenAI from 'openai';

/** The same with the Chat Completions API, for a server of your own that speaks it. */
export async function work(task: string, workspace: string, baseURL: string): Promise<string> {
  const toolbox = createToolbox({workspace, allow: ['patch_file']});
  const client = new OpenAI({baseURL});
  const {tools, respond} = openaiChatTools(toolbox);
  const messages: OpenAI.ChatCompletionMessageParam[] = [{role: 'user', content: task}];
  try {
    for (;;) {
      const {choices} = await client.chat.completions.create({model: 'default', tools, messages});
      const message = choices[0]?.message;
      if (message === undefined) throw new Error('The model gave no answer.');
      const results = await respond(message.tool_calls);
      if (results.length === 0) return message.content ?? '';
      messages.push(message, ...results);
    }
  } finally {
    await toolbox.close();
  }
}
