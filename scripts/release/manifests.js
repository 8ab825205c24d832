// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the host that reads the manifest fills these in
// What registries and clients want to know about the package, made from package.json.

/** The MCP registry: one package, started by npx. `name` has to be a name that who publishes it owns. */
export function serverJson({name, mcpName, version, ...addresses}) {
  const {homepage, repository} = addressesOf(addresses);
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: mcpName,
    title: 'forge-tools',
    description: 'Guarded fetch, files and commands for agents: SSRF guard, atomic edits, sandbox, log.',
    version,
    ...(repository && {
      websiteUrl: homepage,
      // "github" for github.com, as the registry has it.
      repository: {url: repository, source: new URL(repository).hostname.replace(/\.[a-z]+$/, '')},
    }),
    packages: [
      {
        registryType: 'npm',
        identifier: name,
        version,
        runtimeHint: 'npx',
        transport: {type: 'stdio'},
        packageArguments: [{type: 'positional', value: 'mcp'}],
      },
    ],
  };
}

/** An .mcpb bundle: the desktop application asks for the directory, and starts the server with its own Node. */
export function bundleManifest(
  {name, version, description, license, keywords, engines, ...addresses},
  platform,
) {
  const {homepage, bugs, repository} = addressesOf(addresses);
  return {
    manifest_version: '0.3',
    name,
    display_name: 'forge-tools',
    version,
    description,
    long_description:
      'Web pages as Markdown with exact token counts, file edits that are whole or not made, and commands in a sandbox. Addresses are checked at every redirect, calls with side effects ask first, and everything is in a log that shows tampering.',
    author: {name: 'The founders of forge-tools'},
    ...(repository && {repository: {type: 'git', url: repository}, homepage, support: bugs}),
    license,
    keywords,
    server: {
      type: 'node',
      entry_point: 'server/node_modules/forge-tools/dist/bin/forge-tools.js',
      mcp_config: {
        command: 'node',
        args: [
          '${__dirname}/server/node_modules/forge-tools/dist/bin/forge-tools.js',
          'mcp',
          '--workspace',
          '${user_config.workspace}',
          '--profile',
          '${user_config.profile}',
        ],
        env: {},
      },
    },
    tools_generated: true,
    compatibility: {platforms: [platform], runtimes: {node: engines.node}},
    user_config: {
      workspace: {
        type: 'directory',
        title: 'Directory',
        description: 'The directory that the tools work on, and cannot leave.',
        required: true,
        default: '${HOME}',
      },
      profile: {
        type: 'string',
        title: 'Profile',
        description:
          'guarded: asks before side effects. trusted: for applications that ask you themselves. read-only: changes nothing.',
        required: true,
        default: 'guarded',
      },
    },
  };
}

/** A plugin of Claude Code: its manifest, and the server that it starts in the project. */
export function pluginFiles({name, version, description, license, keywords, ...addresses}) {
  const {homepage, repository} = addressesOf(addresses);
  return {
    '.claude-plugin/plugin.json': {
      name,
      version,
      description,
      author: {name: 'The founders of forge-tools'},
      ...(repository && {homepage, repository}),
      license,
      keywords,
    },
    '.mcp.json': {
      mcpServers: {
        [name]: {command: 'npx', args: ['-y', `${name}@${version}`, 'mcp', '--profile', 'trusted']},
      },
    },
  };
}

/** Nothing, until set-repository.js has written the addresses into package.json. */
function addressesOf({homepage, bugs, repository}) {
  return {homepage, bugs, repository: repository?.url.replace(/^git\+|\.git$/g, '')};
}
