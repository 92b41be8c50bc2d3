import {
  type FrozenClock,
  frozenClock,
  PASSWORD,
  type Reply,
  startApp,
  type TestApp,
  type TestOptions,
} from '../../harness/app.js';

export interface Invite {
  inviteToken: string;
  url: string;
  expiresAt: string;
}

export interface Member {
  id: string;
  token: string;
}

interface NamedMember extends Member {
  username: string;
}

interface Cast {
  app: TestApp;
  clock: FrozenClock;
  admin: NamedMember;
  bob: NamedMember;
}

/** The daemon on a clock that stands still, with an admin and somebody else. */
export interface Stage extends Cast {
  as(who: { token: string }, method: string, path: string, body?: unknown): Promise<Reply>;
  /** As the admin. */
  ask(method: string, path: string, body?: unknown): Promise<Reply>;
  login(username: string, password?: string): Promise<Reply>;
  /** The token and the link of an invite, `new` unless it is for somebody. */
  invite(body?: object, id?: string): Promise<Invite>;
  register(body: object): Promise<Reply>;
  /** What the audit log says of an action, oldest first. */
  audited(action: string): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

export const openStage = async (config: TestOptions['config'] = {}): Promise<Stage> => {
  const clock = frozenClock();
  const app = await startApp({ clock, config });
  const admin = await enter(app, 'ada');
  return stageOf({ app, clock, admin, bob: await enter(app, 'bob') });
};

let others = 0;

/** The same daemon with another Bob, whom no case before has seen. */
export const withAnotherBob = async ({ app, clock, admin }: Stage): Promise<Stage> => {
  others += 1;
  return stageOf({ app, clock, admin, bob: await enter(app, `bob${others}`) });
};

/** The same daemon with another Bob and another admin, who has just logged in. */
export const withOthers = async (stage: Stage): Promise<Stage> => {
  const { app, clock, bob } = await withAnotherBob(stage);
  const admin = await enter(app, `ada${others}`);
  const update = app.app.store.db.updateTable('users').set({ role: 'admin' });
  await update.where('id', '=', admin.id).execute();
  return stageOf({ app, clock, admin, bob });
};

const enter = async (app: TestApp, username: string): Promise<NamedMember> => ({
  username,
  ...(await app.register(username)),
});

const stageOf = (cast: Cast): Stage => {
  const { app, admin } = cast;
  const as: Stage['as'] = ({ token }, method, path, body) =>
    app.call(method, path, { token, ...(body !== undefined && { body }) });
  const ask: Stage['ask'] = (method, path, body) => as(admin, method, path, body);
  return {
    ...cast,
    as,
    ask,
    login: (username, password = PASSWORD) =>
      app.call('POST', '/api/auth/login', { body: { username, password } }),
    invite: async (body = {}, id = 'new') => {
      const reply = await ask('POST', `/api/admin/users/${id}/invite`, body);
      if (reply.status !== 201) throw new Error(reply.text);
      return reply.body;
    },
    register: (body) =>
      app.call('POST', '/api/auth/register', { body: { password: PASSWORD, ...body } }),
    audited: async (action) => {
      const rows = await app.app.store.db
        .selectFrom('audit')
        .select(['actor_id', 'impersonator_id', 'target', 'outcome', 'data'])
        .where('action', '=', action)
        .orderBy('number')
        .execute();
      return rows.map(({ data, ...row }) => ({ ...row, data: data && JSON.parse(data) }));
    },
    stop: app.stop,
  };
};
