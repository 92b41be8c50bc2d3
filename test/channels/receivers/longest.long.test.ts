import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Stage, startStage } from '../../agents/stage.js';
import { until, untilAtLeast } from '../../harness/app.js';
import { linkChannel } from '../../harness/channel.js';
import * as chat from '../../harness/mattermost.js';
import { says } from '../../harness/openai.js';
import { deliver, movingClock, setUp } from './desk.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const FIELDS = { botToken: chat.BOT_TOKEN, commandTokens: chat.COMMAND_TOKEN };
const MOST = 100_000;
/** Such a long answer is over the model's limit, which its readers are told behind it. */
const NOTE = "\n\nThe reply was cut off at the model's output limit.";
const REST = '… The rest is too long to show here. Read it in the app.';

describe('a text for a channel', () => {
  let stage: Stage;
  let server: Awaited<ReturnType<typeof chat.openMattermost>>;
  beforeEach(async () => {
    stage = await startStage({}, movingClock());
    server = await chat.openMattermost();
    await setUp(stage, 'mattermost', { baseUrl: server.baseUrl, fields: FIELDS });
    await linkChannel(stage, stage.userId, { kind: 'mattermost', ...chat.ADA });
    await posted(1);
    server.posts.length = 0;
  });
  afterEach(async () => {
    await stage.stop();
    server.close();
  });

  const posted = (count: number) => untilAtLeast(async () => server.posts, count);
  /** The texts of the messages in which an answer arrives. */
  const arrived = async (answer: string): Promise<string[]> => {
    stage.model.script(says({ text: answer }));
    await deliver(stage, '/api/teamchat-webhook', chat.post('adjutant say much'));
    const sent = stage.app.store.db
      .selectFrom('sendings')
      .select('status')
      .where('kind', '=', 'agent_completed');
    await until(
      () => sent.execute(),
      ([row]) => row?.status === 'sent',
    );
    return server.posts.map(({ message }) => String(message));
  };

  it('is sent whole up to 100,000 characters', async () => {
    const answer = 'x'.repeat(MOST - NOTE.length);
    const parts = await arrived(answer);
    expect(parts.join('')).to.equal(answer + NOTE);
  });

  it('is cut there, and says so', async () => {
    const answer = 'x'.repeat(MOST - NOTE.length + 1);
    const parts = await arrived(answer);
    expect(parts.pop()).to.equal(REST);
    expect(parts.join('')).to.equal((answer + NOTE).slice(0, MOST));
  });
});
