import { join } from 'node:path';
import Database from 'better-sqlite3';
import { frozenClock, type Reply, startApp } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { RECIPES } from './auditcalls.js';
import type { Account, Kitchen, Trial } from './kitchen.js';
import { fill, NOBODYS, type Route, routes } from './routes.js';

/**
 * They need a browser, an identity provider, DNS, an MCP server, ssh, ntfy, a mail server or a
 * running backup. The tests of their areas cover them.
 */
const ELSEWHERE = [
  'POST /api/orgs/{id}/domains/{domain}/verify',
  'POST /api/saml/acs',
  'POST /api/saml/session',
  'POST /api/auth/passkey/authenticate',
  'POST /api/channels/ntfy',
  'POST /api/channels/email',
  'POST /api/skills/{id}/accept',
  'POST /api/skills/mcp',
  'DELETE /api/skills/mcp/{name}',
  'POST /api/admin/backups/{id}/cancel',
  'POST /api/tunnel/host-keys',
];
/** Codes for one attempt: a call that fails may use them up. */
const SPENT = ['totp', 'passkey_grants', 'passkey_challenges'];

/** What prevents an entry: a full disk, or a trigger of somebody who can write the file. */
export const REFUSALS = { refused: `RAISE(ABORT, 'full')`, swallowed: 'RAISE(IGNORE)' };

export const audited = routes.filter(
  ({ name, endpoint }) => endpoint.audit !== undefined && !ELSEWHERE.includes(name),
);

/** A daemon whose audit log is compared before and after each call. */
export interface Auditing {
  kitchen: Kitchen;
  trialOf(route: Route): Promise<Trial>;
  ask(route: Route, trial: Trial): Promise<Reply>;
  /** Status of a call, and action and outcome of each entry that it leaves. */
  left(route: Route, trial: Trial): Promise<{ status: number; rows: string[]; text: string }>;
  /** Tables that a call changes while no entry can be written, with its reply. */
  changedWithoutLog(raised: string, call: () => Promise<Reply>): Promise<[Reply, string[]]>;
  stop(): Promise<void>;
}

export const openAuditing = async (): Promise<Auditing> => {
  const kitchen = await openKitchen();
  // Background work would change tables that a call must leave unchanged.
  await inside(kitchen.app.app).outgoing.stop(0);
  await inside(kitchen.app.app).operations.stop(0);
  const db = new Database(join(kitchen.app.home, 'adjutant.db'), { timeout: 5000 });

  const newest = (): number => Number(db.prepare('SELECT max(number) FROM audit').pluck().get());
  /** The rows of each table except the log and used codes. */
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
  const ask: Auditing['ask'] = ({ endpoint }, { token, path, body }) =>
    kitchen.app.call(
      endpoint.method,
      fill(endpoint.path, (parameter) => path?.[parameter] ?? NOBODYS),
      { token: token === undefined ? kitchen.admin.token : (token ?? undefined), body },
    );
  return {
    kitchen,
    ask,
    trialOf: ({ name }) => RECIPES[name]?.(kitchen) ?? Promise.resolve({}),
    left: async (route, trial) => {
      const before = newest();
      const { status, text } = await ask(route, trial);
      const rows = db
        .prepare<[number], { action: string; outcome: string }>(
          'SELECT action, outcome FROM audit WHERE number > ?',
        )
        .all(before);
      return { status, rows: rows.map(({ action, outcome }) => `${action} ${outcome}`), text };
    },
    changedWithoutLog: async (raised, call) => {
      db.exec(`CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT ${raised}; END`);
      try {
        const before = everything();
        const reply = await call();
        const changed = [...everything()].filter(([name, rows]) => rows !== before.get(name));
        return [reply, changed.map(([name, rows]) => `${name}: ${rows}`)];
      } finally {
        db.exec('DROP TRIGGER full');
      }
    },
    stop: async () => {
      db.close();
      await kitchen.app.stop();
    },
  };
};

const openKitchen = async (): Promise<Kitchen> => {
  const clock = frozenClock();
  const app = await startApp({ clock, config: { registration: 'open' } });
  // The relying party of passkeys.
  app.url = app.url.replace('127.0.0.1', 'localhost');
  let guests = 0;
  const register = async (username: string): Promise<Account> => {
    const account = await app.register(username);
    // The first use of a session is stored.
    await app.call('GET', '/api/auth/me', { token: account.token });
    return { ...account, username };
  };
  const admin = await register('admin');
  return { app, clock, admin, guest: () => register(`guest-${++guests}`) };
};
