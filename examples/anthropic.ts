import Anthropic from '@anthropic-ai/sdk';
import {anthropicTools, createToolbox} from 'forge-tools';

/** Works on the files below `workspace` until the model has nothing more to call. */
export async function work(task: string, workspace: string): Promise<string> {
  const toolbox = createToolbox({workspace, allow: ['patch_file']});
  const client = new Anthropic();
  const {tools, respond} = anthropicTools(toolbox);
  const messages: Anthropic.MessageParam[] = [{role: 'user', content: task}];
  try {
    for (;;) {
      const answer = await client.messages.create({
        model: 'claude-sonnet-4-5',
        max_tokens: 4096,
        tools,
        messages,
      });
      const results = await respond(answer.content);
      if (results.length === 0) {
        return answer.content.map(block => (block.type === 'text' ? block.text : '')).join('');
      }
      messages.push({role: 'assistant', content: answer.content}, {role: 'user', content: results});
    }
  } finally {
    await toolbox.close();
  }
}
