import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import type { StageName } from '../../../src/system/tunnel/stage.js';
import { type Owner, registerOwner } from '../../harness/account.js';
import { type Daemon, startDaemon } from '../../harness/daemon.js';
import { type Breakage, type BreakingProxy, startBreaking } from '../../harness/tunnels/faults.js';
import { freePort } from '../../harness/tunnels/port.js';
import { type Authority, makeAuthority, opensslMissing } from '../../harness/tunnels/tls.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const missing = opensslMissing();
const said = missing ? ` (skipped: ${missing})` : '';

interface Broken {
  what: string;
  by: Breakage;
  stage: StageName;
  seen: RegExp;
  cause: RegExp;
}

const isSigned = (headers: Record<string, unknown>) => headers['x-hub-signature-256'] !== undefined;

/** One thing broken at a time, and the stage that must be named for it. */
const broken: Broken[] = [
  {
    what: 'another server answers',
    by: { answer: (_, response) => !!response.writeHead(404, { server: 'Other' }).end('no') },
    stage: 'reaches us',
    seen: /^404 from Other$/,
    cause: /not forwarded/,
  },
  {
    what: 'a page answers with 200',
    by: { answer: (_, response) => !!response.end('<h1>Welcome</h1>') },
    stage: 'reaches us',
    seen: /^200$/,
    cause: /another server replies/,
  },
  {
    what: 'the daemon is not reached',
    by: { answer: (_, response) => !!response.writeHead(502, { server: 'Caddy' }).end() },
    stage: 'reaches us',
    seen: /^502 from Caddy$/,
    cause: /got no reply from 127\.0\.0\.1:/,
  },
  {
    what: 'a redirect stands in front',
    by: {
      answer: (_, response) =>
        !!response.writeHead(301, { location: 'https://www.example.org/' }).end(),
    },
    stage: 'reaches us',
    seen: /^301$/,
    cause: /redirects to https:\/\/www\.example\.org\//,
  },
  {
    what: 'a login stands in front',
    by: { answer: (_, response) => !!response.writeHead(403).end() },
    stage: 'reaches us',
    seen: /^403$/,
    cause: /login/,
  },
  {
    what: 'nothing is answered and the connection is cut after 1 s',
    by: { answer: () => true, cutMs: 1000 },
    stage: 'reaches us',
    seen: /closed after (1\.\d|0\.9) s, before a reply/,
    cause: /closes connections/,
  },
  {
    what: 'garbage comes back',
    by: { answer: (request) => !!request.socket.end('garbage\r\n\r\n') },
    stage: 'reaches us',
    seen: /not HTTP/,
    cause: /another service/,
  },
  {
    what: 'the answer is written anew',
    by: { reply: () => ({ status: 200, body: Buffer.from('ok') }) },
    stage: 'reaches us',
    seen: /the request arrived, but the reply was 200/,
    cause: /replies instead of this daemon/,
  },
  {
    what: 'a refusal is turned into a yes',
    by: {
      reply: (status, body) =>
        status === 401 ? { status: 200, body: Buffer.from('{}') } : { status, body },
    },
    stage: 'unsigned',
    seen: /without a signature was 200/,
    cause: /replies instead of this daemon/,
  },
  {
    what: 'the signature is stripped',
    by: { headers: (headers) => delete headers['x-hub-signature-256'] && undefined },
    stage: 'signed',
    seen: /^arrived without X-Hub-Signature-256; the body arrived unchanged, 3 of 4 headers$/,
    cause: /removes or changes headers/,
  },
  {
    what: 'the body is written anew',
    by: { body: (body) => (body[0] === 123 && body.length > 9 ? rewrite(body) : body) },
    stage: 'signed',
    seen: /^the body was changed: \d+ bytes sent, \d+ received, first difference at byte 1$/,
    cause: /rewrites bodies/,
  },
  {
    what: 'signed deliveries are kept',
    by: {
      answer: ({ headers }, response) =>
        isSigned(headers) && !!response.writeHead(413, { server: 'Small' }).end(),
    },
    stage: 'signed',
    seen: /^the delivery did not arrive: 413 from Small$/,
    cause: /holds it back/,
  },
  {
    what: 'what takes longer than 1 s is cut',
    by: { cutMs: 1000 },
    stage: 'signed',
    seen: /closed after (1\.\d|0\.\d) s, before a reply/,
    cause: /closes connections/,
  },
  {
    what: 'strangers are logged in',
    by: {
      answer: ({ url }, response) => url === '/api/tunnel' && !!response.end('{}'),
    },
    stage: 'exposed',
    seen: /^\/api\/tunnel replied with 200 without a login$/,
    cause: /authenticates anonymous clients/,
  },
  {
    what: 'figures are open',
    by: { answer: ({ url }, response) => url === '/metrics' && !!response.end('a 1') },
    stage: 'exposed',
    seen: /^\/metrics replied with 200 without a login$/,
    cause: /authenticates anonymous clients/,
  },
  {
    what: 'a forged address is passed on',
    by: {
      headers: (headers) => {
        headers['x-forwarded-for'] = '192.0.2.77';
      },
    },
    stage: 'exposed',
    seen: /a forged X-Forwarded-For was accepted/,
    cause: /address headers of clients/,
  },
];

