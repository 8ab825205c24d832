// `demo`: plays a recorded session of an agent with the real tools, in a project made for it.
import {createToolbox} from '../../index.ts';
import {type CommandContext, defineCommand, EXIT} from '../command.ts';
import {styled} from '../console.ts';
import {bugHunt, createScratchProject, playScene, type ScratchProject} from '../demo.ts';
import {openDemoSite} from '../demo-site.ts';
import {renderFailure} from '../print-result.ts';

export const demoCommand = defineCommand({
  usage: '',
  takes: [args => args.length === 0, 'demo takes no arguments.'],
  flags: {},
  examples: ['forge-tools demo'],
  interruptible: true,
  async run(context) {
    const {console, signal} = context;
    const site = await openDemoSite();
    const project = await createScratchProject(context.environment.tempDir);
    const toolbox = openDemoToolbox(project, site.port, context);
    await console.out(
      `${styled(console, 'bold', 'forge-tools demo')}: a bug is reported, and an agent fixes it. On the way it tries what an\n` +
        'agent must not get away with. Its calls are a recording; the tools that answer are real.\n' +
        `A bug tracker is at ${site.origin}, the project in ${project.workspace}.\n` +
        'The guard refuses loopback addresses; for this demo it is overridden for that one port.\n',
    );
    try {
      const {asRecorded, total, lacking, blocked} = await playScene(
        bugHunt(site.origin),
        toolbox,
        console,
        signal,
      );
      // The run is whole when the toolbox has closed it.
      await toolbox.close();
      await console.out(renderBlocked(blocked, context));
      await console.out(
        `\n${asRecorded} of ${total} steps went as recorded${lacking === 0 ? '' : `, ${lacking} need what this machine lacks (forge-tools doctor)`}.\n`,
      );
      const hasReport = await report(project, context);
      return hasReport && asRecorded + lacking === total ? EXIT.ok : EXIT.failed;
    } finally {
      await Promise.all([toolbox.close(), site.close()]);
    }
  },
});

function renderBlocked(blocked: readonly string[], {console}: CommandContext): string {
  if (blocked.length === 0) return '';
  const lines = blocked.map(what => `  ${styled(console, 'red', '⊘')} ${what}\n`);
  return `\n${styled(console, 'bold', `${blocked.length} things were blocked:`)}\n${lines.join('')}`;
}

async function report(project: ScratchProject, context: CommandContext): Promise<boolean> {
  const {console, environment, services} = context;
  const written = await (await services()).writeReport(project.runDirectory, project.report, environment);
  if (!written.ok) {
    console.err(renderFailure(written.error, undefined, console));
    return false;
  }
  await console.out(
    `Everything that was called, asked and changed:\n${styled(console, 'bold', project.report)}\n` +
      `Nothing else is left behind than ${project.directory}.\n`,
  );
  // For a person who looks, and not for a program that reads.
  if (console.interactive && (await (await services()).showFile(project.report, environment))) {
    await console.out('It is opened in your browser.\n');
  }
  return true;
}

/** Its run, its state and its cache lie beside the project. */
function openDemoToolbox(project: ScratchProject, port: number, {environment}: CommandContext) {
  const {workspace, runDirectory, stateDirectory} = project;
  return createToolbox({
    environment: {...environment, env: {...environment.env, XDG_STATE_HOME: stateDirectory}},
    workspace,
    runDirectory,
    config: {
      tools: {
        mode: 'enabled',
        webfetch: {
          enabled: true,
          cache_dir: '',
          security: {allow_insecure_overrides: true, block_loopback: false, allowed_ports: [port]},
        },
      },
    },
  });
}
