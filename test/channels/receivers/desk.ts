import type { App } from '../../../src/app.js';
import { type Clock, systemClock } from '../../../src/kernel/clock.js';
import { FINISHED, type Stage, startStage } from '../../agents/stage.js';
import { type Reply, type TestApp, until, untilAtLeast } from '../../harness/app.js';
import { inside } from '../../harness/inside.js';
import { BOT_TOKEN, openSlack, SIGNING_SECRET, type Slack } from '../../harness/slack.js';
import { openTelegram, type Telegram, TOKEN, WEBHOOK_SECRET } from '../../harness/telegram.js';

export interface Request {
  headers: Record<string, string>;
  body: string;
}

/** The daemon with an account, a model, and both platforms set up. */
export interface Desk extends Stage {
  slack: Slack;
  telegram: Telegram;
  /** Its clock, in milliseconds. */
  now(): number;
  /** The audited entries since the case began. */
  audited(action: string): Promise<Reply['body'][]>;
  /** As it was opened, but for the audit: a case of its own without a daemon of its own. */
  anew(): Promise<void>;
  toTeamchat(request: Request): Promise<Reply>;
  toMessenger(request: Request): Promise<Reply>;
  /** What Slack took, once that is so much. */
  inSlack(count: number): Promise<Slack['calls']>;
  inTelegram(count: number): Promise<Telegram['calls']>;
}

const MINUTE_MS = 60_000;
const FORGOTTEN = [
  ...(['channels', 'sendings', 'notifications', 'approvals', 'sessions'] as const),
  ...(['link_codes', 'inbound_events'] as const),
];

export const SLACK_FIELDS = { botToken: BOT_TOKEN, signingSecret: SIGNING_SECRET };
export const TELEGRAM_FIELDS = { botToken: TOKEN, webhookSecret: WEBHOOK_SECRET };

export const openPlatforms = async (config = {}): Promise<Desk> => {
  const clock = movingClock();
  const stage = await startStage(config, clock);
  const stop = stage.stop;
  let began = new Date(clock.now()).toISOString();
  const close = () => {
    desk.slack.close();
    desk.telegram.close();
  };
  const desk: Desk = Object.assign(stage, {
    ...(await openBoth(stage)),
    now: clock.now,
    audited: async (action: string) =>
      (await stage.ask('GET', `/api/admin/audit?action=${action}&since=${began}`)).body.entries,
    anew: async () => {
      await forget(stage);
      close();
      began = await moveOn(stage, clock);
      Object.assign(desk, await openBoth(stage));
    },
    toTeamchat: (request: Request) => deliver(stage, '/api/teamchat-webhook', request),
    toMessenger: (request: Request) => deliver(stage, '/api/messenger-webhook', request),
    inSlack: (count: number) => untilAtLeast(async () => desk.slack.calls, count),
    inTelegram: (count: number) => untilAtLeast(async () => desk.telegram.calls, count),
    stop: async () => {
      await stop();
      close();
    },
  });
  return desk;
};

/** Both platforms as they are before a case, set up. */
const openBoth = async (stage: Stage) => {
  const [slack, telegram] = [await openSlack(), await openTelegram()];
  await setUp(stage, 'slack', { baseUrl: slack.baseUrl, fields: SLACK_FIELDS });
  await setUp(stage, 'telegram', { baseUrl: telegram.baseUrl, fields: TELEGRAM_FIELDS });
  return { slack, telegram };
};

export const setUp = async (stage: Stage, kind: string, body: object): Promise<void> => {
  const { status, text } = await stage.ask('PUT', `/api/admin/platforms/${kind}`, body);
  if (status !== 200) throw new Error(text);
};

/** The true time and what it was moved on by. */
interface MovingClock extends Clock {
  forward(ms: number): void;
}

export const movingClock = (): MovingClock => {
  let ahead = 0;
  return {
    ...systemClock,
    now: () => Date.now() + ahead,
    forward: (ms) => {
      ahead += ms;
    },
  };
};

/**
 * A minute later, so that what is counted by the minute begins anew, and as if just logged in: after
 * ten minutes the password would be asked for. Resolves to the moment.
 */
export const moveOn = async ({ app }: TestApp, clock: MovingClock): Promise<string> => {
  clock.forward(MINUTE_MS);
  const created_at = new Date(clock.now()).toISOString();
  await app.store.db.updateTable('auth_sessions').set({ created_at }).execute();
  return created_at;
};

/** Ends what agents do, and leaves nothing of what was linked, said, asked and sent. */
export const forget = async (stage: Stage): Promise<void> => {
  const { db } = stage.app.store;
  const agents = await db.selectFrom('agents').select(['id', 'status']).execute();
  for (const { id } of agents.filter(({ status }) => !FINISHED.includes(status))) {
    await stage.ask('POST', `/api/agents/${id}/stop`);
    await stage.reaches(id);
  }
  await allSent(stage.app);
  for (const table of FORGOTTEN) await db.deleteFrom(table).execute();
  stage.model.forget();
};

export const deliver = (app: TestApp, path: string, { headers, body }: Request): Promise<Reply> =>
  app.call('POST', path, { headers, body, type: null });

/** Everything that a refused request must have left as it was, once nothing is under way. */
export const effects = async ({ app }: TestApp) => {
  await allSent(app);
  const { db } = app.store;
  const counts = await Promise.all(
    (['inbound_events', 'sessions', 'agents', 'link_codes', 'channels', 'jobs'] as const).map(
      async (table) =>
        (
          await db
            .selectFrom(table)
            .select((of) => of.fn.countAll<number>().as('n'))
            .execute()
        )[0]?.n,
    ),
  );
  return counts;
};

const allSent = async (app: App): Promise<void> => {
  // A message gives its place back before its end is written down.
  const outbound = app.store.db.selectFrom('jobs').select('id').where('kind', '=', 'sending');
  await until(
    async () => ({ ...inside(app).outgoing.totals(), left: await outbound.execute() }),
    ({ waiting, running, left }) => waiting + running + left.length === 0,
  );
};
