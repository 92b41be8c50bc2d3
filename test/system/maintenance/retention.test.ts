import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { iso } from '../../../src/kernel/clock.js';
import { timeDigits } from '../../../src/kernel/ids.js';
import { createLog } from '../../../src/kernel/log.js';
import { sweepFolders } from '../../../src/system/maintenance/folders.js';
import { createRetention } from '../../../src/system/maintenance/retention.js';
import { createWorkFolders } from '../../../src/tools/workfolders.js';
import { queueDeliveries } from '../../faults/queue.js';
import { frozenClock } from '../../harness/app.js';
import { openScratch, type Scratch } from '../../store/scratch.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

/** More than one batch. */
const COUNT = 1200;
const DAY_MS = 24 * 60 * 60 * 1000;
const OWNER = 'user_queued';

describe('retention', () => {
  let scratch: Scratch;
  beforeEach(async () => {
    scratch = await openScratch();
  });
  afterEach(() => scratch.remove());

  const prune = (retentionDays: number): Promise<number> =>
    createRetention({
      store: scratch.store,
      clock: frozenClock(),
      log: createLog('silent'),
      retentionDays,
      sweepFolders: () => sweepFolders(scratch.store, createWorkFolders(scratch.home)),
      forgetKeys: async () => 0,
      destroyVersions: async () => 0,
    }).prune();

  const left = async () => {
    const { db } = scratch.store;
    const deliveries = await db.selectFrom('deliveries').select('id').execute();
    const executions = await db.selectFrom('executions').select(['id', 'run_at']).execute();
    return {
      deliveries: deliveries.length,
      executions: executions.length,
      waiting: executions.filter(({ run_at }) => run_at !== null).length,
    };
  };

  it('prunes old deliveries with their executions, however many', async () => {
    queueDeliveries(scratch.home, COUNT, true);
    expect(await prune(30)).to.equal(2 * COUNT);
    expect(await left()).to.equal({ deliveries: 0, executions: 0, waiting: 0 });
  });

  it('keeps what has not run yet, however old', async () => {
    queueDeliveries(scratch.home, 10);
    expect(await prune(30)).to.equal(0);
    expect(await left()).to.equal({ deliveries: 10, executions: 10, waiting: 10 });
  });

  it('forgets whose deliveries came once they are old, and no earlier', async () => {
    const { db } = scratch.store;
    queueDeliveries(scratch.home, 1);
    const hook = await db.selectFrom('hooks').select('id').executeTakeFirstOrThrow();
    const now = frozenClock().now();
    const claim = (id: number, name: string, at: number) => ({
      id,
      hook_id: hook.id,
      sender_id: name,
      body_digest: new Uint8Array(32),
      execution_id: `execution_${name}`,
      delivery_id: `delivery_${name}`,
      claimed_at: iso(at),
    });
    const many = Array.from({ length: COUNT }, (_, n) => claim(n, `old-${n}`, now - 31 * DAY_MS));
    await db.insertInto('delivery_claims').values(many).execute();
    await db
      .insertInto('delivery_claims')
      .values(claim(COUNT, 'new', now - 29 * DAY_MS))
      .execute();
    expect(await prune(30)).to.equal(COUNT);
    const kept = await db.selectFrom('delivery_claims').select('sender_id').execute();
    expect(kept).to.equal([{ sender_id: 'new' }]);
  });

  it('keeps what is not old yet', async () => {
    queueDeliveries(scratch.home, 10, true);
    expect(await prune(90)).to.equal(0);
  });

  it('removes the folders of agents and hooks that are gone, and no others', async () => {
    const work = createWorkFolders(scratch.home);
    queueDeliveries(scratch.home, 1);
    const { id, user_id: userId } = await scratch.store.db
      .selectFrom('hooks')
      .select(['id', 'user_id'])
      .executeTakeFirstOrThrow();
    for (const name of [id, 'agent_gone', 'hook_gone', 'mcp-files']) await work.open(userId, name);
    await work.open('user_gone', 'agent_other');
    expect(await prune(30)).to.equal(3);
    expect((await work.names(userId)).sort()).to.equal([id, 'mcp-files']);
    expect(await work.names('user_gone')).to.equal([]);
  });

  it('keeps all for ever where it is told so', async () => {
    queueDeliveries(scratch.home, 10, true);
    expect(await prune(0)).to.equal(0);
    expect(await left()).to.equal({ deliveries: 10, executions: 10, waiting: 0 });
  });

  it('keeps what was not read for a year', async () => {
    queueDeliveries(scratch.home, 1);
    const { db } = scratch.store;
    const daysAgo = (days: number): number => frozenClock().now() - days * 24 * 3600 * 1000;
    const told = async (days: number, isRead: boolean): Promise<void> => {
      const at = daysAgo(days);
      const id = `notification_${timeDigits(at)}${isRead ? 'r' : 'u'}`;
      const times = { created_at: iso(at), read_at: isRead ? iso(at) : null };
      const said = { user_id: 'user_queued', kind: 'hook_notice', title: 't', body: 'b' };
      await db
        .insertInto('notifications')
        .values({ ...said, id, ...times })
        .execute();
    };
    await told(31, true);
    await told(364, false);
    await told(366, false);
    await prune(30);
    const left = await db.selectFrom('notifications').select('created_at').execute();
    expect(left).to.equal([{ created_at: iso(daysAgo(364)) }]);
  });

  it('prunes runs of pipelines with all that they have begun, once the whole has ended', async () => {
    queueDeliveries(scratch.home, 1);
    const { db } = scratch.store;
    const old = frozenClock().now() - 31 * DAY_MS;
    const run = async (name: string, at: number, isOver: boolean, parent_id: string | null) => {
      const id = `pipeline_${timeDigits(at)}${name}`;
      const ended = isOver ? iso(at) : null;
      const status = isOver ? ('completed' as const) : ('waiting' as const);
      const template = { template_id: 'template_x', template_version: 1, template: '{}' };
      const times = { created_at: iso(at), started_at: iso(at), finished_at: ended };
      const rest = { params: '{}', untrusted: 0, step: 1, error: null, parent_id };
      const none = { deadline_at: null, left_ms: null };
      await db
        .insertInto('pipeline_runs')
        .values({ ...template, ...times, ...rest, ...none, id, name, status, user_id: OWNER })
        .execute();
      return id;
    };
    const ended = await run('ended', old, true, null);
    await run('part', old, true, ended);
    const open = await run('open', old, false, null);
    await run('done-part', old, true, open);
    await run('new', frozenClock().now(), true, null);
    await prune(30);
    const left = await db.selectFrom('pipeline_runs').select('name').orderBy('name').execute();
    expect(left.map(({ name }) => name)).to.equal(['done-part', 'new', 'open']);
  });

  it('prunes what was sent, with its attempts, and keeps what is yet to be sent', async () => {
    queueDeliveries(scratch.home, 1);
    const { db } = scratch.store;
    const waits = await addMessages(scratch);
    await prune(30);
    const kept = await db.selectFrom('sendings').select('status').orderBy('id').execute();
    expect(kept.map(({ status }) => status)).to.equal(['queued', 'sending']);
    const attempts = await db.selectFrom('sending_attempts').select('sending_id').execute();
    expect(attempts.length).to.equal(2);
    const events = await db.selectFrom('outgoing_events').select('id').execute();
    expect(events).to.equal([{ id: waits }]);
  });
});

