// Tries each line of attempts.json from inside of a sandbox, all at once, and writes down what was answered.
import {readFileSync, writeFileSync} from 'node:fs';
import {connect} from 'node:net';
import {connect as secure} from 'node:tls';

const ca = [readFileSync(process.env.SSL_CERT_FILE), readFileSync('ca.pem')];
/** The machine may have much to do. */
const LATE_MS = 30_000;

const attempts = JSON.parse(readFileSync('attempts.json', 'utf8'));
writeFileSync('answers.json', JSON.stringify(await Promise.all(attempts.map(attempt))));

function attempt({tunnel, sni, send, isPlain = false, lateMs = LATE_MS}) {
  return new Promise(resolve => {
    let said = '';
    let speaking;
    const late = setTimeout(() => finish('late'), lateMs);
    const finish = word => {
      clearTimeout(late);
      speaking?.destroy();
      socket.destroy();
      resolve(`${said} (${word})`);
    };
    const listen = stream => {
      speaking = stream;
      stream.on('data', chunk => {
        said += chunk;
      });
      stream.on('error', error => finish(error.code ?? error.message));
      stream.on('close', () => finish('closed'));
      stream.write(send);
    };
    const socket = connect(3128, '127.0.0.1');
    socket.on('error', error => finish(error.code));
    if (tunnel === undefined) return listen(socket);
    socket.write(`CONNECT ${tunnel} HTTP/1.1\r\nHost: ${tunnel}\r\n\r\n`);
    socket.once('data', answer => {
      said += answer;
      if (!said.startsWith('HTTP/1.1 200')) return finish('no tunnel');
      if (isPlain) return listen(socket);
      const tls = secure({socket, servername: sni, ca});
      tls.once('secureConnect', () => listen(tls));
      tls.once('error', error => finish(error.code));
    });
  });
}
