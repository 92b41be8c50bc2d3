import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD } from '../harness/app.js';
import { type Desk, onPath, openDesk } from '../harness/hooks.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

describe('a value that was moved to another row, or damaged', () => {
  let desk: Desk;
  beforeEach(async () => {
    desk = await openDesk();
  });
  afterEach(() => desk.test.stop());

  const store = async (name: string): Promise<string> =>
    (await desk.ask('POST', '/api/vault', { name, value: `value of ${name}` })).body.id;
  const reveal = (id: string) =>
    desk.ask('POST', `/api/vault/${id}/reveal`, { password: PASSWORD });
  const hookOn = (path: string, webhookCredentialId: string) =>
    desk.hook({ name: path, triggerConfig: { webhookPath: path, webhookCredentialId } });

  /** Exchanges what two credentials hold, as whoever has the database can. */
  const exchange = async (one: string, other: string): Promise<void> => {
    const { db } = desk.test.app.store;
    const of = async (id: string) =>
      db
        .selectFrom('credential_versions')
        .select('sealed')
        .where('credential_id', '=', id)
        .executeTakeFirstOrThrow();
    const put = (id: string, sealed: string) =>
      db
        .updateTable('credential_versions')
        .set({ sealed })
        .where('credential_id', '=', id)
        .execute();
    const [first, second] = [await of(one), await of(other)];
    await put(one, second.sealed);
    await put(other, first.sealed);
  };

  it('does not open, and all others do', async () => {
    const [one, other, sound] = [await store('one'), await store('other'), await store('sound')];
    await hookOn('one', one);
    await hookOn('sound', sound);
    await exchange(one, other);
    for (const restart of [false, true]) {
      if (restart) await desk.test.restart();
      for (const id of [one, other]) {
        const { status, text } = await reveal(id);
        expect(status).to.be.within(400, 599);
        expect(text).to.not.match(/value of (one|other)/);
      }
      expect((await reveal(sound)).body).to.equal({ value: 'value of sound' });
      expect((await desk.deliver('one', '{"n":1}', { secret: 'value of one' })).status).to.equal(
        restart ? 401 : 202,
      );
      const right = await desk.deliver('sound', '{"n":1}', { secret: 'value of sound' });
      expect(right.status).to.be.within(200, 202);
    }
    const renewed = await desk.ask('POST', `/api/vault/${one}/rotate`, { value: 'anew' });
    expect(renewed.status).to.equal(200);
    expect((await reveal(one)).body).to.equal({ value: 'anew' });
    expect((await desk.deliver('one', '{"n":2}', { secret: 'anew' })).status).to.equal(202);
  });

  it('keeps neither the daemon from starting nor what is sound from working', async () => {
    await desk.hook({ name: 'sound' });
    await desk.hook({ name: 'shut', ...onPath('shut') });
    const model = { provider: 'openai', modelId: 'one', apiKey: 'a key' };
    await desk.ask('POST', '/api/models', { ...model, name: 'shut' });
    await desk.ask('PUT', '/api/admin/platforms/slack', { fields: { signingSecret: 'of slack' } });
    const url = 'http://127.0.0.1:9/';
    await desk.ask('POST', '/api/skills/mcp', { name: 'far', url, headers: { a: 'secret' } });
    const { db } = desk.test.app.store;
    const sealed = 'e1.AAAA.AAAA';
    await db
      .updateTable('hooks')
      .set({ secret_sealed: sealed })
      .where('name', '=', 'shut')
      .execute();
    await db.updateTable('models').set({ key_sealed: sealed }).execute();
    await db.updateTable('platforms').set({ secrets_sealed: sealed }).execute();
    await db.updateTable('mcp_servers').set({ sealed }).execute();
    await desk.test.restart();
    const statuses = ['issues', 'shut'].map(
      async (path) => (await desk.deliver(path, '{}')).status,
    );
    expect(await Promise.all(statuses)).to.equal([202, 401]);
    expect((await desk.ask('POST', '/api/models/shut/test', {})).body.error).to.equal(
      'shut: the API key of the model is damaged. Set the API key again',
    );
    const { body } = await desk.ask('GET', '/api/admin/platforms');
    expect(body.platforms[0]).to.include({ kind: 'slack', receives: false });
    expect((await desk.ask('GET', '/api/skills/far')).text).to.contain(
      'are damaged. Remove the server',
    );
  });
});
