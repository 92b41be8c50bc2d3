import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

const VALUE = 'Bearer a-value-of-the-owners';

describe('the headers of an outgoing webhook', () => {
  const stage = openForSuite(lab, openStage);
  beforeEach(() => stage.clear());

  const row = (id: string) =>
    stage.test.app.store.db
      .selectFrom('webhooks')
      .select(['headers_sealed', 'header_names'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();

  it('go with every request, and are shown by their names alone', async () => {
    const headers = { Authorization: VALUE, 'X-Team': 'ops' };
    const made = await stage.webhook({ events: ['hook.executed'], headers });
    expect(made.headerNames).to.equal(['authorization', 'x-team']);
    await stage.fire();
    const [received] = await stage.target.got(1);
    expect(received?.headers).to.include({ authorization: VALUE, 'x-team': 'ops' });
    expect(received?.headers['content-type']).to.equal('application/json');
    await stage.ask('POST', `/api/webhooks/${made.id}/test`);
    expect(stage.target.received.at(-1)?.headers.authorization).to.equal(VALUE);
    const { text } = await stage.ask('GET', `/api/webhooks/${made.id}`);
    expect(text).to.not.include('a-value-of-the-owners');
    const { headers_sealed: sealed } = await row(made.id);
    expect(sealed).to.not.be.null();
    expect(sealed).to.not.include('a-value-of-the-owners');
  });

  it('change one by one, and null takes one away', async () => {
    const { id } = await stage.webhook({ headers: { 'x-one': 'first', 'x-two': 'second' } });
    const change = async (headers: object) =>
      (await stage.ask('PATCH', `/api/webhooks/${id}`, { headers })).body.headerNames;
    expect(await change({ 'X-One': 'changed', 'x-three': 'third' })).to.equal([
      ...['x-one', 'x-three', 'x-two'],
    ]);
    expect(await change({ 'X-Two': null })).to.equal(['x-one', 'x-three']);
    await stage.fire();
    const [{ headers } = { headers: {} }] = await stage.target.got(1);
    expect(headers).to.include({ 'x-one': 'changed', 'x-three': 'third' });
    expect(headers).to.not.include(['x-two']);
    expect(await change({ 'x-one': null, 'x-three': null })).to.equal([]);
    expect(await row(id)).to.equal({ headers_sealed: null, header_names: '[]' });
  });

  it('are redacted in what the endpoint says', async () => {
    stage.target.answer = (response) => response.writeHead(500).end(`You sent ${VALUE}`);
    const { id } = await stage.webhook({ events: ['hook.executed'], headers: { 'x-key': VALUE } });
    await stage.fire();
    const [delivery] = await until(
      () => stage.deliveries(id),
      ([first]) => first?.attempts.length === 1,
    );
    expect(delivery.attempts[0].response).to.equal('You sent [secret]');
    const { body } = await stage.ask('POST', `/api/webhooks/${id}/test`);
    expect(body.response).to.equal('You sent [secret]');
  });

  it('are redacted there without their scheme, too', async () => {
    const [, value = ''] = VALUE.split(' ');
    stage.target.answer = (response) => response.writeHead(401).end(`No such token: ${value}`);
    const { id } = await stage.webhook({ headers: { authorization: VALUE } });
    const { body } = await stage.ask('POST', `/api/webhooks/${id}/test`);
    expect(body.response).to.equal('No such token: [secret]');
  });

  it('go to no other origin unless they are given again', async () => {
    const headers = { authorization: VALUE, 'x-team': 'ops' };
    const { id, url } = await stage.webhook({ headers });
    const elsewhere = `http://127.0.0.1:${Number(new URL(url).port) - 1}/in`;
    const change = (body: object) => stage.ask('PATCH', `/api/webhooks/${id}`, body);
    const refused = async (body: object) => {
      const reply = await change(body);
      return [reply.status, ...reply.body.details.map(Object.values)];
    };
    const message = (names: string) =>
      `must contain these headers again, or null, because the origin changes: ${names}`;
    for (const to of [elsewhere, url.replace('http:', 'https:')]) {
      const both = ['headers', message('authorization, x-team')];
      expect(await refused({ url: to })).to.equal([400, both]);
      const one = ['headers', message('authorization')];
      expect(await refused({ url: to, headers: { 'X-Team': 'dev' } })).to.equal([400, one]);
    }
    expect((await change({ url: `${new URL(url).origin}/other` })).status).to.equal(200);
    const given = await change({
      url: elsewhere,
      headers: { Authorization: 'Bearer another-value', 'x-team': null },
    });
    expect([given.body.url, given.body.headerNames]).to.equal([elsewhere, ['authorization']]);
    expect((await change({ url, headers: { authorization: null } })).body.headerNames).to.equal([]);
    expect((await change({ url: elsewhere })).status).to.equal(200);
  });

  it('leave only their names in the audit log', async () => {
    const { id } = await stage.webhook();
    await stage.ask('PATCH', `/api/webhooks/${id}`, { headers: { 'x-key': VALUE } });
    const rows = await stage.test.app.store.db
      .selectFrom('audit')
      .select('data')
      .where('target', '=', id)
      .execute();
    const all = rows.map(({ data }) => data).join();
    expect(all).to.include('x-key');
    expect(all).to.not.include('a-value-of-the-owners');
  });

  it('are refused where they cannot be sent, or are not the user’s, without their values', async () => {
    const refused = async (headers: object) => {
      const body = { name: 'app', url: stage.target.url, events: ['*'], headers };
      const reply = await stage.ask('POST', '/api/webhooks', body);
      expect(reply.text).to.not.include('a-value-of-the-owners');
      return [reply.status, reply.body.details?.[0].path];
    };
    for (const name of [
      ...['Host', 'content-length', 'Connection', 'transfer-encoding', 'webhook-id', 'WEBHOOK-X'],
      ...['content-type', 'te', 'upgrade', 'proxy-authorization', 'X-Adjutant-Hops'],
      ...['with blank', 'colon:', 'ümlaut', 'x'.repeat(101)],
    ]) {
      expect(await refused({ [name]: VALUE })).to.equal([400, `headers.${name}`]);
    }
    for (const value of ['', ' ', `${VALUE}\r\nx: y`, `${VALUE}\u0000`, 'ü', 'x'.repeat(4001)]) {
      expect((await refused({ 'x-key': value }))[0]).to.equal(400);
    }
    expect((await refused({ 'x-key': null }))[0]).to.equal(400);
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x-${n}`, 'v']));
    expect((await refused(many))[0]).to.equal(400);
    const twenty = Object.fromEntries(Object.entries(many).slice(1));
    const { id } = await stage.webhook({ headers: twenty });
    const more = await stage.ask('PATCH', `/api/webhooks/${id}`, { headers: { 'x-more': 'v' } });
    expect([more.status, more.body.details[0].path]).to.equal([400, 'headers']);
  });

  it('that were damaged are not left out: the message waits until they are set anew', async () => {
    const { id } = await stage.webhook({ events: ['hook.executed'], headers: { 'x-key': VALUE } });
    const { db } = stage.test.app.store;
    await db
      .updateTable('webhooks')
      .set({ headers_sealed: 'damaged' })
      .where('id', '=', id)
      .execute();
    await stage.fire();
    const [delivery] = await until(
      () => stage.deliveries(id),
      ([first]) => first?.attempts.length === 1,
    );
    expect(delivery.attempts[0].error).to.equal(
      'The headers of the webhook are damaged. Set the headers again',
    );
    expect(stage.target.received).to.equal([]);
    const { body } = await stage.ask('PATCH', `/api/webhooks/${id}`, {
      headers: { 'x-key': 'new value' },
    });
    expect(body.headerNames).to.equal(['x-key']);
    await stage.ask('POST', `/api/webhooks/${id}/deliveries/${delivery.id}/resend`);
    const [received] = await stage.target.got(1);
    expect(received?.headers['x-key']).to.equal('new value');
  });
});
