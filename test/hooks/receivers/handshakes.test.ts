import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Desk, onPath, openDesk } from '../../harness/hooks.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PUBLIC_KEY = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
const KEY = 'a signing key of some length';
const mac = (text: string, key = KEY) => createHmac('sha256', key).update(text).digest('hex');
const seconds = () => Math.floor(Date.now() / 1000);

let desk: Desk;
before(async () => {
  desk = await openDesk();
});
after(() => desk.test.stop());

const hookOf = (path: string, verify: string, secret = KEY) => {
  const { triggerConfig, ...hook } = onPath(path, secret) as { triggerConfig: object };
  return desk.hook({ ...hook, triggerConfig: { ...triggerConfig, verify } });
};
const send = (path: string, body: object, headers: Record<string, string> = {}) =>
  desk.test.call('POST', `/api/webhooks/${path}`, { body: JSON.stringify(body), headers });

/** Headers as Slack and Zoom sign. */
const version0 = (kind: 'slack' | 'zm', body: object, key = KEY): Record<string, string> => {
  const at = seconds();
  const signature = `v0=${mac(`v0:${at}:${JSON.stringify(body)}`, key)}`;
  return kind === 'slack'
    ? { 'x-slack-request-timestamp': `${at}`, 'x-slack-signature': signature }
    : { 'x-zm-request-timestamp': `${at}`, 'x-zm-signature': signature };
};

describe('a hook that a public key verifies', () => {
  it('shares its path with no hook of another owner that a public key verifies', async () => {
    const discord = { webhookPath: 'of-key', webhookSecret: PUBLIC_KEY, verify: 'discord' };
    const topicArn = 'arn:aws:sns:us-east-1:123456789012:MyTopic';
    const sns = { webhookPath: 'of-key', verify: { preset: 'sns', topicArn } };
    const id = await desk.hook({ triggerConfig: discord });
    await desk.hook({ triggerConfig: sns });
    for (const triggerConfig of [discord, sns]) {
      const { status, body } = await desk.othersHook({ triggerConfig });
      expect([status, body.code]).to.equal([409, 'path_taken']);
    }
    expect((await desk.othersHook(onPath('of-key', KEY))).status).to.equal(201);
    const theirs = { ...discord, webhookPath: 'of-another-key' };
    expect((await desk.othersHook({ triggerConfig: theirs })).status).to.equal(201);
    const { status } = await desk.ask('PUT', `/api/hooks/${id}`, { triggerConfig: theirs });
    expect(status).to.equal(409);
  });
});

