import type { Reply, TestApp } from '../harness/app.js';
import { startApp } from '../harness/app.js';
import { type Ids, oneOfEach } from './oneofeach.js';
import { fill, guarded, type Route } from './routes.js';

/** Experts and templates include those that ship. Everybody has a login session. */
const NEVER_EMPTY = ['GET /api/auth/sessions', 'GET /api/experts', 'GET /api/pipelines/templates'];
/** Retries of a message change its attempts without a request, and each SCIM request is logged. */
const CHANGES_BY_ITSELF = ['GET /api/notifications/{id}/sendings', 'GET /api/orgs/{id}/scim/log'];
/** An attachment is read from a mail server. */
const ELSEWHERE = 'GET /api/email/messages/{id}/attachments/{number}';

/** Models and skills belong to the installation. The usage of models belongs to each user. */
const SHARED = ['capabilities', 'models', 'providers', 'skills'];
/** The same for every organization. */
const DISCOVERY = /^GET \/api\/scim\/v2\/(?:Schemas|ResourceTypes)\//;
const owned = guarded.filter(
  ({ name, area }) =>
    (!SHARED.includes(area) || name === 'GET /api/models/usage') && !DISCOVERY.test(name),
);

const withIds = owned.filter(
  ({ endpoint: { path, access } }) => path.includes('{') && access !== 'admin',
);

/** Counts instead of items. */
const NO_LIST = 'GET /api/knowledge/stats';

export const lists = owned.filter(
  ({ name, endpoint: { path, method, query, access, scim } }) =>
    name !== NO_LIST &&
    // SCIM has no organization for a stranger: 404.
    method === 'GET' &&
    query &&
    !scim &&
    !path.includes('{') &&
    access !== 'admin',
);

export const isNeverEmpty = ({ name }: Route): boolean => NEVER_EMPTY.includes(name);

/** A daemon in which one user owns a resource of each kind. */
export interface Isolated {
  app: TestApp;
  admin: string;
  owner: string;
  stranger: string;
  ids: Ids;
  /** Every id of the owner's resources. */
  hidden: string[];
  /** Replies to the owner of every GET route with an id, as text. */
  everything(): Promise<string[]>;
  /** Routes that answer a token otherwise than for an unknown id, or with another status. */
  revealed(token: string, statusOf?: (route: Route) => number): Promise<string[]>;
}

export const unlike = (id: string): string => `${id.slice(0, -6)}000000`;

export const openIsolated = async (): Promise<Isolated> => {
  const app = await startApp();
  const admin = (await app.register('admin')).token;
  const owner = (await app.register('owner')).token;
  const stranger = (await app.register('stranger')).token;
  const ids: Ids = { ...(await made(app, owner)), ...(await oneOfEach(app, owner)) };
  const { permissions: _names, ...secret } = ids;

  /** Sends the example of the contract, so that only the id can be refused. */
  const ask = ({ endpoint }: Route, token: string, id: (parameter: string) => string) =>
    app.call(endpoint.method, fill(endpoint.path, id), { token, body: endpoint.example });
  const idOf = (route: Route, parameter: string): string => {
    const found = ids[route.area]?.[parameter];
    if (!found) throw new Error(`No ${parameter} of ${route.area} was made for this test`);
    return found;
  };
  const isolated: Isolated = {
    app,
    admin,
    owner,
    stranger,
    ids,
    hidden: Object.values(secret).flatMap((each) => Object.values(each)),
    everything: async () => {
      const gets = withIds.filter(
        ({ name, endpoint }) =>
          endpoint.method === 'GET' && !CHANGES_BY_ITSELF.includes(name) && name !== ELSEWHERE,
      );
      const all = await Promise.all(gets.map((route) => ask(route, owner, (p) => idOf(route, p))));
      return all.map(
        ({ status, body }, at) => `${gets[at]?.name}: ${status} ${JSON.stringify(body)}`,
      );
    },
    revealed: async (token, statusOf = () => 404) => {
      const wrong: string[] = [];
      for (const route of withIds) {
        const real = await ask(route, token, (parameter) => idOf(route, parameter));
        const none = await ask(route, token, (parameter) => unlike(idOf(route, parameter)));
        const [a, b] = [textOf(real), textOf(none)];
        if (real.status !== statusOf(route) || a !== b) wrong.push(`${route.name}: ${a} ${b}`);
      }
      return wrong;
    },
  };
  // The first read of the message fails at its mail server, which changes the state of the account.
  await isolated.everything();
  return isolated;
};

const textOf = ({ status, body }: Reply): string =>
  JSON.stringify({ status, ...body, requestId: '' });

/** One of each kind that the example of its contract makes. */
const made = async (app: TestApp, token: string): Promise<Ids> => {
  const found: Ids = {};
  for (const { area, endpoint } of owned) {
    const { method, path, example, reply } = endpoint;
    const isMaker = method === 'POST' && !path.includes('{') && reply && example !== undefined;
    if (!isMaker || !withIds.some((route) => route.area === area)) continue;
    const { body } = await app.call(method, path, { token, body: example });
    if (body?.id) found[area] ??= { id: body.id };
  }
  return found;
};
