// Files that something executes or obeys without being asked, by reason.

/** What is executed or obeyed from such a file, without anybody having asked for that: patterns and the reason. */
export interface LaterExecuted {
  /** Patterns in the manner of gitignore, in lower case. */
  readonly patterns: readonly string[];
  /** Ends the sentence `It is written to what …`. */
  readonly reason: string;
}

/** By reason: patterns, separated by blanks. */
const PATTERNS: Readonly<Record<string, string>> = {
  'a build server executes, with the secrets of the repository': `
    /.github/workflows/** /.github/actions/** /.forgejo/** /.gitea/** .gitlab-ci.yml /.gitlab/**
    /.circleci/** azure-pipelines*.yml jenkinsfile* .travis.yml .drone.yml .woodpecker*
    bitbucket-pipelines.yml /.buildkite/** /.teamcity/** appveyor.yml cloudbuild*.yaml buildspec*.yml
    /.ci/**`,
  'git executes, at a commit, a checkout or a merge': `
    .git .githooks .husky **/hooks/pre-* **/hooks/post-* .gitattributes .gitmodules .gitconfig lefthook.y*ml
    .lefthook.y*ml .pre-commit-config.yaml .lintstagedrc*`,
  'a package manager executes, at an installation or by name': `
    package.json .npmrc .yarnrc* /.yarn/** .pnpmfile.* pnpm-workspace.yaml bunfig.toml deno.json* setup.py
    setup.cfg pyproject.toml requirements*.txt pip.conf *.pth sitecustomize.py usercustomize.py cargo.toml
    build.rs .cargo gemfile *.gemspec extconf.rb composer.json mix.exs go.mod pom.xml .mvn package.swift
    podfile`,
  'a build, a test run or a linter executes': `
    makefile* gnumakefile *.mk justfile .justfile taskfile.y*ml rakefile gulpfile.* gruntfile.* *.config.js
    *.config.mjs *.config.cjs *.config.ts *.config.mts .*rc.js .*rc.cjs conftest.py noxfile.py tox.ini
    pytest.ini cmakelists.txt *.cmake configure configure.ac meson.build *.gradle *.gradle.kts gradlew*
    mvnw* gradle-wrapper.properties build.sbt build.bazel workspace.bazel *.bzl flake.nix shell.nix
    default.nix *.csproj directory.build.* *.sh *.bash *.ps1 *.bat *.cmd /scripts/**`,
  'builds or starts a container or a machine': `
    dockerfile* *.dockerfile containerfile* docker-compose*.y*ml compose*.y*ml vagrantfile procfile
    devcontainer.json .devcontainer *.tf *.service crontab skaffold.yaml`,
  'agents obey, in this session or a later one': `
    agents*.md claude*.md gemini.md copilot-instructions.md /.github/instructions/** /.github/prompts/**
    skill.md .claude .cursor .cursorrules .windsurf .windsurfrules .clinerules .roo .roorules .codex
    .continue .aider* .goosehints .junie .amazonq .kiro`,
  'agents start programs by': `
    .mcp.json mcp.json mcp.toml forge-tools.toml claude_desktop_config.json`,
  'a shell or an editor executes when it enters the directory': `
    .envrc .env .env.* .bashrc .bash_profile .profile .zshrc .zshenv .zprofile .vscode .idea
    *.code-workspace .zed .nvim.lua .exrc .vimrc .dir-locals.el .tool-versions .mise.toml mise.toml`,
};

export const LATER_EXECUTED: readonly LaterExecuted[] = Object.entries(PATTERNS).map(
  ([reason, patterns]) => ({
    reason,
    patterns: patterns.trim().split(/\s+/),
  }),
);