describe('the handshake', () => {
  it('of Slack is answered once it is verified, and is no delivery', async () => {
    const id = await hookOf('slack', 'slack');
    const body = { type: 'url_verification', challenge: '3eZbrw1aBm2r' };
    expect((await send('slack', body)).status).to.equal(401);
    expect((await send('slack', body, version0('slack', body, 'other'))).status).to.equal(401);
    const reply = await send('slack', body, version0('slack', body));
    expect([reply.status, reply.body]).to.equal([200, { challenge: '3eZbrw1aBm2r' }]);
    expect(await desk.runs(id)).to.equal([]);
    const event = { type: 'event_callback', event_id: 'Ev1', event: { type: 'app_mention' } };
    expect((await send('slack', event, version0('slack', event))).status).to.equal(202);
    expect((await desk.ended(id))[0].triggerContext.event).to.equal('app_mention');
  });

  it('of Zoom signs nothing that could be a signature of Zoom’s', async () => {
    await hookOf('zoom', 'zoom');
    const asking = (plainToken: unknown) => ({
      event: 'endpoint.url_validation',
      payload: { plainToken },
    });
    const fine = asking('qgg8vlvZRS6UYooatFL8Aw');
    expect((await send('zoom', fine)).status).to.equal(401);
    expect((await send('zoom', fine, version0('zm', fine))).body).to.equal({
      plainToken: 'qgg8vlvZRS6UYooatFL8Aw',
      encryptedToken: mac('qgg8vlvZRS6UYooatFL8Aw'),
    });
    for (const token of ['v0:1700000000:{}', '', 'x'.repeat(101), 5, null]) {
      const reply = await send('zoom', asking(token), version0('zm', asking(token)));
      expect([reply.status, reply.body.code]).to.equal([400, 'bad_handshake']);
    }
  });

  it('of Discord gets 204 on both ways into the daemon', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
    const id = await hookOf('discord', 'discord', raw);
    const body = JSON.stringify({ version: 1, type: 0 });
    const at = `${seconds()}`;
    const signature = sign(null, Buffer.from(at + body), privateKey).toString('hex');
    const headers = { 'x-signature-timestamp': at, 'x-signature-ed25519': signature };
    for (const path of ['discord', 'discord/']) {
      const reply = await desk.test.call('POST', `/api/webhooks/${path}`, { body, headers });
      expect([reply.status, reply.text]).to.equal([204, '']);
    }
    const forged = { ...headers, 'x-signature-ed25519': signature.replace(/^../, '00') };
    expect(
      (await desk.test.call('POST', '/api/webhooks/discord', { body, headers: forged })).status,
    ).to.equal(401);
    expect(await desk.runs(id)).to.equal([]);
  });

  it('of Microsoft Graph is its token as text, for such hooks alone', async () => {
    const id = await hookOf('graph', 'microsoft-graph');
    await desk.hook(onPath('no-graph', KEY));
    const asked = await send('graph?validationToken=a%20%3Cb%3E', {});
    expect([asked.status, asked.text]).to.equal([200, 'a <b>']);
    expect(asked.headers['content-type']).to.equal('text/plain; charset=utf-8');
    expect(asked.headers['x-content-type-options']).to.equal('nosniff');
    expect((await send(`graph?validationToken=${'x'.repeat(1001)}`, {})).status).to.equal(400);
    const object = encodeURIComponent('{"a":1}');
    expect((await send(`graph?validationToken=${object}`, {})).text).to.equal('{"a":1}');
    expect((await send('graph?validationToken=%7B', {})).text).to.equal('{');
    expect((await send('no-graph?validationToken=x', {})).status).to.equal(401);
    const told = (...states: unknown[]) => ({
      value: states.map((clientState) => ({ clientState, changeType: 'created' })),
    });
    expect((await send('graph', told(KEY, KEY))).status).to.equal(202);
    for (const forged of [told(KEY, 'other'), told(), told(undefined), { value: KEY }]) {
      expect((await send('graph', forged)).status).to.equal(401);
    }
    const [run] = await desk.ended(id);
    const clientState = '[redacted]';
    const kept = { value: [KEY, KEY].map(() => ({ clientState, changeType: 'created' })) };
    expect(run.triggerContext.webhook.body).to.equal(kept);
    const large = { ...told(KEY), pad: 'x'.repeat(200_000) };
    expect((await send('graph', large)).status).to.equal(202);
    expect(JSON.stringify(await desk.ended(id, 2))).to.not.contain(KEY);
  });

  it('is none where a hook on the path verifies the request', async () => {
    await hookOf('both-ways', 'microsoft-graph');
    const id = await hookOf('both-ways', 'gitea');
    const body = { n: 1 };
    const signed = { 'x-gitea-signature': mac(JSON.stringify(body)) };
    expect((await send('both-ways?validationToken=x', body, signed)).status).to.equal(202);
    expect(await desk.ended(id)).to.have.length(1);
    expect((await send('both-ways?validationToken=x', body)).text).to.equal('x');
  });

  it('is answered unsigned on no path of several owners, but at the address of the hook', async () => {
    const id = await hookOf('graph-of-two', 'microsoft-graph');
    const ask = (path: string) => desk.test.call('POST', `/api/${path}?validationToken=x`);
    expect((await ask('webhooks/graph-of-two')).text).to.equal('x');
    expect((await desk.othersHook(onPath('graph-of-two', 'other'))).status).to.equal(201);
    expect((await ask('webhooks/graph-of-two')).status).to.equal(401);
    expect((await ask(`hooks/incoming/${id}`)).text).to.equal('x');
  });

  it('of a hub is its challenge, for whoever has the secret', async () => {
    await desk.hook(onPath('hub', KEY));
    const ask = (token: string, path = 'hub') => {
      const query = new URLSearchParams({ 'hub.mode': 'subscribe', 'hub.challenge': '1158201444' });
      query.set('hub.verify_token', token);
      return desk.test.call('GET', `/api/webhooks/${path}?${query}`);
    };
    const reply = await ask(KEY);
    expect([reply.status, reply.text]).to.equal([200, '1158201444']);
    expect(reply.headers['content-type']).to.equal('text/plain; charset=utf-8');
    expect((await ask('other')).status).to.equal(401);
    expect((await ask(KEY, 'nowhere')).status).to.equal(404);
    // Without a challenge it is a sender that tries the address.
    const { status } = await desk.test.call('GET', '/api/webhooks/hub?hub.mode=subscribe');
    expect(status).to.equal(200);
    await hookOf('hub-of-key', 'discord', PUBLIC_KEY);
    expect((await ask(PUBLIC_KEY, 'hub-of-key')).status).to.equal(401);
  });
});

