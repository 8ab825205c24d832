import {readFileSync, writeFileSync} from 'node:fs';
import {createServer as createHttpServer, type RequestListener} from 'node:http';
import {createServer as createHttpsServer} from 'node:https';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import type {Json} from '../../src/core/result.ts';
import {type Approver, createToolbox, type ToolResult} from '../../src/index.ts';
import {createCertificateAuthority} from './certificates.ts';
import {listen} from './listening-server.ts';
import {temporaryDirectory} from './temporary-directory.ts';

export const REGISTRY = 'registry.test';

export interface EgressWorld {
  readonly workspace: string;
  /** Where the gate puts its sockets. */
  readonly sockets: string;
  readonly runDirectory: string;
  readonly close: () => Promise<void>;
  /** `https://registry.test:PORT` and `http://registry.test:PORT`. */
  readonly secure: string;
  readonly plain: string;
  /** Host with port, as settings name it. */
  readonly authority: string;
  readonly run: (command: string, env?: Record<string, string>) => Promise<ToolResult>;
  readonly text: (result: ToolResult) => string;
  /** Payloads of the events of this name. */
  readonly events: (name: string) => readonly {readonly [field: string]: Json}[];
}

export interface EgressWorldOptions {
  readonly serve: RequestListener;
  readonly sandbox?: 'bubblewrap' | 'docker';
  readonly approver?: Approver;
  /** Of `tools.run.egress`; default: both servers are allowed. */
  readonly egress?: object;
  readonly approval?: object;
  readonly profile?: 'guarded' | 'trusted';
  readonly allowRegistry?: boolean;
  /** Given to the host, beside the environment of the test. */
  readonly env?: Record<string, string>;
  /** The secrets for the registry by TLS: `[[tools.run.egress.credentials]]` without its host. */
  readonly credential?: object;
  /** Whether the toolbox believes the certificate of the registry. */
  readonly trusted?: boolean;
}

/** A toolbox whose commands may reach one registry of ours, by TLS and by plain HTTP; `.test` is this machine. */
export async function openEgressWorld({
  serve,
  sandbox = 'bubblewrap',
  approver,
  egress = {},
  approval = {},
  profile = 'trusted',
  allowRegistry = true,
  env = {},
  credential,
  trusted = true,
}: EgressWorldOptions): Promise<EgressWorld> {
  const authority = createCertificateAuthority();
  const leaf = authority.issue({names: [REGISTRY]});
  const secure = await listen(createHttpsServer({cert: leaf.chain, key: leaf.key}, serve), '127.0.0.1');
  const plain = await listen(createHttpServer(serve), '127.0.0.1');
  const workspace = temporaryDirectory();
  const runDirectory = temporaryDirectory();
  const sockets = temporaryDirectory();
  writeFileSync(join(workspace, 'ca.pem'), authority.pem);
  const toolbox = createToolbox({
    workspace,
    runDirectory,
    approver,
    resolver: {resolve: async () => ['127.0.0.1']},
    certificateAuthorities: trusted ? [authority.pem] : [],
    environment: {
      env: {...process.env, ...env, DOCKER_HOST: process.env['FORGE_TEST_DOCKER_HOST'], TMPDIR: sockets},
      cwd: '/',
      tempDir: sockets,
      homeDir: temporaryDirectory(),
    },
    config: {
      profile,
      tools: {
        mode: 'enabled',
        approval,
        webfetch: {
          security: {allow_insecure_overrides: true},
          allow_private: [{host: REGISTRY, cidr: '127.0.0.0/8', ports: [secure.port, plain.port]}],
        },
        run: {
          sandbox,
          docker: {image: process.env['FORGE_TEST_DOCKER_IMAGE'] ?? ''},
          egress: {
            allow: allowRegistry
              ? [`${REGISTRY}:${secure.port}`, `http://${REGISTRY}:${plain.port}`]
              : ['other.test'],
            credentials:
              credential === undefined ? [] : [{host: `${REGISTRY}:${secure.port}`, ...credential}],
            ...egress,
          },
        },
      },
    },
  });
  onTestFinished(async () => {
    await toolbox.close();
    await secure.close();
    await plain.close();
  });
  return {
    workspace,
    sockets,
    runDirectory,
    close: () => toolbox.close(),
    secure: `https://${REGISTRY}:${secure.port}`,
    plain: `http://${REGISTRY}:${plain.port}`,
    authority: `${REGISTRY}:${secure.port}`,
    run: (command, env = {}) =>
      toolbox.call({tool: 'run', params: {command, env, timeout_sec: 60}, request_id: ''}),
    text: result => toolbox.renderText(result),
    events: name =>
      readFileSync(join(runDirectory, 'events.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map(line => JSON.parse(line))
        .filter(({event}) => event === name)
        .map(({payload}) => payload),
  };
}
