import {describe, expect, test} from 'vitest';
import {commandWritesLater, executesLater} from './executes-later.ts';

const BUILD_SERVER = 'a build server executes, with the secrets of the repository';
const GIT = 'git executes, at a commit, a checkout or a merge';
const PACKAGES = 'a package manager executes, at an installation or by name';
const BUILD = 'a build, a test run or a linter executes';
const CONTAINER = 'builds or starts a container or a machine';
const AGENTS = 'agents obey, in this session or a later one';
const STARTED = 'agents start programs by';
const SHELL = 'a shell or an editor executes when it enters the directory';

/** Files as they stand in real projects. */
const FILES: Readonly<Record<string, string>> = {
  [BUILD_SERVER]:
    '.github/workflows/ci.yml .github/actions/setup/action.yml .forgejo/workflows/a.yml .gitea/workflows/a.yml ' +
    '.gitlab-ci.yml .gitlab/ci/build.yml .circleci/config.yml azure-pipelines.yml azure-pipelines-nightly.yml ' +
    'Jenkinsfile Jenkinsfile.release .travis.yml .drone.yml .woodpecker.yml bitbucket-pipelines.yml ' +
    '.buildkite/pipeline.yml .teamcity/settings.kts appveyor.yml cloudbuild.yaml buildspec.yml .ci/run.sh',
  [GIT]:
    '.git/config .git/hooks/pre-commit .githooks/commit-msg .husky/pre-push tools/hooks/pre-receive ' +
    'tools/hooks/post-merge .gitattributes src/.gitattributes .gitmodules .gitconfig lefthook.yml .lefthook.yaml ' +
    '.pre-commit-config.yaml .lintstagedrc.json',
  [PACKAGES]:
    'package.json packages/a/package.json .npmrc .yarnrc.yml .yarn/releases/yarn-4.cjs .pnpmfile.cjs ' +
    'pnpm-workspace.yaml bunfig.toml deno.jsonc setup.py setup.cfg pyproject.toml requirements-dev.txt pip.conf ' +
    'x.pth sitecustomize.py usercustomize.py Cargo.toml build.rs .cargo/config.toml Gemfile a.gemspec ext/extconf.rb ' +
    'composer.json mix.exs go.mod pom.xml .mvn/jvm.config Package.swift Podfile',
  [BUILD]:
    'Makefile makefile.am GNUmakefile rules.mk justfile .justfile Taskfile.yml Rakefile gulpfile.js Gruntfile.cjs ' +
    'vite.config.js eslint.config.mjs postcss.config.cjs vitest.config.ts a.config.mts .eslintrc.js .babelrc.cjs ' +
    'conftest.py tests/conftest.py noxfile.py tox.ini pytest.ini CMakeLists.txt cmake/find.cmake configure ' +
    'configure.ac meson.build build.gradle build.gradle.kts gradlew.bat mvnw gradle/wrapper/gradle-wrapper.properties ' +
    'build.sbt BUILD.bazel WORKSPACE.bazel defs.bzl flake.nix shell.nix default.nix app.csproj Directory.Build.props ' +
    'install.sh env.bash setup.ps1 run.bat run.cmd scripts/release.py',
  [CONTAINER]:
    'Dockerfile Dockerfile.dev api.dockerfile Containerfile docker-compose.yml docker-compose.dev.yaml compose.yaml ' +
    'Vagrantfile Procfile .devcontainer/devcontainer.json devcontainer.json main.tf app.service crontab skaffold.yaml',
  [AGENTS]:
    'AGENTS.md docs/AGENTS.md AGENTS.override.md CLAUDE.md CLAUDE.local.md GEMINI.md .github/copilot-instructions.md ' +
    '.github/instructions/a.md .github/prompts/a.md skills/x/SKILL.md .claude/settings.json .cursor/rules/a.mdc ' +
    '.cursorrules .windsurf/rules.md .windsurfrules .clinerules .roo/rules.md .roorules .codex/config.toml ' +
    '.continue/config.yaml .aider.conf.yml .goosehints .junie/guidelines.md .amazonq/rules/a.md .kiro/steering/a.md',
  [STARTED]: '.mcp.json mcp.json config/mcp.toml forge-tools.toml claude_desktop_config.json',
  [SHELL]:
    '.envrc .env .env.local .bashrc .bash_profile .profile .zshrc .zshenv .zprofile .vscode/tasks.json ' +
    '.idea/workspace.xml a.code-workspace .zed/tasks.json .nvim.lua .exrc .vimrc .dir-locals.el .tool-versions ' +
    '.mise.toml mise.toml',
};

describe('T1 what executes a file later', () => {
  test.each(Object.entries(FILES))('%s', (reason, paths) => {
    for (const path of paths.split(' ')) {
      expect([path, executesLater(path)]).toEqual([path, reason]);
      expect([path, executesLater(path.toUpperCase())]).toEqual([path, reason]);
    }
  });

  test('of any other nothing', () => {
    const plain =
      'README.md src/main.rs src/package.ts docs/agents.ts src/scripts/page.ts docs/.github.md build/output.txt ' +
      'sub/.github/workflows/ci.yml src/hooks/use-theme.ts src/config.ts environment.md git/config';
    for (const path of plain.split(' ')) expect([path, executesLater(path)]).toEqual([path, undefined]);
  });
});

const INLINE = (program: string) =>
  `\`${program}\` is given a program of its own, so that it cannot be told what it writes`;

