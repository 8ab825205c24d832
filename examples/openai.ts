import {createToolbox, openaiTools} from 'forge-tools';
import OpenAI from 'openai';

/** Works on the files below `workspace` until the model has nothing more to call. */
export async function work(task: string, workspace: string): Promise<string> {
  const toolbox = createToolbox({workspace, allow: ['patch_file']});
  const client = new OpenAI();
  const {tools, respond} = openaiTools(toolbox);
  const request = {model: 'gpt-5', tools};
  try {
    let answer = await client.responses.create({...request, input: task});
    for (;;) {
      const results = await respond(answer.output);
      if (results.length === 0) return answer.output_text;
      answer = await client.responses.create({...request, input: results, previous_response_id: answer.id});
    }
  } finally {
    await toolbox.close();
  }
}
