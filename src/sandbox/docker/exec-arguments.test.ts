import {expect, test} from 'vitest';
import {relayCommand} from '../egress/relay-script.ts';
import {DockerClient} from './docker-client.ts';
import {START} from './docker-scripts.ts';
import type {DockerSetup} from './docker-setup.ts';
import {execArguments} from './exec-arguments.ts';

const setup: DockerSetup = {
  client: new DockerClient('/bin/sh', {}, []),
  ...{image: 'sha256:1', user: '7:8', description: 'x', relay: undefined, bootId: 'x'},
};
const command = {command: 'a b', env: {}, timeoutMs: 1, signal: new AbortController().signal};

test('X1: a command in a container has the relay started before it where there is a way out', () => {
  const exec = ['exec', '--interactive', '--user', '7:8', 'name', '/bin/sh', '-c', START, 'sh'];
  const end = ['/bin/sh', '-c', 'a b'];
  expect(execArguments('name', setup, command)).toEqual([...exec, '', ...end]);
  const relay = {mounts: [], program: ['/loader', '/node']};
  expect(execArguments('name', {...setup, relay}, command)).toEqual([
    ...[...exec, relayCommand(['/loader', '/node']), ...end],
  ]);
});