/** Old ones of each status, each with its event; resolves to the event that is yet to be spread. */
const addMessages = async ({ store: { db } }: Scratch): Promise<string> => {
  const created_at = '2026-01-01T00:00:00.000Z';
  const old = timeDigits(Date.parse(created_at));
  const owner = { user_id: 'user_queued', created_at };
  const webhook = { id: 'webhook_1', name: 'app', url: 'http://127.0.0.1/', events: '["*"]' };
  await db
    .insertInto('webhooks')
    .values({ ...owner, ...webhook, secret_sealed: '', updated_at: created_at })
    .execute();
  for (const status of ['queued', 'sending', 'sent', 'failed', 'unknown'] as const) {
    const [id, cause_id, type] = [
      `sending_${old}${status}`,
      `event_${old}${status}`,
      'hook.failed',
    ];
    const said = { cause_id, kind: type, content: '{}' };
    const attempt = { number: 1, at: created_at, duration_ms: 1, verdict: 'retry' as const };
    await db
      .insertInto('sendings')
      .values({ ...owner, ...said, id, webhook_id: webhook.id, status })
      .execute();
    await db
      .insertInto('sending_attempts')
      .values({ ...attempt, sending_id: id })
      .execute();
    await db
      .insertInto('outgoing_events')
      .values({ ...owner, id: cause_id, type, data: '{}' })
      .execute();
  }
  const job = { kind: 'event', ref: `event_${old}queued`, lane: 'owner_user_queued' };
  await db
    .insertInto('jobs')
    .values({ ...job, run_at: created_at })
    .execute();
  return job.ref;
};
