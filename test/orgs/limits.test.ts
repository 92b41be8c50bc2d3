import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { enterAs, type Stage, startStage } from '../agents/stage.js';
import { frozenClock, until } from '../harness/app.js';
import { type Reply, says } from '../harness/openai.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

/** A dollar for ten thousand input tokens. */
const PRICED = { modelInputPrice: 100, modelOutputPrice: 0, dailyCostUsd: 100 };

describe('the limits of an organization', () => {
  let owner: Stage;
  let bob: Stage;
  let orgId: string;

  before(async () => {
    const clock = frozenClock(Date.parse('2026-03-30T12:00:00.000Z'));
    owner = await startStage(PRICED, clock);
    bob = await enterAs(owner, 'bob');
    orgId = (await owner.ask('POST', '/api/orgs', { slug: 'acme', name: 'Acme' })).body.id;
    await owner.ask('POST', `/api/orgs/${orgId}/members`, { username: 'bob' });
    await limit({ approved: true });
  });
  after(() => owner.stop());
  /** Each call costs a dollar. */
  beforeEach(() => {
    const reply: Reply = says({ text: 'Dear.', usage: { input: 10_000, output: 1 } });
    owner.model.script(...Array.from({ length: 20 }, () => reply));
  });

  const limit = (changes: object) => owner.ask('PATCH', `/api/admin/orgs/${orgId}`, changes);
  const spend = async (who: Stage, more: object = {}): Promise<string | null> => {
    const { id } = await who.spawn({ prompt: 'Spend', orgId, ...more });
    return (await who.reaches(id)).error as string | null;
  };

  it('apply to a day, a month, and all members together', async () => {
    await limit({ limits: { dailyCostUsd: 2, monthlyCostUsd: 3 } });
    expect(await spend(owner)).to.be.null();
    expect(await spend(bob)).to.be.null();
    expect(await spend(owner)).to.equal('the daily limit of 2 USD is reached');
    expect(await spend(owner, { orgId: undefined })).to.be.null();
    const { db } = owner.app.store;
    const moveTo = (day: string) =>
      db.updateTable('daily_usage').set({ day }).where('user_id', '=', orgId).execute();
    await moveTo('2026-03-01');
    expect(await spend(owner)).to.be.null();
    expect(await spend(owner)).to.equal('the monthly limit of 3 USD is reached');
    await db.deleteFrom('daily_usage').where('day', '=', '2026-03-30').execute();
    await moveTo('2026-02-28');
    expect(await spend(owner)).to.be.null();
  });

  it('apply to the agents that each member starts on a day, however they are started', async () => {
    await owner.app.store.db
      .updateTable('agents')
      .set({ created_at: '2026-03-29T12:00:00.000Z' })
      .execute();
    const limits = { dailyCostUsd: 100, monthlyCostUsd: null, memberDailyCostUsd: 1 };
    await limit({ limits });
    expect(await spend(bob)).to.be.null();
    const reached = 'the daily limit per member of 1 USD is reached';
    expect(await spend(bob)).to.equal(reached);
    const chat = await bob.ask('POST', '/api/chat', { message: 'Spend', orgId });
    expect(chat.body.error).to.equal(reached);
    const task = await bob.ask('POST', '/api/tasks', { title: 'Spend', orgId });
    await bob.ask('POST', `/api/tasks/${task.body.id}/delegate`, {});
    await until(
      async () => (await bob.ask('GET', `/api/agents?orgId=${orgId}`)).body.agents[0],
      ({ error }) => error === reached,
    );
    const stages = [{ key: 'spend', kind: 'agent', config: { prompt: 'Spend' } }];
    const template = await owner.ask('POST', '/api/pipelines/templates', {
      ...{ name: 'spending', stages, orgId },
    });
    const run = await bob.ask('POST', '/api/pipelines', { templateId: template.body.id });
    await until(
      async () => (await bob.ask('GET', `/api/pipelines/${run.body.id}`)).body,
      ({ status }) => status === 'failed',
    );
    expect(await spend(owner)).to.be.null();
    await owner.app.store.db
      .updateTable('agents')
      .set({ created_at: '2026-03-29T12:00:00.000Z' })
      .where('member_id', '=', bob.userId)
      .execute();
    expect(await spend(bob)).to.be.null();
  });
});
