import {cp, mkdtemp} from 'node:fs/promises';
import {join} from 'node:path';
import {packageFile} from '../../core/package-file.ts';

export interface ScratchProject {
  /** Holds everything that the demo leaves; the person who looked at it removes it. */
  readonly directory: string;
  readonly workspace: string;
  readonly runDirectory: string;
  readonly stateDirectory: string;
  readonly report: string;
}

/** A small project with a failing test, in a directory of its own. */
export async function createScratchProject(tempDir: string): Promise<ScratchProject> {
  const directory = await mkdtemp(join(tempDir, 'forge-demo-'));
  const workspace = join(directory, 'project');
  await cp(packageFile('demo/project'), workspace, {recursive: true});
  return {
    directory,
    workspace,
    runDirectory: join(directory, 'run'),
    stateDirectory: join(directory, 'state'),
    report: join(directory, 'report.html'),
  };
}