describe('T1 what a command may write that executes later', () => {
  test.each<[string, string | undefined]>([
    ['ls -la', undefined],
    ['npm test', undefined],
    ['cp a.txt b.txt', undefined],
    ['cp a Makefile', `it names Makefile, which ${BUILD}`],
    ['cp a "package.json"', `it names package.json, which ${PACKAGES}`],
    ["cp a '.envrc'", `it names .envrc, which ${SHELL}`],
    ['dd if=x of=.git/config', `it names .git/config, which ${GIT}`],
    ['tool --out=a=AGENTS.md', `it names AGENTS.md, which ${AGENTS}`],
    ['mv  a\t.mcp.json', `it names .mcp.json, which ${STARTED}`],
    ['ls && touch Dockerfile', `it names Dockerfile, which ${CONTAINER}`],
    // What only reads may name what it likes, and what is executed is not written.
    ...'basename cat cmp cut diff dirname du echo false file grep head ls md5sum nl pwd readlink realpath rg sha256sum stat tail tr true wc which'
      .split(' ')
      .map(program => [`${program} Makefile`, undefined] as [string, undefined]),
    ['cat Makefile && cp a Makefile', `it names Makefile, which ${BUILD}`],
    ['Makefile', undefined],
    ...'bash bun dash deno node perl php python python3 ruby sh tsx zsh'
      .split(' ')
      .map(program => [`${program} install.sh`, undefined] as [string, undefined]),
    ['sh install.sh Makefile', `it names Makefile, which ${BUILD}`],
    ['./run install.sh', `it names install.sh, which ${BUILD}`],
    // A program in the words of the command.
    ["sh -c 'ls'", INLINE('sh')],
    ["bash -lc 'ls'", INLINE('bash')],
    ["node -e '1'", INLINE('node')],
    ["node --eval '1'", INLINE('node')],
    ["node -p '1'", INLINE('node')],
    ["node --print '1'", INLINE('node')],
    ["fish --command 'ls'", undefined],
    ["deno --command '1'", INLINE('deno')],
    ['node a.js -x', undefined],
    ['grep -e x a.txt', undefined],
    // What cannot be read.
    ['echo a > b', 'the command has a redirection, so that it cannot be told what it writes'],
    ['', 'the command is empty, so that it cannot be told what it writes'],
  ])('%j', (command, reason) => {
    expect(commandWritesLater(command)).toBe(reason);
  });
});

/** Each plants a file that executes later, and its words say so to a shell. */
test.each([
  'uniq payload.txt package.json',
  'cp payload.txt /workspace/.github/workflows/ci.yml',
  'cp payload.txt /home/me/project/.github/workflows/ci.yml',
  'cp payload.txt ../project/.github/workflows/ci.yml',
  'cp payload.txt a/../.github/workflows/ci.yml',
  'cp payload.txt pack"age".json',
  "cp payload.txt pack'age'.json",
  'cp payload.txt pack\\age.json',
  'cp payload.txt "pack"age\\.json',
  'cp payload.txt pack*.json',
  'cp payload.txt Makefil?',
  'cp payload.txt Makefil[e]',
  'cp payload.txt Makefil{e,}',
  'cp payload.txt $F',
  'cp payload.txt "$F"',
  'cp payload.txt ~/Makefil',
  'cd .github && cp ../payload.txt workflows/ci.yml',
  'cd .github; cd workflows; cp ../../payload.txt ci.yml',
  'cd nowhere | cp payload.txt .github/workflows/ci.yml',
  "cd '.github' && cp ../payload.txt workflows/ci.yml",
  'cd - && cp payload.txt ci.yml',
  'cd && cp payload.txt ci.yml',
  'mv n .github',
  'mv n/.github .',
  'cp -r n/. .',
  'ln -s . w',
  'cp -t.github/workflows payload.txt',
  'sort -oMakefile payload.txt',
  'awk "{print > \\"Makefile\\"}" payload.txt',
  "timeout 5 awk '{print}' payload.txt",
  'ls payload.txt | xargs -I{} cp {} ./Makefil""e',
  "sed -n 'w x' payload.txt",
  "sed -i s/a/b/ 'x'",
  "/bin/sh -c 'cp payload.txt x'",
  "env sh -c 'cp payload.txt x'",
  "python3 -c'open(1)'",
  'cat payload.txt | sh',
  'cat payload.txt | bash -s',
  "php -r 'x();'",
  "eval 'cp payload.txt x'",
])('red team F4: %j is asked about', command => {
  expect(commandWritesLater(command)).toEqual(expect.any(String));
});

test.each([
  'npm test -- "src/**/*.test.ts"',
  'npm run build && ls dist/*.js',
  'grep -rn "$HOME" src/*.ts',
  'cat {a,b}.txt ~/x',
  "sed -n '1,80p' src/a.ts",
  'sed -n 5p Makefil',
  "sed -n '5,$p' a.txt",
  'cd src && npx vitest run',
  'cd .github && git status',
  'cp a.txt docs/a.txt',
  'cp a.txt .',
  'python3 -m pytest -vs tests',
  'node --version',
  'node --test test',
  'git commit -m "a message with *, ~ and {}"',
  'find . -name "*.ts" -newer a.txt',
  'eslint src/hooks',
])('red team F4: %j is not', command => {
  expect(commandWritesLater(command)).toBeUndefined();
});
