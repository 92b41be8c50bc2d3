import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { frozenClock, startApp } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { type Account, type Kitchen, RECIPES, type Trial } from './auditcalls.js';
import { recordStatements, unexpectedScans } from './plans.js';
import { fill, NOBODYS, type Route, routes } from './routes.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** They need a browser, an MCP server, ssh, a server of ntfy or of e-mail or something that runs, and are looked at in the tests of their own area. */
const ELSEWHERE = [
  'POST /api/auth/passkey/authenticate',
  'POST /api/channels/ntfy',
  'POST /api/channels/email',
  'POST /api/skills/{id}/accept',
  'POST /api/skills/mcp',
  'DELETE /api/skills/mcp/{name}',
  'POST /api/admin/backups/{id}/cancel',
  'POST /api/tunnel/host-keys',
];
/** What a call may change although it does not happen: codes that are good for one try. */
const SPENT = ['totp', 'passkey_grants', 'passkey_challenges'];

/** What keeps an entry from being written: a disk that is full, somebody who may write the file. */
const REFUSALS = { refused: `RAISE(ABORT, 'full')`, swallowed: 'RAISE(IGNORE)' };

const audited = routes.filter(
  ({ name, endpoint }) => endpoint.audit !== undefined && !ELSEWHERE.includes(name),
);

describe('every audited endpoint', { timeout: 120_000 }, () => {
  let recording: ReturnType<typeof recordStatements>;
  let kitchen: Kitchen;
  let db: Database.Database;

  before(async () => {
    recording = recordStatements();
    kitchen = await openKitchen();
    // What leaves by itself would change what a call is to leave as it was.
    await inside(kitchen.app.app).outgoing.stop(0);
    await inside(kitchen.app.app).operations.stop(0);
    db = new Database(join(kitchen.app.home, 'adjutant.db'), { timeout: 5000 });
  });
  after(async () => {
    db.close();
    await kitchen.app.stop();
  });

  const trialOf = ({ name }: Route): Promise<Trial> =>
    RECIPES[name]?.(kitchen) ?? Promise.resolve({});
  const ask = ({ endpoint }: Route, { token, path, body }: Trial) =>
    kitchen.app.call(
      endpoint.method,
      fill(endpoint.path, (parameter) => path?.[parameter] ?? NOBODYS),
      { token: token === undefined ? kitchen.admin.token : (token ?? undefined), body },
    );
  const newest = (): number => Number(db.prepare('SELECT max(number) FROM audit').pluck().get());
  /** Action and outcome of each entry that a call leaves, and its status. */
  const left = async (route: Route, trial: Trial) => {
    const before = newest();
    const { status, text } = await ask(route, trial);
    const rows = db
      .prepare<[number], { action: string; outcome: string }>(
        'SELECT action, outcome FROM audit WHERE number > ?',
      )
      .all(before);
    return { status, rows: rows.map(({ action, outcome }) => `${action} ${outcome}`), text };
  };
  /** What is kept in each table but the log itself and what may be spent. */
  const everything = (): Map<string, string> => {
    const tables = db
      .prepare<[], string>(`SELECT name FROM sqlite_master WHERE type = 'table'`)
      .pluck()
      .all()
      .filter((name) => name !== 'audit' && !SPENT.includes(name));
    const read = (name: string): string =>
      JSON.stringify(db.prepare(`SELECT * FROM ${name}`).all());
    return new Map(tables.map((name) => [name, read(name)]));
  };

  for (const route of audited) {
    const { endpoint, name } = route;
    it(`leaves one entry: ${name}`, async () => {
      const { status, rows, text } = await left(route, await trialOf(route));
      expect([status >= 200 && status < 300, rows], text).to.equal([
        true,
        [`${endpoint.audit} ok`],
      ]);
    });

    for (const [how, raised] of Object.entries(endpoint.auditMayFail ? {} : REFUSALS)) {
      it(`does not happen where its entry is ${how}: ${name}`, async () => {
        const trial = await trialOf(route);
        db.exec(`CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT ${raised}; END`);
        try {
          const before = everything();
          const { status, body } = await ask(route, trial);
          expect({ status, code: body?.code }).to.equal({
            status: 503,
            code: 'storage_unavailable',
          });
          const changed = [...everything()].filter(([name, rows]) => rows !== before.get(name));
          expect(changed).to.equal([]);
        } finally {
          db.exec('DROP TRIGGER full');
        }
      });
    }
  }

  for (const route of audited.filter(({ endpoint }) => endpoint.access === 'admin')) {
    it(`leaves one entry where it is refused: ${route.name}`, async () => {
      const { token } = await kitchen.guest();
      const first = await left(route, { token });
      expect([first.status, first.rows]).to.equal([403, [`${route.endpoint.audit} denied`]]);
      const again = await left(route, { token });
      expect([again.status, again.rows]).to.equal([403, []]);
    });
  }

  it('reads no whole table that grows', () => {
    const found = recording.stop();
    expect(found.size).to.be.above(200);
    expect(unexpectedScans(found)).to.equal([]);
  });

  it('is every one of the admin’s own part of the API', () => {
    const silent = routes.filter(
      ({ endpoint }) =>
        /^\/api\/admin\//.test(endpoint.path) && !endpoint.audit && !endpoint.unbuilt,
    );
    expect(silent.map(({ name }) => name)).to.equal([]);
  });

  it('has a recipe where it takes more than a token', () => {
    const missing = audited.filter(
      ({ name, endpoint }) => (endpoint.path.includes('{') || endpoint.body) && !RECIPES[name],
    );
    expect(missing.map(({ name }) => name)).to.equal([]);
  });
});

const openKitchen = async (): Promise<Kitchen> => {
  const clock = frozenClock();
  const app = await startApp({ clock, config: { registration: 'open' } });
  // The name that passkeys belong to.
  app.url = app.url.replace('127.0.0.1', 'localhost');
  let guests = 0;
  const register = async (username: string): Promise<Account> => {
    const account = await app.register(username);
    // A session's first use is written down.
    await app.call('GET', '/api/auth/me', { token: account.token });
    return { ...account, username };
  };
  const admin = await register('admin');
  return { app, clock, admin, guest: () => register(`guest-${++guests}`) };
};
