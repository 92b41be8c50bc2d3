import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, type Reply, startApp, type TestApp } from '../harness/app.js';
import { knock } from './socket/harness.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const limitsOf = ({ status, headers }: Reply) => ({
  status,
  limit: headers['ratelimit-limit'],
  remaining: headers['ratelimit-remaining'],
  reset: headers['ratelimit-reset'],
  after: headers['retry-after'],
});

describe('rate limits', () => {
  const clock = frozenClock();
  let app: TestApp;
  let token: string;

  before(async () => {
    const config = { ratePerUser: 3, ratePerAddress: 2, trustedProxies: ['127.0.0.1'] };
    app = await startApp({ clock, config: { ...config, registration: 'open' } });
    token = (await app.register('ada')).token;
  });

  after(() => app.stop());

  it('counts what a user asks, wherever from', async () => {
    const me = () => app.call('GET', '/api/auth/me', { token });
    const right = { status: 200, limit: '3', reset: '60', after: undefined };
    expect(limitsOf(await me())).to.equal({ ...right, remaining: '2' });
    expect(limitsOf(await me())).to.equal({ ...right, remaining: '1' });
    expect(limitsOf(await me())).to.equal({ ...right, remaining: '0' });
    const refused = await me();
    expect(limitsOf(refused)).to.equal({ ...right, status: 429, remaining: '0', after: '60' });
    expect(refused.body.code).to.equal('rate_limited');
    clock.forward(60_000);
    expect((await me()).status).to.equal(200);
  });

  it('counts by address who shows no valid token', async () => {
    const ask = (address: string, bearer?: string) =>
      app.call('GET', '/api/auth/me', {
        headers: { 'x-forwarded-for': address },
        ...(bearer && { token: bearer }),
      });
    const login = (address: string) =>
      app.call('POST', '/api/auth/login', { headers: { 'x-forwarded-for': address }, body: {} });
    expect((await ask('192.0.2.1')).status).to.equal(401);
    expect((await ask('192.0.2.1', 'garbage')).status).to.equal(401);
    expect((await ask('192.0.2.1', 'garbage')).status).to.equal(429);
    expect((await login('192.0.2.1')).status).to.equal(429);
    expect((await login('192.0.2.2')).status).to.equal(400);
    expect((await ask('192.0.2.1', token)).status).to.equal(200);
  });

  it('counts paths that nothing is on, with and without a token', async () => {
    const ask = (path: string, address: string, bearer?: string) =>
      app.call('GET', path, { headers: { 'x-forwarded-for': address }, token: bearer });
    const right = { status: 404, limit: '2', reset: '60', after: undefined };
    expect(limitsOf(await ask('/none', '192.0.2.7'))).to.equal({ ...right, remaining: '1' });
    const posted = await app.call('POST', '/health', {
      headers: { 'x-forwarded-for': '192.0.2.7' },
      body: {},
    });
    expect(limitsOf(posted)).to.equal({ ...right, remaining: '0' });
    const refused = await ask('/api/none', '192.0.2.7', token);
    expect(limitsOf(refused)).to.equal({ ...right, status: 429, remaining: '0', after: '60' });
    expect([refused.body.code, refused.body.requestId]).to.equal([
      'rate_limited',
      refused.headers['x-request-id'],
    ]);
    expect((await ask('/none', '192.0.2.8')).status).to.equal(404);
  });

  it('counts by the address that the nearest trusted proxy saw, whatever the client wrote', async () => {
    const ask = (forwarded: string) =>
      app.call('GET', '/api/auth/me', { headers: { 'x-forwarded-for': forwarded } });
    const statuses: number[] = [];
    for (const lie of ['10.0.0.1', '10.0.0.2', '10.0.0.3']) {
      statuses.push((await ask(`${lie}, 192.0.2.9`)).status);
    }
    expect(statuses).to.equal([401, 401, 429]);
  });

  it('counts sockets that are refused with all else that shows no valid token', async () => {
    const open = (address: string, query = '') =>
      knock(`${app.url.replace('http', 'ws')}/ws${query}`, { 'X-Forwarded-For': address });
    const ask = () =>
      app.call('GET', '/api/auth/me', { headers: { 'x-forwarded-for': '192.0.2.11' } });
    expect((await open('192.0.2.11', '?token=garbage'))?.status).to.equal(401);
    expect((await ask()).status).to.equal(401);
    const refused = await open('192.0.2.11');
    expect([refused?.status, refused?.body.code]).to.equal([429, 'rate_limited']);
    expect(refused?.headers['retry-after']).to.equal('60');
    expect((await ask()).status).to.equal(429);
    expect((await open('192.0.2.12'))?.status).to.equal(401);
    expect(await open('192.0.2.11', `?token=${token}`)).to.be.null();
  });

  it('counts the handshakes of hubs, of which each tries a secret', async () => {
    const query = 'hub.mode=subscribe&hub.challenge=1&hub.verify_token=guessed';
    const guess = async (path: string) => {
      const headers = { 'x-forwarded-for': '192.0.2.21' };
      return (await app.call('GET', `/api/webhooks/${path}?${query}`, { headers })).status;
    };
    const statuses = [await guess('none'), await guess('none/challenge'), await guess('none')];
    expect(statuses).to.equal([404, 404, 429]);
  });

  it('leaves health and the receivers out', async () => {
    for (let n = 0; n < 5; n++) {
      const health = await app.call('GET', '/health/live');
      const hook = await app.call('POST', '/api/webhooks/none', { body: {} });
      expect([health.status, hook.status]).to.equal([200, 404]);
      expect(limitsOf(hook).limit).to.be.undefined();
    }
  });
});