describe('the token of Notion', () => {
  const TOKEN = 'secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl';
  const given = { verification_token: TOKEN };

  it('is taken only while it is awaited, and used only once it is confirmed', async () => {
    const id = await hookOf('notion', 'notion');
    const token = (method: string, verb: string, body?: object) =>
      desk.ask(method, `/api/hooks/${id}/${verb}`, body);
    expect((await send('notion', given)).status).to.equal(401);
    const earliest = Date.now();
    const begun = await token('POST', 'await-token');
    expect(begun.body.token).to.be.null();
    const begunAt = Date.parse(begun.body.until) - 600_000;
    expect(begunAt).to.be.within(earliest, Date.now());
    expect((await send('notion', given)).status).to.equal(200);
    for (const other of ['other_1', 'other_2', 'other_3', 'other_4', 'other_4']) {
      expect((await send('notion', { verification_token: other })).status).to.equal(200);
    }
    const { body: came } = await token('GET', 'await-token');
    expect(came.token).to.equal('other_4');
    expect(came.earlier.map((each: { token: string }) => each.token)).to.equal([
      ...['other_3', 'other_2', 'other_1', TOKEN],
    ]);
    const event = { id: 'e1', type: 'page.created' };
    const signature = { 'x-notion-signature': `sha256=${mac(JSON.stringify(event), TOKEN)}` };
    expect((await send('notion', event, signature)).status).to.equal(401);
    const wrong = await token('POST', 'confirm-token', { token: 'never came' });
    expect([wrong.status, wrong.body.code]).to.equal([409, 'token_changed']);
    expect((await token('POST', 'confirm-token', { token: TOKEN })).status).to.equal(200);
    expect((await send('notion', event, signature)).status).to.equal(202);
    expect((await send('notion', given)).status).to.equal(401);
    expect((await desk.ended(id))[0].triggerContext.event).to.equal('page.created');
  });

  it('is taken on no path of several owners', async () => {
    const id = await hookOf('notion-of-two', 'notion');
    expect((await desk.ask('POST', `/api/hooks/${id}/await-token`)).status).to.equal(200);
    expect((await desk.othersHook(onPath('notion-of-two', 'other'))).status).to.equal(201);
    expect((await send('notion-of-two', given)).status).to.equal(401);
    const { status, body } = await desk.ask('POST', `/api/hooks/${id}/await-token`);
    expect([status, body.code]).to.equal([409, 'path_shared']);
  });

  it('is taken from no request that a hook on the path verifies', async () => {
    const id = await hookOf('notion-beside', 'notion');
    const beside = await hookOf('notion-beside', 'gitea');
    await desk.ask('POST', `/api/hooks/${id}/await-token`);
    const signed = { 'x-gitea-signature': mac(JSON.stringify(given)) };
    expect((await send('notion-beside', given, signed)).status).to.equal(202);
    expect((await desk.ask('GET', `/api/hooks/${id}/await-token`)).body.token).to.be.null();
    expect(await desk.ended(beside)).to.have.length(1);
  });

  it('is awaited by no other hook, and shown to nobody else', async () => {
    const id = await desk.hook(onPath('no-notion', KEY));
    expect((await desk.ask('POST', `/api/hooks/${id}/await-token`)).status).to.equal(409);
    const own = await hookOf('own-notion', 'notion');
    const { token } = await desk.test.register('stranger');
    for (const [method, verb] of [
      ['POST', 'await-token'],
      ['GET', 'await-token'],
    ] as const) {
      const reply = await desk.test.call(method, `/api/hooks/${own}/${verb}`, { token });
      expect(reply.status).to.equal(404);
    }
  });
});
