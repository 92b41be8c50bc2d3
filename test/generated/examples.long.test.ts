import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Reply, startApp, type TestApp, untilMatches } from '../harness/app.js';
import { openTarget, type Target } from '../harness/target.js';
import { fill, NOBODYS, type Route, routes } from './routes.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

interface Media {
  example?: unknown;
}
interface Operation {
  operationId: string;
  requestBody?: { content: Record<string, Media> };
  parameters?: { name: string; in: string; example?: string }[];
}

type Told = Pick<Reply, 'status' | 'text' | 'body'>;

/** The calls that others need, in their order; after them goes whatever creates something. */
const FIRST = ['auth.register', 'auth.login', 'hooks.create', 'agents.spawn'];
const isMaker = (id: string): boolean =>
  FIRST.includes(id) || (id.endsWith('.create') && id !== 'scim.create');
/** These end what the others need. */
const LAST = [
  ...['tunnel.set', 'passkeys.register', 'passkeys.authenticate', 'auth.password'],
  ...['orgs.transfer', 'orgs.delete'],
];
/** Why the others cannot succeed for whoever only tries them out. */
const REFUSED: Record<string, number> = {
  // A code of one's own app, a passkey, a link of one's own.
  ...{ 'totp.enable': 401, 'totp.verify': 409, 'totp.disable': 409, 'totp.recovery-codes': 409 },
  ...{ 'passkeys.redeem': 401, 'users.reset': 403 },
  ...{ 'channels.verify': 404, 'channels.preview': 404, 'channels.link': 404 },
  // A platform that is not set up.
  ...{ 'channels.ntfy': 409, 'channels.email': 409 },
  // A credential with the password of a mailbox.
  ...{ 'mailaccounts.create': 404, 'mailaccounts.update': 404 },
  // A mail account.
  'sentmail.send': 409,
  // A document that was uploaded; a form has no example.
  ...{ 'documents.update': 404, 'documents.reprocess': 404 },
  // A thing of which nothing is there yet.
  ...{
    'hooks.replay': 404,
    'hooks.confirm-token': 409,
    'approvals.approve': 404,
    'skills.accept': 404,
    'pipelines.retry': 404,
    'pipelines.approve': 404,
    'pipelines.reject': 404,
    'pipelines.input': 404,
  },
  ...{ 'users.totp-remove': 404, 'users.passkey-remove': 404 },
  // A member, an invite, a certificate, and a login at an identity provider of one's own.
  ...{ 'orgs.member-update': 404, 'orgs.transfer': 404, 'orgs.join': 403 },
  ...{ 'sso.update': 400, 'sso.link': 409, 'sso.begin': 401, 'sso.consume': 415 },
  // The user of the other path, and users and groups that are not there.
  ...{ 'scim.users-create': 409, 'scim.users-replace': 404, 'scim.users-patch': 404 },
  ...{ 'scim.replace': 404, 'scim.patch': 404 },
  ...{ 'scim.groups-replace': 404, 'scim.groups-patch': 404 },
  // Closed until a platform's own secret is set.
  ...{ 'messengers.teamchat': 401, 'messengers.messenger': 401 },
};
/** It takes a program that is not everywhere. */
const PROGRAM = 'tunnel.host-keys';
/** What is named in a path beside things that were made. */
const NAMED: Record<string, string> = {
  skillId: 'time',
  toolName: 'now',
  kind: 'telegram',
  path: 'example-issues',
};

