import { type Stage, startStage } from '../../agents/stage.js';
import type { Reply, TestApp } from '../../harness/app.js';
import { until } from '../../harness/app.js';
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
  toTeamchat(request: Request): Promise<Reply>;
  toMessenger(request: Request): Promise<Reply>;
  /** What Slack took, once that is so much. */
  inSlack(count: number): Promise<Slack['calls']>;
  inTelegram(count: number): Promise<Telegram['calls']>;
}

export const SLACK_FIELDS = { botToken: BOT_TOKEN, signingSecret: SIGNING_SECRET };
export const TELEGRAM_FIELDS = { botToken: TOKEN, webhookSecret: WEBHOOK_SECRET };

export const openMessengers = async (config = {}): Promise<Desk> => {
  const [slack, telegram] = [await openSlack(), await openTelegram()];
  const stage = await startStage(config);
  const set = async (kind: string, baseUrl: string, fields: object) => {
    const { status, text } = await stage.ask('PUT', `/api/admin/platforms/${kind}`, {
      baseUrl,
      fields,
    });
    if (status !== 200) throw new Error(text);
  };
  await set('slack', slack.baseUrl, SLACK_FIELDS);
  await set('telegram', telegram.baseUrl, TELEGRAM_FIELDS);
  const stop = stage.stop;
  return Object.assign(stage, {
    slack,
    telegram,
    toTeamchat: (request: Request) => deliver(stage, '/api/teamchat-webhook', request),
    toMessenger: (request: Request) => deliver(stage, '/api/messenger-webhook', request),
    inSlack: (count: number) =>
      until(
        async () => slack.calls,
        ({ length }) => length >= count,
      ),
    inTelegram: (count: number) =>
      until(
        async () => telegram.calls,
        ({ length }) => length >= count,
      ),
    stop: async () => {
      await stop();
      slack.close();
      telegram.close();
    },
  });
};

export const deliver = (app: TestApp, path: string, { headers, body }: Request): Promise<Reply> =>
  app.call('POST', path, { headers, body, type: null });

/** Everything that a refused request must have left as it was, once nothing is under way. */
export const effects = async ({ app }: TestApp) => {
  const { db } = app.store;
  // A message gives its place back before its end is written down.
  const outbound = db.selectFrom('jobs').select('id').where('kind', '=', 'sending');
  await until(
    async () => ({ ...app.runtime.outgoing.totals(), left: await outbound.execute() }),
    ({ waiting, running, left }) => waiting + running + left.length === 0,
  );
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