const rewrite = (body: Buffer): Buffer => Buffer.from(JSON.stringify(JSON.parse(String(body))));

describe(`a check of the way from outside${said}`, { skip: missing !== null }, () => {
  let authority: Authority;
  let home: string;
  let daemon: Daemon;
  let owner: Owner;
  let proxy: BreakingProxy;
  let port: number;

  before(async () => {
    authority = await makeAuthority();
    home = await mkdtemp(join(tmpdir(), 'adjutant-check-'));
    daemon = await startDaemon({ home, env: { NODE_EXTRA_CA_CERTS: authority.file } });
    owner = await registerOwner(daemon.url);
    port = await freePort();
    const certificate = await authority.issue('front');
    proxy = await startBreaking({ port, to: daemon.url, certificate });
    await setUp(`https://localhost:${port}`);
  });
  after(async () => {
    await proxy.stop();
    await daemon.end('SIGKILL');
    await authority.remove();
    await rm(home, { recursive: true, force: true });
  });

  const setUp = async (publicUrl: string) => {
    await owner.tunnel.set({ body: { provider: 'proxy', publicUrl } });
    await owner.tunnel.start();
  };
  const failing = async (publicUrl: string) => {
    await setUp(publicUrl);
    const { ok, failure, stages } = await owner.tunnel.check();
    await setUp(`https://localhost:${port}`);
    expect(ok).to.be.false();
    expect(failure?.remedy).to.not.be.empty();
    return { ...failure, stages: stages.map(({ status }) => status) };
  };

  it('goes well where nothing is broken, and is kept for who asks later', async () => {
    const check = await owner.tunnel.check();
    expect(check.failure).to.be.null();
    expect(check.stages.map(({ name, status }) => `${name} ${status}`)).to.equal([
      ...['name ok', 'certificate ok', 'reaches us ok', 'unsigned ok', 'signed ok', 'exposed ok'],
    ]);
    expect(check.stages.filter(({ latencyMs }) => (latencyMs ?? 0) > 1000)).to.equal([]);
    expect((await owner.tunnel.get()).check).to.equal(check);
  });

  for (const { what, by, stage, seen, cause } of broken) {
    it(`names "${stage}" where ${what}`, async () => {
      proxy.breakBy(by);
      const { ok, stages, failure } = await owner.tunnel.check();
      proxy.breakBy({});
      expect(failure?.stage, JSON.stringify(failure)).to.equal(stage);
      expect(failure?.seen).to.match(seen);
      expect(failure?.cause).to.match(cause);
      expect(failure?.remedy).to.not.be.empty();
      expect(ok).to.be.false();
      const at = stages.findIndex(({ name }) => name === stage);
      expect(stages.map(({ status }) => status)).to.equal(
        stages.map((_, index) => (index < at ? 'ok' : index === at ? 'failed' : 'not_run')),
      );
    });
  }

  it('names "name" where it does not resolve', async () => {
    const { stage, seen } = await failing('https://no-such-name.invalid');
    expect([stage, seen]).to.equal(['name', 'no-such-name.invalid does not resolve']);
  });

  it('names "name" for what is never reached', async () => {
    const { stage, seen } = await failing('http://metadata.google.internal');
    expect(stage).to.equal('name');
    expect(seen).to.match(/metadata services are always blocked/);
  });

  for (const [what, options, cause] of [
    ['has expired', { from: -2, days: -1 }, /^the certificate has expired$/],
    ['is not valid yet', { from: 1 }, /not valid yet, or the clock of this machine is slow$/],
    ['belongs to another name', { host: 'other.test' }, /is for another name/],
  ] as const) {
    it(`names "certificate" where it ${what}`, async () => {
      const other = await freePort();
      const certificate = await authority.issue(`other-${other}`, options);
      const wrong = await startBreaking({ port: other, to: daemon.url, certificate });
      const found = await failing(`https://localhost:${other}`);
      await wrong.stop();
      expect(found.stage).to.equal('certificate');
      expect(found.cause).to.match(cause);
    });
  }

  it('names "certificate" where nobody known signed it, or there is none', async () => {
    const anonymousLimit = await makeAuthority();
    const other = await freePort();
    const certificate = await anonymousLimit.issue('front');
    const wrong = await startBreaking({ port: other, to: daemon.url, certificate });
    const unknown = await failing(`https://localhost:${other}`);
    await wrong.stop();
    await anonymousLimit.remove();
    expect([unknown.stage, unknown.cause]).to.equal([
      'certificate',
      'the certificate is not signed by a trusted authority, or an intermediate certificate is missing',
    ]);
    const bare = await startBreaking({ port: other, to: daemon.url, certificate: null });
    const plain = await failing(`https://localhost:${other}`);
    await bare.stop();
    expect(plain.stage).to.equal('certificate');
    expect(plain.cause).to.match(/does not support TLS/);
  });

  it('names "reaches us" where connections are refused', async () => {
    const { stage, seen, stages } = await failing(`https://localhost:${await freePort()}`);
    expect(stage).to.equal('reaches us');
    expect(seen).to.match(/refuses connections/);
    expect(stages).to.equal(['ok', 'not_run', 'failed', 'not_run', 'not_run', 'not_run']);
  });

  it('names "exposed" where its own request arrives without a header of a proxy', async () => {
    proxy.breakBy({ headers: (headers) => delete headers['x-forwarded-for'] && undefined });
    const { failure } = await owner.tunnel.check();
    proxy.breakBy({});
    expect(failure).to.equal({
      stage: 'exposed',
      seen: 'the request of this check arrived without a proxy header, so it looks like a request of this machine',
      cause: 'the proxy forwards requests without adding headers, as a bare proxy_pass does',
      remedy: 'adjutant tunnel config caddy   or nginx. These configurations set X-Forwarded-For',
    });
  });

  it('warns where nothing tells who calls', async () => {
    proxy.breakBy({
      headers: (headers) => {
        delete headers['x-forwarded-for'];
        headers.via = '1.1 front';
      },
    });
    const { ok, stages } = await owner.tunnel.check();
    proxy.breakBy({});
    expect(ok).to.be.true();
    expect(stages.at(-1)?.status).to.equal('warn');
    expect(stages.at(-1)?.detail).to.match(/client addresses are unknown/);
  });

  it('is one at a time, and leaves nothing behind of its probes', async () => {
    const [one, two] = await Promise.all([owner.tunnel.check(), owner.tunnel.check()]);
    expect(one).to.equal(two);
    const db = new Database(join(home, 'adjutant.db'), { readonly: true });
    for (const table of ['deliveries', 'executions', 'delivery_claims']) {
      expect(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), table).to.equal(0);
    }
    db.close();
  });
});