describe('the examples of the API document', () => {
  let app: TestApp;
  let target: Target;
  let document: { paths: Record<string, Record<string, Operation>> };
  let token = '';
  const made: Record<string, string> = {};
  const replies = new Map<string, Told>();

  const operationOf = ({ endpoint: { path, method } }: Route): Operation | undefined =>
    document.paths[path]?.[method.toLowerCase()];
  /** SCIM has a type of its own. */
  const mediaOf = (route: Route): [type: string, media: Media] | undefined =>
    Object.entries(operationOf(route)?.requestBody?.content ?? {}).find(([type]) =>
      type.endsWith('json'),
    );
  const bodyOf = (route: Route): string | undefined => {
    const [, media] = mediaOf(route) ?? [];
    // Nothing of a test leaves this machine.
    return JSON.stringify(media?.example)
      ?.replace(/https:\/\/(hooks|mcp)\.example\.org/g, target.url)
      .replace('box.example.org', '127.0.0.1');
  };
  const send = async (route: Route): Promise<Told> => {
    const { endpoint, area } = route;
    const path = fill(endpoint.path, (name) => NAMED[name] ?? made[area] ?? NOBODYS);
    const headers = (operationOf(route)?.parameters ?? []).flatMap(
      ({ in: where, name, example }): [string, string][] =>
        where === 'header' ? [[name, example ?? '']] : [],
    );
    // By its name, as a browser does: passkeys belong to one.
    const reply = await fetch(`http://localhost:${new URL(app.url).port}${path}`, {
      method: endpoint.method,
      headers: {
        'content-type': mediaOf(route)?.[0] ?? 'application/json',
        ...(endpoint.access !== 'public' && { authorization: `Bearer ${token}` }),
        ...Object.fromEntries(headers),
      },
      body: bodyOf(route) ?? null,
    });
    const text = await reply.text();
    return { status: reply.status, text, body: text === '' ? null : JSON.parse(text) };
  };

  const backup = async (id: string) =>
    (await app.call('GET', `/api/admin/backups/${id}`, { token })).body;

  const withBody = routes.filter(
    ({ endpoint: { body, rawBytes } }) => body || rawBytes !== undefined,
  );
  const idOf = (route: Route): string => operationOf(route)?.operationId ?? route.name;

  before(async () => {
    target = await openTarget();
    app = await startApp({ config: { egressAllow: [target.address] } });
    ({ body: document } = await app.call('GET', '/swagger.json'));
    const rank = (route: Route): number => {
      const id = idOf(route);
      if (LAST.includes(id)) return FIRST.length + 2 + LAST.indexOf(id);
      if (FIRST.includes(id)) return FIRST.indexOf(id);
      return isMaker(id) ? FIRST.length : FIRST.length + 1;
    };
    for (const route of [...withBody].sort((a, b) => rank(a) - rank(b))) {
      const reply = await send(route);
      replies.set(idOf(route), reply);
      if (idOf(route) === 'auth.register') {
        ({ token } = reply.body);
        made.users = (await app.register('bob')).id;
      }
      const { id, name } = reply.body ?? {};
      if (isMaker(idOf(route))) made[route.area] = route.area === 'models' ? name : id;
      if (idOf(route) === 'backups.create')
        await untilMatches(() => backup(id), { status: 'done' });
      if (idOf(route) === 'hooks.create') made.receivers = id;
      if (idOf(route) === 'orgs.create') Object.assign(made, { sso: id, scim: id });
    }
  });
  after(async () => {
    await app.stop();
    target.close();
  });

  it('are there for every endpoint that takes a body', () => {
    expect(withBody.filter((route) => bodyOf(route) === undefined).map(idOf)).to.equal([]);
  });

  it('are accepted as they stand', () => {
    const refused = [...replies].filter(
      ([id, { status }]) => (status === 400 && REFUSED[id] !== 400) || status >= 500,
    );
    expect(refused.map(([id, { status, text }]) => `${id}: ${status} ${text}`)).to.equal([]);
  });

  it('do what they say, but for what takes something of one’s own', () => {
    const others = [...replies].filter(([id, { status }]) => status > 299 && id !== PROGRAM);
    expect(Object.fromEntries(others.map(([id, { status }]) => [id, status]))).to.equal(REFUSED);
  });

  it('carry a signature that the receiver verifies', () => {
    expect(replies.get('receivers.byPath')?.body).to.include({ accepted: true, hooks: 1 });
    expect(replies.get('receivers.incoming')?.body).to.include({ accepted: true, hooks: 1 });
  });
});
