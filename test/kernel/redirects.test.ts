import type { RequestListener } from 'node:http';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { EgressRefused } from '../../src/kernel/egress.js';
import { HttpFailure } from '../../src/kernel/failure.js';
import { createHttp, type Http, type Outgoing } from '../../src/kernel/http.js';
import { otherOriginTarget } from '../../src/kernel/redirect.js';
import { type Listening, listen } from './listen.js';
import { spellings } from './spellings.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

/** `/<status>?<location>` redirects there; any other path answers. */
const redirecting: RequestListener = (request, response) => {
  const [path = '', ...query] = (request.url ?? '').split('?');
  const status = Number(path.slice(1));
  if (!status) return void response.end('arrived');
  response.writeHead(status, { location: decodeURIComponent(query.join('?')) }).end('moved');
};

const to = (server: Listening, status: number, location: string): string =>
  `${server.origin}/${status}?${encodeURIComponent(location)}`;

describe('follow', () => {
  let http: Http;
  let here: Listening;
  let there: Listening;
  let canary: Listening;

  beforeEach(async () => {
    [here, there, canary] = await Promise.all([
      listen(redirecting),
      listen(redirecting),
      listen(redirecting),
    ]);
    http = createHttp({ allow: [here.entry, there.entry], lookup: async () => ['127.0.0.1'] });
  });
  afterEach(async () => {
    await http.close();
    await Promise.all([here, there, canary].map((server) => server.close()));
  });

  const get = (url: string, more: Partial<Outgoing> = {}) =>
    http.request({ method: 'GET', url, ...more });
  const failing = (url: string, more: Partial<Outgoing> = {}): Promise<unknown> =>
    get(url, more).then(
      () => 'no failure',
      (error: unknown) => error,
    );

  it('follows to the end and says where that is', async () => {
    const reply = await get(to(here, 302, to(there, 307, `${here.origin}/end?a=b#c`)));
    expect(reply.status).to.equal(200);
    expect(reply.body.toString()).to.equal('arrived');
    expect(reply.url).to.equal(`${here.origin}/end?a=b#c`);
  });

  it('resolves a relative location', async () => {
    expect((await get(to(here, 301, '../end'))).url).to.equal(`${here.origin}/end`);
  });

  it('reaches no canary by a redirect to any spelling of it', async () => {
    const hosts = spellings().filter((host) => /^[\x21-\x7e]+$/.test(host));
    const locations = hosts.map((host) => `http://${host}:${canary.port}/`);
    expect(locations.length).to.be.at.least(200);
    locations.push(`//${canary.entry}/`, `http:\\\\${canary.entry}`);
    for (const location of [...locations, `http://rebind.test:${canary.port}/`]) {
      const error = await failing(to(here, 302, location));
      expect(error).to.be.instanceof(EgressRefused);
      expect(error).to.include({ effectBegan: true });
    }
    expect(canary.sockets.length).to.equal(0);
  });

  it('follows three redirects and not a fourth', async () => {
    const end = `${here.origin}/end`;
    const three = to(here, 302, to(there, 302, to(here, 302, end)));
    expect((await get(three)).status).to.equal(200);
    const error = await failing(to(there, 302, three));
    expect(error).to.be.instanceof(HttpFailure);
    expect(error).to.include({ kind: 'too_many_redirects', effectBegan: true });
    expect(await failing(three, { redirects: 2 })).to.include({ kind: 'too_many_redirects' });
  });

  it('returns the redirect itself where none is to be followed', async () => {
    const reply = await get(to(here, 302, there.origin), { redirects: 0 });
    expect([reply.status, reply.headers.location]).to.equal([302, there.origin]);
    expect(reply.body.toString()).to.equal('moved');
    expect(there.got).to.equal([]);
  });

  it('returns a 3xx that leads nowhere', async () => {
    const server = await listen((_request, response) => void response.writeHead(302).end());
    expect((await get(server.origin, { allow: [server.entry] })).status).to.equal(302);
    await server.close();
  });

  it('changes the method as each status wants it', async () => {
    const cases: [status: number, method: string, then: string][] = [
      [301, 'POST', 'GET'],
      [302, 'POST', 'GET'],
      [303, 'POST', 'GET'],
      [303, 'PUT', 'GET'],
      [303, 'HEAD', 'HEAD'],
      [301, 'PUT', 'PUT'],
      [302, 'DELETE', 'DELETE'],
      [307, 'POST', 'POST'],
      [308, 'POST', 'POST'],
    ];
    for (const [status, method, then] of cases) {
      const body = method === 'HEAD' ? undefined : 'text';
      const headers = { 'Content-Type': 'text/x-test' };
      await get(to(here, status, `${here.origin}/end`), { method, body, headers });
      const last = here.got.at(-1);
      const isKept = method === then && body !== undefined;
      expect([last?.method, last?.body]).to.equal([then, isKept ? 'text' : '']);
      if (then === 'GET') expect(last?.headers).to.not.include(['content-type', 'content-length']);
      if (isKept) expect(last?.headers['content-type']).to.equal('text/x-test');
    }
  });

  it('takes no body to another origin, and says where it was to go', async () => {
    const end = `${there.origin}/end`;
    for (const status of [301, 302, 303, 307, 308]) {
      const url = to(here, status, end);
      const reply = await get(url, { method: 'POST', body: 'secret' });
      const { body, headers: _, ...rest } = reply;
      expect(rest).to.equal({ status, url, notFollowed: end });
      expect(body.toString()).to.equal('moved');
    }
    const way = to(here, 307, to(here, 307, end));
    expect((await get(way, { method: 'PUT', body: '' })).notFollowed).to.equal(end);
    expect(there.got).to.equal([]);
  });

  it('leaves its origin with no method where it is bound to it', async () => {
    const end = `${there.origin}/end`;
    const reply = await get(to(here, 302, end), { isBound: true });
    expect([reply.status, reply.notFollowed]).to.equal([302, end]);
    expect((await get(to(here, 302, '/end'), { isBound: true })).status).to.equal(200);
    expect((await get(to(here, 302, end))).url).to.equal(end);
    expect(there.got.length).to.equal(1);
  });

  it('follows none where it is meant for its URL only, and says where it led', async () => {
    for (const location of ['/end?a=1', `${there.origin}/end`]) {
      const reply = await get(to(here, 302, location), { isExact: true });
      const { status, url, notFollowed } = reply;
      const target = new URL(location, here.origin).href;
      expect([status, url, notFollowed]).to.equal([302, to(here, 302, location), target]);
    }
    expect([here.got.length, there.got.length]).to.equal([2, 0]);
  });

  it('takes from http to https of one host for another origin', () => {
    const leads = (from: string, location: string): string | null => {
      const hop = { method: 'POST', url: new URL(from), headers: {}, body: 'text' };
      return otherOriginTarget(hop, { status: 307, headers: { location } })?.href ?? null;
    };
    const from = 'http://a.example/in';
    expect(leads(from, '/out')).to.be.null();
    expect(leads(from, 'http://A.example:80/out')).to.be.null();
    expect(leads(from, '//a.example/')).to.be.null();
    for (const other of [
      'https://a.example/out',
      'https://b.example/',
      'https://a.example:8443/',
      'http://a.example:8080/',
      'https://www.a.example/',
    ]) {
      expect(leads(from, other)).to.equal(other);
    }
    expect(leads('https://a.example/', 'http://a.example/')).to.equal('http://a.example/');
    expect(leads('http://a.example:8080/', 'https://a.example/')).to.equal('https://a.example/');
  });

  it('takes no secret to another origin, nor back from there', async () => {
    const secrets = {
      Authorization: 'Bearer a',
      Cookie: 'a=b',
      'X-Api-Key': 'k',
      'X-Anything': 'v',
      'webhook-signature': 'v1,x',
    };
    const headers = { ...secrets, Accept: 'text/plain', 'User-Agent': 'tester' };
    const names = Object.keys(secrets).map((name) => name.toLowerCase());
    await get(to(here, 307, to(there, 307, `${here.origin}/end`)), { headers });
    expect(here.got[0]?.headers).to.include(names);
    for (const got of [there.got[0], here.got[1]]) {
      expect(Object.keys(got?.headers ?? {}).sort()).to.equal([
        'accept',
        'connection',
        'host',
        'user-agent',
      ]);
      expect(got?.headers).to.include({ accept: 'text/plain', 'user-agent': 'tester' });
    }
  });

  it('keeps the headers on its own origin', async () => {
    await get(to(here, 307, '/end'), { headers: { 'X-Api-Key': 'k' } });
    expect(here.got[1]?.headers).to.include({ 'x-api-key': 'k' });
  });

  it('refuses a location that is no place to go', async () => {
    const odd = [
      'file:///etc/passwd',
      'ftp://a.test/',
      'http://',
      'http://u:p@a.test/',
      'http://[::',
    ];
    for (const location of odd) {
      const error = await failing(to(here, 302, location));
      expect(error).to.include({ kind: 'bad_response', effectBegan: true });
    }
  });

  it('says that something began where a later hop cannot be reached', async () => {
    await there.close();
    const error = await failing(to(here, 307, there.origin), { method: 'DELETE' });
    expect(error).to.include({ kind: 'refused_connection', effectBegan: true });
    there = await listen();
  });
});
