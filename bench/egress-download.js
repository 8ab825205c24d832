// A download by curl: of the host, and of a command in bubblewrap by its relay and the gate. Server, gate, relay and curl are
// processes of their own, on all cores. usage: forked with the number of rounds; sends megabytes a second, or nothing
// where there is no curl, no bubblewrap or no openssl.
import {execFileSync, fork, spawn} from 'node:child_process';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:https';
import {join} from 'node:path';
import {text} from 'node:stream/consumers';
import {inTemporaryDirectory} from './in-temporary-directory.js';
import {loadOurs} from './load.js';

const HOST = 'bench.test';
const BYTES = 1024 ** 3;
const CHUNK = Buffer.alloc(1024 * 1024, 'x');
const [mode, argument] = process.argv.slice(2);

if (mode === 'server') serve(argument);
else await inTemporaryDirectory(directory => compare(directory, Number(mode)));

function serve(directory) {
  const [key, cert] = ['key.pem', 'cert.pem'].map(name => readFileSync(join(directory, name)));
  const server = createServer({key, cert}, (_, response) => {
    let left = BYTES;
    response.setHeader('content-length', left);
    const send = () => {
      while (left > 0) {
        left -= CHUNK.length;
        if (!response.write(CHUNK)) return response.once('drain', send);
      }
      response.end();
    };
    send();
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
}

async function compare(directory, rounds) {
  const [workspace, sockets, runs] = ['workspace', 'sockets', 'run'].map(name => {
    const path = join(directory, name);
    mkdirSync(path);
    return path;
  });
  const [key, cert] = ['key.pem', 'cert.pem'].map(name => join(directory, name));
  const subject = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`, '-days', '2'];
  const files = ['-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files], {
    stdio: 'ignore',
  });
  const authority = readFileSync(cert, 'utf8');
  writeFileSync(join(workspace, 'ca.pem'), authority);
  const server = fork(import.meta.filename, ['server', directory]);
  const port = await new Promise(resolve => server.once('message', resolve));
  const {createToolbox} = await loadOurs('index.js');
  const toolbox = createToolbox({
    workspace,
    runDirectory: runs,
    resolver: {resolve: async () => ['127.0.0.1']},
    certificateAuthorities: [authority],
    environment: {env: {...process.env, TMPDIR: sockets}, cwd: '/', tempDir: '/tmp', homeDir: '/nonexistent'},
    config: {
      profile: 'trusted',
      tools: {
        mode: 'enabled',
        webfetch: {
          security: {allow_insecure_overrides: true},
          allow_private: [{host: HOST, cidr: '127.0.0.0/8', ports: [port]}],
        },
        run: {sandbox: 'bubblewrap', egress: {allow: [`${HOST}:${port}`], max_mb: 1_000_000}},
      },
    },
  });
  const curl = ['-s', '-o', '/dev/null', '-w', '%{speed_download}', '--cacert'];
  const url = `https://${HOST}:${port}/`;
  const rates = {direct: [], gated: []};
  try {
    for (let round = -1; round < rounds; round += 1) {
      const direct = spawn('curl', [...curl, cert, '--resolve', `${HOST}:${port}:127.0.0.1`, url]);
      const directRate = Number(await text(direct.stdout));
      const command = `curl ${curl.join(' ')} ca.pem ${url}`;
      const ran = await toolbox.call({tool: 'run', params: {command, timeout_sec: 60}, request_id: ''});
      const gatedRate = Number(ran.data?.stdout);
      if (!(directRate > 0 && gatedRate > 0)) throw new Error(`No download: ${toolbox.renderText(ran)}`);
      if (round < 0) continue;
      rates.direct.push(directRate / 1e6);
      rates.gated.push(gatedRate / 1e6);
    }
    process.send(rates);
  } finally {
    await toolbox.close();
    server.kill();
  }
}
