export interface EgressPreset {
  readonly hosts: readonly string[];
  /** What each of them is needed for. */
  readonly why: string;
}

/** Hosts that package managers ask in their default configuration. In a preset as in `allow`. */
export const EGRESS_PRESETS = {
  npm: {hosts: ['registry.npmjs.org'], why: 'Metadata and packages of npm, yarn and pnpm.'},
  pypi: {
    hosts: ['pypi.org', 'files.pythonhosted.org'],
    why: 'The index of pip and uv, and the files that it links to.',
  },
  crates: {
    hosts: ['index.crates.io', 'static.crates.io', 'crates.io'],
    why: 'The sparse index of cargo, the crates, and the API that older versions ask.',
  },
  debian: {
    hosts: ['http://deb.debian.org', 'deb.debian.org', 'http://security.debian.org', 'security.debian.org'],
    why: 'Package lists and packages of apt, which checks their signatures itself, over HTTP and HTTPS.',
  },
  github: {
    hosts: [
      'github.com',
      'codeload.github.com',
      'objects.githubusercontent.com',
      'raw.githubusercontent.com',
    ],
    why: 'Clones over HTTPS, archives, files of releases and single files. Whoever reaches it can also push, with a token.',
  },
} as const satisfies Record<string, EgressPreset>;

export type EgressPresetName = keyof typeof EGRESS_PRESETS;
