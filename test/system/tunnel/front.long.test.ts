import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import WebSocket from 'ws';
import { addHook, loginOwner, type Owner, registerOwner } from '../../harness/account.js';
import { sign } from '../../harness/app.js';
import { type Daemon, startDaemon } from '../../harness/daemon.js';
import { type Front, frontMissing, type Server, startFront } from '../../harness/tunnels/front.js';
import { freePort } from '../../harness/tunnels/port.js';
import { type Authority, makeAuthority, opensslMissing } from '../../harness/tunnels/tls.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const SECRET = 'open sesame';
const TOKEN = 'canary-token-in-a-query-string';

interface Answer {
  status: number;
  text: string;
}

for (const server of ['nginx', 'caddy'] as Server[]) {
  const missing = frontMissing(server) ?? opensslMissing();
  const said = missing ? ` (skipped: ${missing})` : '';

  describe(`${server} in front, as we configure it${said}`, { skip: missing !== null }, () => {
    let authority: Authority;
    let home: string;
    let daemon: Daemon;
    let owner: Owner;
    let front: Front;
    let port: number;
    let ca: Buffer;

    before(async () => {
      authority = await makeAuthority();
      home = await mkdtemp(join(tmpdir(), 'adjutant-front-'));
      const behind = await freePort();
      daemon = await startDaemon({
        home,
        env: { ADJUTANT_PORT: String(behind), NODE_EXTRA_CA_CERTS: authority.file },
      });
      owner = await registerOwner(daemon.url);
      const rest = { name: 'in', path: 'in', secret: SECRET, action: 'notify' as const };
      await addHook(owner, { ...rest, actionConfig: { notifyMessage: 'It came' } });
      port = await freePort();
      ca = await readFile(authority.file);
      const publicUrl = `https://localhost:${port}`;
      await owner.tunnel.set({ body: { provider: 'proxy', publicUrl } });
      await owner.tunnel.start();
      const files = await authority.issue('front');
      const { text } = await owner.tunnel.config({ query: { proxy: server, ...files } });
      front = await startFront(server, { text, port });
    });
    after(async () => {
      await front?.stop();
      await daemon?.end('SIGKILL');
      await authority.remove();
      await rm(home, { recursive: true, force: true });
    });

    const ask = (
      path: string,
      {
        method = 'GET',
        headers = {},
        body,
      }: { method?: string; headers?: object; body?: Buffer } = {},
    ): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const asked = request(
          { host: 'localhost', port, path, method, ca, headers: { ...headers }, agent: false },
          (response) => {
            let text = '';
            response.setEncoding('utf8').on('data', (piece) => {
              text += piece;
            });
            response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
          },
        );
        asked.on('error', reject).end(body);
      });
    const deliver = (body: Buffer) =>
      ask('/api/webhooks/in', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-hub-signature-256': sign(SECRET, body),
          'content-length': body.length,
        },
        body,
      });

    it('brings webhooks, large ones too', async () => {
      expect((await deliver(Buffer.from('{"a": 1}'))).status).to.equal(202);
      const large = Buffer.from(JSON.stringify({ text: 'x'.repeat(3_500_000) }));
      expect((await deliver(large)).status).to.equal(202);
    });

    it('lets 50 MiB through to us and no more', async () => {
      const headers = { 'content-type': 'application/json' };
      const size = (bytes: number) => ({
        ...headers,
        'content-length': bytes,
        expect: '100-continue',
      });
      const tell = (bytes: number): Promise<number> =>
        new Promise((resolve, reject) => {
          const options = { host: 'localhost', port, ca, agent: false, method: 'POST' };
          const asked = request({ ...options, path: '/api/webhooks/in', headers: size(bytes) });
          asked.on('response', ({ statusCode = 0, headers: { server: by } }) => {
            asked.destroy();
            resolve(String(by).startsWith('nginx') ? statusCode : -statusCode);
          });
          asked.on('error', reject);
          asked.on('continue', () => asked.end(Buffer.alloc(bytes)));
        });
      if (server === 'nginx') {
        expect(await tell(51 * 1024 * 1024)).to.equal(413);
      }
      expect((await deliver(Buffer.alloc(5 * 1024 * 1024, 32))).status).to.equal(413);
    });

    it('upgrades /ws', async () => {
      const { ticket } = await ticketOf();
      const socket = new WebSocket(`wss://localhost:${port}/ws?token=${ticket}`, { ca });
      const frame = await new Promise((resolve, reject) => {
        socket.on('open', () =>
          socket.send(JSON.stringify({ type: 'subscribe', channels: ['tunnel.status'], id: 1 })),
        );
        socket.on('message', (text) => resolve(JSON.parse(String(text))));
        socket.on('error', reject);
      });
      expect(frame).to.equal({ type: 'subscribed', channels: ['tunnel.status'], id: 1 });
      const told = new Promise((resolve) => {
        socket.on('message', (text) => resolve(JSON.parse(String(text))));
      });
      await owner.tunnel.start();
      expect(await told).to.include({ type: 'tunnel.status' });
      socket.close();
    });

    it('says who calls, and passes on nothing that a stranger wrote of it', async () => {
      const forged = {
        'x-forwarded-for': '203.0.113.9',
        'cf-connecting-ip': '203.0.113.9',
        'x-real-ip': '203.0.113.9',
      };
      const headers = { ...forged, 'content-type': 'application/json' };
      const login = { username: 'owner', password: PASSWORD };
      const body = Buffer.from(JSON.stringify(login));
      const asked = { method: 'POST', headers, body };
      const newestIp = async () =>
        (await owner.audit.list({ query: { action: 'auth.login', limit: 1 } })).entries[0]?.ip;
      expect((await ask('/api/auth/login', asked)).status).to.equal(200);
      expect(await newestIp()).to.equal('127.0.0.1');
      // The same words from the proxy's place, this machine, are believed: nobody else gets there.
      expect((await fetch(`${daemon.url}/api/auth/login`, asked)).status).to.equal(200);
      expect(await newestIp()).to.equal('203.0.113.9');
    });

    it('passes its check from outside in', async () => {
      const { stages, failure } = await owner.tunnel.check();
      expect(failure).to.be.null();
      expect(stages.map(({ name, status }) => `${name} ${status}`)).to.equal([
        'name ok',
        'certificate ok',
        'reaches us ok',
        'unsigned ok',
        'signed ok',
        'exposed ok',
      ]);
    });

    it('keeps query strings out of its logs, and answers 502 while the daemon is down', async () => {
      const path = `/ws?token=${TOKEN}`;
      expect((await ask(path)).status).to.be.between(399, 500);
      await daemon.end('SIGTERM');
      expect((await ask(path)).status).to.equal(502);
      expect((await ask('/nowhere?last=asked')).status).to.equal(502);
      await front.stop();
      const logged = await logsOf(server, front);
      expect(logged).to.contain('/ws').and.to.not.contain(TOKEN);
      daemon = await startDaemon({ home, env: { ADJUTANT_PORT: new URL(daemon.url).port } });
      owner = await loginOwner(daemon.url);
    });

    const ticketOf = async () => ({
      ticket: (await owner.auth.login({ body: { username: 'owner', password: PASSWORD } })).token,
    });
  });
}

const PASSWORD = 'correct horse battery';

const logsOf = async (server: Server, front: Front): Promise<string> => {
  if (server === 'caddy') return front.said();
  const logs = ['adjutant.log', 'adjutant-error.log'].map((name) =>
    readFile(`/var/log/nginx/${name}`, 'utf8'),
  );
  return [front.said(), ...(await Promise.all(logs))].join('\n');
};
