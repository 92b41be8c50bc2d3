import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Isolated, isNeverEmpty, lists, openIsolated } from './isolated.js';
import type { Route } from './routes.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** The only notification here: an admin impersonates the user. */
const OWN_NOTICE = 'impersonation.begun';

describe('the resources of another user', () => {
  let isolated: Isolated;
  const tokens: Record<string, string> = {};

  before(async () => {
    isolated = await openIsolated();
    const { app, admin, stranger } = isolated;
    const impersonated = await app.register('impersonated');
    const impersonator = await app.impersonate(admin, impersonated.id);
    Object.assign(tokens, { user: stranger, admin, impersonator });
  });
  after(() => isolated.app.stop());

  for (const who of ['user', 'admin', 'impersonator']) {
    const isRefused = ({ endpoint }: Route) =>
      who === 'impersonator' && (endpoint.personal ?? endpoint.unimpersonated) === true;

    if (who !== 'user') {
      it(`are hidden from another ${who} like an unknown id, on every route`, async () => {
        const before = await isolated.everything();
        const statusOf = (route: Route) => (isRefused(route) ? 403 : 404);
        expect(await isolated.revealed(tokens[who] ?? '', statusOf)).to.equal([]);
        const after = await isolated.everything();
        expect(after.filter((each, at) => each !== before[at])).to.equal([]);
      });
    }

    it(`are in no list and no count of another ${who}, whatever the query names`, async () => {
      const token = tokens[who] ?? '';
      const { app, hidden } = isolated;
      for (const route of lists.filter((each) => !isRefused(each))) {
        const { name, endpoint } = route;
        const queries = ['', ...hidden.flatMap((id) => queriesWith(name, id))];
        for (const query of queries) {
          const { status, text, body } = await app.call('GET', endpoint.path + query, { token });
          expect(status, name + query).to.equal(200);
          expect(hidden.filter((id) => text.includes(`"${id}"`) && !query.includes(id))).to.equal(
            [],
          );
          const [items] = Object.values(body) as [{ kind?: string }[]];
          const others = items.filter(({ kind }) => kind !== OWN_NOTICE && kind !== FOR_ADMINS);
          if (!isNeverEmpty(route)) expect(others, name + query).to.equal([]);
        }
      }
      const { body } = await app.call('GET', '/api/notifications', { token });
      const kinds = body.notifications.map(({ kind }: { kind: string }) => kind);
      const own = who === 'impersonator' ? [OWN_NOTICE] : [];
      const forAdmins = who === 'admin' ? kinds.filter((kind: string) => kind === FOR_ADMINS) : [];
      expect({ kinds, unread: body.unreadCount }).to.equal({
        kinds: [...forAdmins, ...own],
        unread: forAdmins.length + own.length,
      });
    });
  }
});

/** All admins of the installation are told of new organizations. */
const FOR_ADMINS = 'org.created';

/** Ways to name another's id in the query of a list. */
const queriesWith = (name: string, id: string): string[] => {
  if (name === 'GET /api/agents') {
    return ['hookId', 'executionId', 'sessionId', 'cursor'].map((key) => `?${key}=${id}`);
  }
  return name === 'GET /api/hooks/executions' ? [] : [`?cursor=${id}`];
};
