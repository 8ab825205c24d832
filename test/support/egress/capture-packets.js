import {spawn, spawnSync} from 'node:child_process';

/**
 * Makes every address of this network namespace answer, and writes down every packet. The value ends the capture and
 * gives what was seen, a line a packet. `-A` as a flag shows what is in them.
 */
export async function capturePackets(...flags) {
  run('ip', ['link', 'set', 'lo', 'up']);
  run('ip', ['route', 'add', 'local', '0.0.0.0/0', 'dev', 'lo']);
  run('ip', ['-6', 'route', 'add', 'local', '::/0', 'dev', 'lo']);
  const capture = spawn('tcpdump', ['-i', 'any', '-n', '-l', '--immediate-mode', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let packets = '';
  capture.stdout.setEncoding('utf8').on('data', text => {
    packets += text;
  });
  await new Promise((resolve, reject) => {
    capture.stderr.on('data', text => String(text).includes('listening on') && resolve());
    capture.once('exit', () => reject(new Error('tcpdump did not start')));
  });
  return async () => {
    capture.kill('SIGINT');
    await new Promise(resolve => capture.once('close', resolve));
    return packets;
  };
}

function run(program, args) {
  const {status, stderr} = spawnSync(program, args, {encoding: 'utf8'});
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
}
