import { once } from 'node:events';
import { expect } from '@hapi/code';
import { WebSocket } from 'ws';
import { startStage } from '../../agents/stage.js';
import { PASSWORD } from '../../harness/app.js';
import { inside } from '../../harness/inside.js';
import { hangs } from '../../harness/openai.js';

/** A daemon with a user who is disabled. */
export const openDisabling = async () => {
  const stage = await startStage();
  const bob: { id: string; token: string } = await stage.register('bob');
  const asBob = (method: string, path: string, body?: unknown) =>
    stage.call(method, path, { token: bob.token, ...(body !== undefined && { body }) });
  const disable = (disabled = true) =>
    stage.ask('PATCH', `/api/admin/users/${bob.id}`, { disabled });
  const login = async () => {
    const body = { username: 'bob', password: PASSWORD };
    const reply = await stage.call('POST', '/api/auth/login', { body });
    if (reply.status === 200) bob.token = reply.body.token;
    return reply.status;
  };
  const counted = async () =>
    Promise.all(
      (['hooks', 'agents', 'sessions', 'messages', 'executions', 'access_tokens'] as const).map(
        (table) =>
          stage.app.store.db
            .selectFrom(table)
            .select((of) => of.fn.countAll().as('count'))
            .executeTakeFirstOrThrow(),
      ),
    );
  /** Disables the user while an agent, a socket and requests run. */
  const disableAtWork = async (
    measured: <T>(work: () => Promise<T>) => Promise<T> = (work) => work(),
  ): Promise<void> => {
    const pat = (await asBob('POST', '/api/auth/tokens', { name: 'ci' })).body.token;
    const socket = new WebSocket(`${stage.url.replace('http', 'ws')}/ws?token=${bob.token}`);
    await once(socket, 'open');
    const closed = once(socket, 'close');
    stage.model.script(hangs);
    const asked = stage.model.nextAsked();
    const running = (await asBob('POST', '/api/agents', { prompt: 'Wait' })).body;
    await asked;
    const before = await counted();
    let traffic = true;
    const statuses = new Set<number>();
    const requests = (async () => {
      while (traffic) statuses.add((await asBob('GET', '/api/hooks')).status);
    })();
    const { reply, code } = await measured(async () => {
      const disabled = await disable();
      const [closeCode] = await closed;
      await stage.model.asked.at(-1)?.gone;
      return { reply: disabled, code: closeCode };
    });
    const next = await Promise.all([
      asBob('GET', '/api/auth/me'),
      stage.call('GET', '/api/auth/me', { token: pat }),
    ]);
    traffic = false;
    await requests;
    expect([reply.status, reply.body.disabled, code, next.map(({ status }) => status)]).to.equal([
      200,
      true,
      4401,
      [401, 401],
    ]);
    expect([...statuses].sort()).to.equal([200, 401]);
    expect((await inside(stage.app).rows.byId(running.id))?.status).to.equal('stopped');
    expect(await login()).to.equal(401);
    expect((await counted()).map(({ count }) => count).slice(0, 3)).to.equal(
      before.map(({ count }) => count).slice(0, 3),
    );
  };
  return { stage, bob, asBob, disable, login, counted, disableAtWork };
};

export type Disabling = Awaited<ReturnType<typeof openDisabling>>;
