import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Desk, onPath, openDesk } from '../../harness/hooks.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const KEY = 'a signing key of some length';
const hex = (body: string, key = KEY) => createHmac('sha256', key).update(body).digest('hex');
const seconds = () => Math.floor(Date.now() / 1000);

let desk: Desk;
before(async () => {
  desk = await openDesk({ config: { publicUrl: 'https://hooks.example.org' } });
});
after(() => desk.test.stop());

/** A hook that is verified in this way, on a path of that name. */
const hookOf = (path: string, verify: unknown, more: object = {}) => {
  const { triggerConfig, ...hook } = onPath(path, KEY) as { triggerConfig: object };
  return desk.hook({ ...hook, ...more, triggerConfig: { ...triggerConfig, verify } });
};
const send = (path: string, body: string, headers: Record<string, string>, type?: string) =>
  desk.test.call('POST', `/api/webhooks/${path}`, { body, headers, ...(type && { type }) });
const contextOf = async (id: string) => (await desk.ended(id))[0].triggerContext;

describe('a hook whose sender is described', () => {
  it('takes what its sender signs, under the id and event of the sender', async () => {
    const id = await hookOf('linear', 'linear');
    const body = JSON.stringify({ type: 'Issue', webhookTimestamp: Date.now() });
    const headers = {
      'linear-signature': hex(body),
      'linear-delivery': 'delivery 1',
      'linear-event': 'Issue',
      'x-github-delivery': 'another',
    };
    expect((await send('linear', body, headers)).status).to.equal(202);
    const again = { ...headers, 'x-github-delivery': 'yet another' };
    expect((await send('linear', body, again)).body).to.include({ duplicate: true });
    expect((await send('linear', `${body} `, headers)).status).to.equal(401);
    expect((await contextOf(id)).event).to.equal('Issue');
  });

  it('takes nothing that is signed in another way', async () => {
    await hookOf('only-linear', 'linear');
    const github = { 'x-hub-signature-256': `sha256=${hex('{}')}` };
    expect((await send('only-linear', '{}', github)).status).to.equal(401);
    expect((await send('only-linear', '{}', {})).status).to.equal(401);
  });

  it('fires beside hooks that name a header of no request', async () => {
    const path = 'odd-names';
    const names = ['constructor', '__proto__', 'set-cookie'];
    for (const name of names) {
      await hookOf(path, { header: name });
      await hookOf(path, {
        header: 'x-signed',
        idFrom: `headers.${name}`,
        eventFrom: `headers.${name}`,
      });
      await hookOf(path, {
        header: 'x-other',
        signed: '{timestamp}.{body}',
        timestampHeader: name,
      });
      await hookOf(path, { header: name, algorithm: 'token' });
    }
    const headers = { 'x-signed': hex('{}'), 'x-other': hex('{}'), 'set-cookie': 'a=1' };
    const { status, body } = await send(path, '{}', headers);
    expect([status, body.hooks]).to.equal([202, names.length]);
  });

  it('fires beside hooks that are verified without a description, each by its own', async () => {
    const described = await hookOf('both', 'gitea');
    const plain = await desk.hook(onPath('both', KEY));
    const gitea = { 'x-gitea-signature': hex('{"n":1}') };
    const both = { ...gitea, 'x-hub-signature-256': `sha256=${hex('{"n":2}')}` };
    expect((await send('both', '{"n":1}', gitea)).body.hooks).to.equal(1);
    expect((await send('both', '{"n":2}', both)).status).to.equal(202);
    expect(await desk.ended(plain)).to.have.length(1);
    expect(await desk.ended(described)).to.have.length(1);
  });

  it('reads a form, and the JSON in its field payload', async () => {
    const id = await hookOf('form', 'github');
    const form = new URLSearchParams({ payload: '{"action":"opened","n":1}' }).toString();
    const signed = { 'x-hub-signature-256': `sha256=${hex(form)}`, 'x-github-event': 'issues' };
    const type = 'application/x-www-form-urlencoded';
    expect((await send('form', form, signed, type)).status).to.equal(202);
    expect(await contextOf(id)).to.include({
      event: 'issues',
      webhook: (await desk.runs(id))[0].triggerContext.webhook,
    });
    expect((await contextOf(id)).webhook.body).to.equal({ action: 'opened', n: 1 });
    const fields = 'a=1&a=2&b=x+y';
    const other = { 'x-hub-signature-256': `sha256=${hex(fields)}` };
    expect((await send('form', fields, other, type)).status).to.equal(202);
    const [newest] = await desk.ended(id, 2);
    expect(newest.triggerContext.webhook.body).to.equal({ a: ['1', '2'], b: 'x y' });
  });

  it('reads text and XML as text', async () => {
    const id = await hookOf('xml', { header: 'x-signed', signed: '{body}' });
    const body = '<a b="c">"ä"\n</a>';
    const reply = await send('xml', body, { 'x-signed': hex(body) }, 'application/xml');
    expect(reply.status).to.equal(202);
    expect((await contextOf(id)).webhook.body).to.equal(body);
  });

  it('refuses a type that its sender does not send', async () => {
    await hookOf('json-only', 'gitea');
    const signed = { 'x-gitea-signature': hex('a=1') };
    const type = 'application/x-www-form-urlencoded';
    expect((await send('json-only', 'a=1', signed, type)).status).to.equal(415);
    await desk.hook(onPath('no-form', KEY));
    const github = { 'x-hub-signature-256': `sha256=${hex('a=1')}` };
    expect((await send('no-form', 'a=1', github, type)).status).to.equal(415);
  });

  it('keeps the query for templates, and signs the address where the sender does', async () => {
    const notifyMessage = '{{webhook.query.room}} of {{webhook.query.none}}';
    const id = await hookOf(
      'signed',
      { header: 'x-signed', signed: '{url}{body}' },
      { action: 'notify', actionConfig: { notifyMessage } },
    );
    const path = 'signed?room=a%20b&room=c';
    const signature = hex(`https://hooks.example.org/api/webhooks/${path}{}`);
    expect((await send(path, '{}', { 'x-signed': signature })).status).to.equal(202);
    const [run] = await desk.ended(id);
    expect(run.triggerContext.webhook.query).to.equal({ room: 'a b' });
    expect(JSON.stringify(run.result)).to.include('a b of {{webhook.query.none}}');
    const elsewhere = { 'x-signed': signature };
    expect((await send('signed?room=x', '{}', elsewhere)).status).to.equal(401);
  });

  it('refuses a secret in a query that nobody signs', async () => {
    await hookOf('asked', 'gitea');
    const signed = { 'x-gitea-signature': hex('{}') };
    for (const name of ['token', 'secret', 'key', 'signature', 'TOKEN', 'api_key']) {
      const reply = await send(`asked?${name}=x`, '{}', signed);
      expect([reply.status, reply.body.code]).to.equal([400, 'secret_in_query']);
    }
    expect((await send('asked?keys=x', '{}', signed)).status).to.equal(202);
  });

  it('takes a secret in a query for those hooks alone whose senders sign it', async () => {
    const path = 'signed-query';
    await hookOf(path, 'gitea');
    await hookOf(path, { header: 'x-signed', signed: '{url}{body}' });
    const url = `https://hooks.example.org/api/webhooks/${path}?token=x`;
    const gitea = { 'x-gitea-signature': hex('{}') };
    expect((await send(`${path}?token=x`, '{}', gitea)).status).to.equal(401);
    const both = { ...gitea, 'x-signed': hex(`${url}{}`) };
    const { status, body } = await send(`${path}?token=x`, '{}', both);
    expect([status, body.hooks]).to.equal([202, 1]);
  });

  it('stores no header and no parameter that holds a secret, whatever its name', async () => {
    const id = await hookOf('kept', { header: 'X-Proof', signed: '{body}' });
    const headers = { 'x-proof': hex('{}'), 'x-note': `the ${KEY}!`, 'x-other': 'fine' };
    const query = `kept?a=1&b=${encodeURIComponent(KEY)}`;
    expect((await send(query, '{}', headers)).status).to.equal(202);
    const { webhook } = await contextOf(id);
    expect(webhook.query).to.equal({ a: '1' });
    expect(webhook.headers).to.include({ 'x-other': 'fine' });
    expect(JSON.stringify(webhook)).to.not.include(KEY);
    expect(Object.keys(webhook.headers)).to.not.include('x-proof');
  });

  it('is asked by a token or a password in a header, on both addresses', async () => {
    const token = await hookOf('tokened', { header: 'X-Auth', algorithm: 'token', prefix: 'T ' });
    const password = `ada:${KEY}`;
    const trigger = { webhookPath: 'basic', webhookSecret: password, verify: 'basic' };
    const basic = await desk.hook({ triggerConfig: trigger });
    const credentials = { authorization: `Basic ${Buffer.from(password).toString('base64')}` };
    const incoming = (id: string, headers: Record<string, string>) =>
      desk.test.call('POST', `/api/hooks/incoming/${id}`, { body: '{}', headers });
    expect((await send('tokened', '{}', { 'x-auth': `T ${KEY}` })).status).to.equal(202);
    expect((await incoming(token, { 'x-auth': `T ${KEY}` })).status).to.equal(202);
    expect((await incoming(token, { 'x-auth': KEY })).status).to.equal(401);
    expect((await incoming(basic, credentials)).status).to.equal(202);
    expect((await send('basic', '{}', { authorization: 'Basic eDp5' })).status).to.equal(401);
  });

  it('knows a repeat by the signed time where the sender sends no id', async () => {
    await hookOf('timed', 'calendly');
    const at = seconds();
    const header = `t=${at},v1=${hex(`${at}.{}`)}`;
    const signed = (id: string) => ({
      'calendly-webhook-signature': header,
      'idempotency-key': id,
    });
    expect((await send('timed', '{}', signed('1'))).status).to.equal(202);
    expect((await send('timed', '{}', signed('2'))).body).to.include({ duplicate: true });
    const late = { 'calendly-webhook-signature': `t=${at - 301},v1=${hex(`${at - 301}.{}`)}` };
    expect((await send('timed', '{}', late)).status).to.equal(401);
  });

  it('knows one by the signed time of Slack where the body has no event_id', async () => {
    const id = await hookOf('slack-timed', 'slack');
    const post = (at: number) =>
      send('slack-timed', '{"n":1}', {
        'x-slack-request-timestamp': `${at}`,
        'x-slack-signature': `v0=${hex(`v0:${at}:{"n":1}`)}`,
      });
    const at = seconds();
    expect((await post(at)).status).to.equal(202);
    expect((await post(at)).body).to.include({ duplicate: true });
    expect((await post(at - 1)).status).to.equal(202);
    expect(await desk.ended(id, 2)).to.have.length(2);
  });

  it('stores no secret of a hook that does not fire', async () => {
    const id = await hookOf('beside', 'gitea');
    const theirs = { webhookPath: 'beside', webhookSecret: 'the secret of another' };
    await desk.hook({ triggerConfig: theirs, enabled: false });
    const headers = {
      'x-gitea-signature': hex('{}'),
      'x-note': 'the secret of another',
      'x-other': encodeURIComponent('the secret of another'),
    };
    expect((await send('beside?a=the+secret+of+another', '{}', headers)).status).to.equal(202);
    expect(JSON.stringify(await contextOf(id))).to.not.contain('secret');
  });

  it('takes a repeat for one, whatever type its body is sent with', async () => {
    const verify = { header: 'x-signed', idFrom: 'body.id', eventFrom: 'body.type' };
    const id = await hookOf('typed', verify);
    const body = '{"id":"evt_1","type":"paid"}';
    const headers = { 'x-signed': hex(body) };
    expect((await send('typed', body, headers)).status).to.equal(202);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      expect((await send('typed', body, headers, type)).status).to.equal(415);
    }
    const nameless = '{"type":"ping"}';
    const other = { 'x-signed': hex(nameless) };
    expect((await send('typed', nameless, other)).status).to.equal(202);
    const again = { ...other, 'idempotency-key': 'another' };
    expect((await send('typed', nameless, again)).body).to.include({ duplicate: true });
    expect(await desk.ended(id, 2)).to.have.length(2);
  });

  it('reads JSON as such for a sender that also sends forms', async () => {
    const id = await hookOf('slack', 'slack');
    const body = '{"event_id":"Ev1","event":{"type":"message"}}';
    const at = `${seconds()}`;
    const signature = `v0=${hex(`v0:${at}:${body}`)}`;
    const headers = { 'x-slack-request-timestamp': at, 'x-slack-signature': signature };
    expect((await send('slack', body, headers)).status).to.equal(202);
    const type = 'application/x-www-form-urlencoded';
    expect((await send('slack', body, headers, type)).body).to.include({ duplicate: true });
    expect(await desk.ended(id)).to.have.length(1);
  });

  it('has deliveries of its own beside hooks that sign in a way of the same name', async () => {
    const described = await hookOf('same-name', 'github');
    const plain = await desk.hook(onPath('same-name', KEY));
    const signed = { 'x-hub-signature-256': `sha256=${hex('{}')}` };
    expect((await send('same-name', '{}', signed)).body.hooks).to.equal(2);
    const [[one], [two]] = [await desk.ended(described), await desk.ended(plain)];
    expect(one.deliveryId).to.not.equal(two.deliveryId);
  });

  it('reads large bodies under the id of the sender too', async () => {
    await hookOf('large', 'pagerduty');
    const event = { id: 'event 1', event_type: 'incident.triggered', pad: 'x'.repeat(200_000) };
    const body = JSON.stringify({ event });
    const headers = { 'x-pagerduty-signature': `v1=${hex(body, 'other')},v1=${hex(body)}` };
    expect((await send('large', body, headers)).status).to.equal(202);
    expect((await send('large', body, headers)).body).to.include({ duplicate: true });
  });
});

