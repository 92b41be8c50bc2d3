import { expect } from '@hapi/code';
import Hapi, { type Server } from '@hapi/hapi';
import * as Lab from '@hapi/lab';
import { createAuditing } from '../../src/kernel/auditrecorder.js';
import { createBodies } from '../../src/kernel/body.js';
import { CustomReply, contract } from '../../src/kernel/contract/endpoint.js';
import { boolean, object, optional, queryWhole, text } from '../../src/kernel/contract/schema.js';
import { createResourceRoutes, resource } from '../../src/kernel/route.js';
import type { Organizations } from '../../src/kernel/sharing.js';

export const lab = Lab.script();
const { beforeEach, describe, it } = lab;

const Thing = object('Thing', { id: text(40), size: optional(queryWhole(0, 9)) });
const things = contract({
  get: {
    method: 'GET',
    path: '/things/{id}',
    summary: 'Show a thing',
    access: 'public',
    query: object('ThingQuery', { size: optional(queryWhole(0, 9)) }),
    reply: Thing,
  },
  create: {
    method: 'POST',
    path: '/things',
    summary: 'Make a thing',
    access: 'public',
    body: object('NewThing', { id: text(40) }),
    reply: Thing,
    status: 201,
    otherReplies: { 200: object('Known', { known: boolean() }) },
  },
  remove: { method: 'DELETE', path: '/things/{id}', summary: 'Remove it', access: 'public' },
  raw: {
    method: 'POST',
    path: '/raw',
    summary: 'Take bytes',
    access: 'public',
    rawBytes: 10,
    reply: object('Taken', { text: text(40) }),
  },
  plain: {
    method: 'GET',
    path: '/plain',
    summary: 'Say it',
    access: 'public',
    reply: text(40),
    produces: 'text/plain',
  },
});

/** No body here is large. */
const none = async (): Promise<never> => {
  throw new Error('There is no thread here');
};

const auditing = createAuditing({
  append: async () => undefined,
  isWritten: async () => false,
  unwritten: () => undefined,
  mintId: () => 'audit_1',
  now: () => '2026-03-01T12:00:00.000Z',
});
const neverKept = { begin: async () => null, end: async () => undefined };

const organizations: Organizations = {
  of: async () => [],
  membership: async () => null,
  ownerOf: async () => null,
  watch: () => () => undefined,
};

describe('routes', () => {
  let server: Server;
  const bodies = createBodies(100);
  const send = async (method: string, url: string, payload?: string) => {
    const {
      statusCode,
      payload: body,
      headers,
    } = await server.inject({
      method,
      url,
      ...(payload !== undefined && { payload }),
    });
    return { status: statusCode, body, type: headers['content-type'] };
  };
  const json = 'application/json; charset=utf-8';

  beforeEach(() => {
    server = Hapi.server();
    const made = resource('things', things, {
      get: async ({ id, query }) => (id === 'wrong' ? { id: '' } : { id, ...query }),
      create: async ({ body }) =>
        body.id === 'known'
          ? new CustomReply(200, { known: true }, { etag: '"x"' })
          : { id: body.id },
      remove: async () => undefined,
      raw: async ({ raw }) => ({ text: raw.bytes.toString() || 'nothing' }),
      plain: async () => 'said',
    });
    server.route(
      createResourceRoutes(made, {
        checkedReplies: 100,
        replays: neverKept,
        bodies,
        auditing,
        organizations,
        apart: none,
      }),
    );
  });

  it('hands over path and query', async () => {
    const reply = await send('GET', '/things/a%2Fb?size=3');
    expect(reply).to.equal({ status: 200, body: '{"id":"a/b","size":3}', type: json });
  });

  it('refuses an unknown query', async () => {
    expect((await send('GET', '/things/a?colour=red')).status).to.equal(400);
  });

  it('holds replies against their schema', async () => {
    expect((await send('GET', '/things/wrong')).status).to.equal(500);
  });

  it('answers with the status of the contract', async () => {
    const reply = await send('POST', '/things', '{"id":"new"}');
    expect(reply).to.equal({ status: 201, body: '{"id":"new"}', type: json });
  });

  it('answers with another status where the handler says so', async () => {
    const reply = await send('POST', '/things', '{"id":"known"}');
    expect(reply).to.equal({ status: 200, body: '{"known":true}', type: json });
  });

  it('answers 204 where there is no reply', async () => {
    expect(await send('DELETE', '/things/a')).to.equal({ status: 204, body: '', type: undefined });
    expect((await send('DELETE', '/things/a', '{"x":1}')).status).to.equal(400);
  });

  it('hands over bytes as they came, up to their limit', async () => {
    expect((await send('POST', '/raw', ' {"a":1} ')).body).to.equal('{"text":" {\\"a\\":1} "}');
    expect((await send('POST', '/raw')).body).to.equal('{"text":"nothing"}');
    expect((await send('POST', '/raw', 'x'.repeat(11))).status).to.equal(413);
    expect(bodies.held()).to.equal(0);
  });

  it('says text as text', async () => {
    const reply = await send('GET', '/plain');
    expect(reply).to.equal({ status: 200, body: 'said', type: 'text/plain; charset=utf-8' });
  });
});
