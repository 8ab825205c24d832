import {generateText, jsonSchema, type LanguageModel, stepCountIs} from 'ai';
import {createToolbox, vercelTools} from 'forge-tools';

/** Works on the files below `workspace`; the AI SDK runs the loop. */
export async function work(task: string, workspace: string, model: LanguageModel): Promise<string> {
  const toolbox = createToolbox({workspace, allow: ['patch_file']});
  try {
    const tools = vercelTools(toolbox, jsonSchema);
    const {text} = await generateText({model, tools, prompt: task, stopWhen: stepCountIs(50)});
    return text;
  } finally {
    await toolbox.close();
  }
}