describe('verify', () => {
  const faultsOf = async (verify: unknown, secret = KEY) => {
    const triggerConfig = { webhookPath: 'faulty', webhookSecret: secret, verify };
    const { status, body } = await desk.ask('POST', '/api/hooks', {
      ...{ name: 'faulty', trigger: 'webhook', action: 'notify', triggerConfig },
      actionConfig: { notifyMessage: 'x' },
    });
    expect(status).to.equal(400);
    return body.details.map(({ path }: { path: string }) => path);
  };
  const at = 'triggerConfig.verify';

  it('is refused with the path of what is wrong', async () => {
    expect(await faultsOf('githug')).to.equal([at]);
    expect(await faultsOf({ header: 'x', signed: '{body}{who}' })).to.equal([`${at}.signed`]);
    expect(await faultsOf({ header: 'x', signed: 'constant' })).to.equal([`${at}.signed`]);
    expect(await faultsOf({ signed: '{body}' })).to.equal([`${at}.header`]);
    const times = [29, 3601].map((toleranceSeconds) => ({ header: 'x', toleranceSeconds }));
    for (const each of times) expect(await faultsOf(each)).to.equal([`${at}.toleranceSeconds`]);
    expect(await faultsOf('sns')).to.equal([`${at}.topicArn`]);
    expect(await faultsOf({ preset: 'github', header: 'x' })).to.equal([`${at}.header`]);
  });

  it('is refused with a time that is not signed, and with a body that could be read as another', async () => {
    const time = { header: 'x', timestampHeader: 'x-time' };
    expect(await faultsOf(time)).to.equal([`${at}.timestampHeader`]);
    const tolerant = [`${at}.toleranceSeconds`];
    expect(await faultsOf({ header: 'x', toleranceSeconds: 60 })).to.equal(tolerant);
    expect(await faultsOf({ preset: 'github', toleranceSeconds: 60 })).to.equal(tolerant);
    const token = { header: 'x', algorithm: 'token', toleranceSeconds: 60 };
    expect(await faultsOf(token)).to.equal(tolerant);
    const bodies = ['json', 'text'];
    for (const signed of ['{timestamp}{body}', '{body}{timestamp}']) {
      expect(await faultsOf({ ...time, signed, bodies })).to.equal([`${at}.bodies`]);
    }
    const places = [{ idFrom: 'body.id' }, { timestampFrom: 'body.at' }];
    for (const place of places) {
      expect(await faultsOf({ header: 'x', ...place, bodies })).to.equal([`${at}.bodies`]);
    }
  });

  it('is refused with a secret that anybody could guess, or that is no key', async () => {
    const points = ['00'.repeat(32), `01${'00'.repeat(31)}`, `${'00'.repeat(31)}80`];
    const secrets: [unknown, string][] = [
      ...['short', ...points].map((each): [string, string] => ['discord', each]),
      ['gitea', '7 bytes'],
      ['basic', 'without a colon'],
      ['standard-webhooks', 'whsec_YWI='],
      [{ header: 'x', key: 'base64' }, 'not base64'],
      [{ header: 'x', key: 'base64' }, 'YWI='],
    ];
    for (const [verify, secret] of secrets) {
      expect([secret, await faultsOf(verify, secret)]).to.equal([
        ...[secret, ['triggerConfig.webhookSecret']],
      ]);
    }
  });

  it('takes a public key in each encoding', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      const path = `key-${encoding}`;
      const verify = { header: 'x-signed', algorithm: 'ed25519', encoding };
      const secret = raw.toString(encoding);
      await desk.hook({ triggerConfig: { webhookPath: path, webhookSecret: secret, verify } });
      const signature = sign(null, Buffer.from('{}'), privateKey).toString(encoding);
      expect((await send(path, '{}', { 'x-signed': signature })).status).to.equal(202);
    }
  });

  it('needs a public address where the sender signs it', async () => {
    await desk.test.restart({ publicUrl: null });
    try {
      expect(await faultsOf('twilio')).to.equal([at]);
    } finally {
      await desk.test.restart();
    }
  });

  it('is shown with the hook', async () => {
    const id = await hookOf('shown', { header: 'X-Proof', encoding: 'base64' });
    const { body } = await desk.ask('GET', `/api/hooks/${id}`);
    expect(body.triggerConfig.verify).to.equal({ header: 'X-Proof', encoding: 'base64' });
  });
});
