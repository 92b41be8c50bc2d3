import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { olderDaemon } from '../../src/client/skew.js';
import { version } from '../../src/client/version.js';
import { makeAuthority, opensslMissing } from '../harness/tunnels/tls.js';
import { listen } from '../kernel/listen.js';
import { adjutant, type Ended } from './harness.js';

export const lab = Lab.script();
const { describe, it } = lab;

const json = { 'content-type': 'application/json', 'x-request-id': 'request_1' };
const ELSEWHERE =
  'Start the daemon: adjutant up        Another address: adjutant --server … or ADJUTANT_URL';

/** What a command says to a server that answers so; `<url>` stands for its address. */
const saidTo = async (
  answer: RequestListener,
  words: string[],
  scheme = 'http',
): Promise<Ended> => {
  const server = await listen(answer);
  try {
    const url = server.origin.replace('http', scheme);
    const ended = await adjutant([...words, '--server', url, '--server-token', 't', '--quiet']);
    return { ...ended, stderr: ended.stderr.replaceAll(server.origin.slice(7), '<host>') };
  } finally {
    await server.close();
  }
};
const lines = ({ code, stderr }: Ended): unknown[] => [code, ...stderr.trimEnd().split('\n')];

/** A daemon of long ago, which knows no route but its health. */
const old: RequestListener = ({ url }, response) => {
  const health = { status: 'ok', version: '0.0.9', uptimeSeconds: 5 };
  const problem = { statusCode: 404, error: 'Not Found', message: 'Not Found', requestId: 'r' };
  const isHealth = url === '/health';
  response.writeHead(isHealth ? 200 : 404, json);
  response.end(JSON.stringify(isHealth ? health : problem));
};

const TLS = { skip: opensslMissing() !== null };

describe('one sentence', () => {
  it('tells a server that is no Adjutant', async () => {
    const sentence =
      'Cannot reach Adjutant at http://<host>: the server at this address is not Adjutant.';
    const page: RequestListener = (_, response) => response.end('<h1>hello</h1>');
    const other: RequestListener = (_, response) =>
      response.setHeader('content-type', 'application/json').end('{"ok":true}');
    const broken: RequestListener = (_, response) =>
      response.setHeader('content-type', 'application/json').end('{');
    const none: RequestListener = (_, response) => response.writeHead(404).end('nothing here');
    for (const answer of [page, other, broken, none]) {
      for (const words of [['hooks', 'list'], ['whoami'], ['api', 'GET', '/api/x']]) {
        expect(lines(await saidTo(answer, words))).to.equal([1, sentence, ELSEWHERE]);
      }
    }
  });

  it('tells where it sends on to', async () => {
    const location = 'https://desk.example.org/api/hooks';
    const answer: RequestListener = (_, response) => response.writeHead(301, { location }).end();
    expect(lines(await saidTo(answer, ['hooks', 'list']))[1]).to.equal(
      'Cannot reach Adjutant at http://<host>: ' +
        'the server redirects to https://desk.example.org. Use that address.',
    );
  });

  it('tells an address with https of a server that speaks http', async () => {
    expect(lines(await saidTo(old, ['hooks', 'list'], 'https'))).to.equal([
      1,
      'Cannot reach Adjutant at https://<host>: the server uses http, not https. Use http://<host>.',
      ELSEWHERE,
    ]);
  });

  it('tells an address with http of a server that speaks https', async () => {
    const answer: RequestListener = (_, response) =>
      response.writeHead(400).end('<h1>The plain HTTP request was sent to HTTPS port</h1>');
    expect(lines(await saidTo(answer, ['hooks', 'list']))[1]).to.equal(
      'Cannot reach Adjutant at http://<host>: the server requires https. Use https://<host>.',
    );
  });

  it('tells an address with http of a server that drops all but https', TLS, async () => {
    const authority = await makeAuthority();
    const { certificate, key } = await authority.issue('server');
    const secure = { cert: await readFile(certificate), key: await readFile(key) };
    const server = createServer(secure, (_, response) => response.end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    const host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    const reason = `he server requires https. Use https://${host}.`;
    for (const words of [['hooks', 'list'], ['health'], ['api', 'POST', '/api/x']]) {
      const ended = await adjutant([...words, '--server', `http://${host}`]);
      expect(lines(ended)[1]).to.equal(`Cannot reach Adjutant at http://${host}: t${reason}`);
    }
    const status = await adjutant(['status', '--server', `http://${host}`]);
    expect([status.stdout, status.stderr]).to.equal([
      `http://${host}\twrong_scheme\t\n`,
      `T${reason}\n`,
    ]);
    const trusted = await adjutant(['hooks', 'list', '--server', `https://${host}`]);
    expect(lines(trusted)[1]).to.include('the certificate of the server is not trusted');
    server.close();
    await authority.remove();
  });

  it('tells the scheme in the status, too', async () => {
    const server = await listen(old);
    const url = server.origin.replace('http', 'https');
    const { code, stdout } = await adjutant(['status', '--server', url], { terminal: 120 });
    expect([code, stdout]).to.equal([1, `Cannot reach the daemon at ${url}.\n`]);
    const { stderr } = await adjutant(['status', '--server', ` ${url.toUpperCase()}/ `, '--json']);
    expect(stderr).to.equal(`The server uses http, not https. Use ${server.origin}.\n`);
    await server.close();
  });

  it('tells a daemon that is older than the command', async () => {
    for (const words of [
      ['hooks', 'list'],
      ['vault', 'list'],
    ]) {
      expect(lines(await saidTo(old, words))).to.equal([
        1,
        `The daemon at http://<host> runs Adjutant 0.0.9, which is older than this version (${version()}).`,
        'Restart the daemon with this version: adjutant restart',
      ]);
    }
  });

  it('is not told of a thing that is not there', async () => {
    const problem = {
      statusCode: 404,
      error: 'Not Found',
      message: 'No such hook',
      requestId: 'r',
    };
    const answer: RequestListener = (_, response) =>
      response.writeHead(404, json).end(JSON.stringify(problem));
    expect(lines(await saidTo(answer, ['hooks', 'list']))[1]).to.equal('No such hook.');
  });
});

describe('olderDaemon', () => {
  it('compares numbers, and takes what it cannot read for no older one', () => {
    const said = (found: string, own: string) => olderDaemon(found, 'http://x', own) !== null;
    expect(said('0.9.0', '0.10.0')).to.be.true();
    expect(said('1.0.0', '1.0.0')).to.be.false();
    expect(said('1.2.0', '1.1.9')).to.be.false();
    expect(said('development', '1.0.0')).to.be.false();
  });
});
