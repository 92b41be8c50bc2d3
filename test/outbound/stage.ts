import type { Config } from '../../src/config.js';
import type { SendResult, Transport } from '../../src/outbound/transport.js';
import type { OutboundMessageRow } from '../../src/store/tables/outbox.js';
import { type FrozenClock, startApp, type TestApp, until } from '../harness/app.js';
import { linkChannel } from '../harness/channel.js';
import { inside } from '../harness/inside.js';

/** A platform that does as it is told, and takes down what it was asked to send. */
export interface Platform extends Transport {
  asked: OutboundMessageRow[];
  /** How it answers from now on; everything arrives unless told. */
  answer(message: OutboundMessageRow, signal: AbortSignal): Promise<SendResult>;
}

export const ARRIVED: SendResult = { verdict: 'sent', receipt: 'ts-1' };

export const openPlatform = (over: Partial<Transport> = {}): Platform => {
  const platform: Platform = {
    isRepeatable: false,
    delaysMs: [],
    ...over,
    asked: [],
    answer: async () => ARRIVED,
    send: (message, signal) => {
      platform.asked.push(message);
      return platform.answer(message, signal);
    },
  };
  return platform;
};

export interface Stage {
  test: TestApp;
  owner: { id: string; token: string };
  channelId: string;
  slack: Platform;
  /** Tells the owner. */
  tell(title: string, effectId?: string): Promise<void>;
  messages(): Promise<OutboundMessageRow[]>;
  /** The messages, once all of them have such a status. */
  ended(...statuses: OutboundMessageRow['status'][]): Promise<OutboundMessageRow[]>;
  attempts(): Promise<{ number: number; verdict: string; error: string | null }[]>;
  jobs(): Promise<{ kind: string; lane: string }[]>;
  notifications(): Promise<string[]>;
}

/** An owner with a linked channel on a platform of the test's. */
export const openStage = async (
  over: Partial<Transport> = {},
  config: Partial<Config> = {},
  clock?: FrozenClock,
): Promise<Stage> => {
  const test = await startApp({ config, ...(clock && { clock }) });
  const owner = await test.register('owner');
  const slack = openPlatform(over);
  inside(test.app).transports.put('slack', slack);
  const { id: channelId } = await linkChannel(test, owner.id);
  await forgetGreeting(test, slack);
  const messages = () =>
    test.app.store.db.selectFrom('sendings').selectAll().orderBy('id').execute();
  return {
    ...{ test, owner, channelId, slack, messages },
    jobs: () => test.app.store.db.selectFrom('jobs').select(['kind', 'lane']).execute(),
    tell: (title, effectId) =>
      inside(test.app).outbox.send(owner.id, {
        ...{ kind: 'hook_notice', title, body: `${title}, in full`, link: null },
        ...(effectId !== undefined && { effectId }),
      }),
    ended: (...statuses) =>
      until(
        messages,
        (rows) => rows.length > 0 && rows.every((row) => statuses.includes(row.status)),
      ),
    attempts: () =>
      test.app.store.db
        .selectFrom('sending_attempts')
        .select(['number', 'verdict', 'error'])
        .orderBy('sending_id')
        .orderBy('number')
        .execute(),
    notifications: async () => {
      const { body } = await test.call('GET', '/api/notifications', { token: owner.token });
      return body.notifications.map((row: { kind: string }) => row.kind);
    },
  };
};

/** That a channel was linked is said there, too. */
const forgetGreeting = async ({ app }: TestApp, platform: Platform): Promise<void> => {
  const { outgoing } = inside(app);
  await until(
    async () => outgoing.totals(),
    ({ waiting, running }) => platform.asked.length === 1 && waiting + running === 0,
  );
  platform.asked.length = 0;
  await app.store.db.deleteFrom('sendings').execute();
};
