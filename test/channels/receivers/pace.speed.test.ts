import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { linkChannel } from '../../harness/channel.js';
import { says } from '../../harness/openai.js';
import * as slack from '../../harness/slack.js';
import { type Desk, openPlatforms } from './desk.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

/** Slack, Rate limits: one message a second to a channel, short bursts aside. */
const BURST = 5;

describe('the pace of a channel', () => {
  let desk: Desk;
  let channelId: string;
  beforeEach(async () => {
    desk = await openPlatforms();
    channelId = (await linkChannel(desk, desk.userId, { kind: 'slack', ...slack.ADA })).id;
    await desk.inSlack(1);
    desk.slack.calls.length = 0;
  });
  afterEach(() => desk.stop());

  /** How long it took until so many had arrived, at the least a second for each beyond the burst. */
  const timed = async (count: number, work: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await work();
    await desk.inSlack(count);
    return performance.now() - began;
  };

  it('is kept among many messages', async () => {
    const test = () => desk.ask('POST', `/api/channels/${channelId}/test`);
    const tookMs = await timed(BURST + 2, () =>
      Promise.all(Array.from({ length: BURST + 2 }, test)),
    );
    expect(tookMs).to.be.above(1500);
    expect(desk.slack.calls.length).to.equal(BURST + 2);
  });

  it('is kept among the parts of one', async () => {
    desk.model.script(says({ text: 'a long line of words\n'.repeat(1330) }));
    const tookMs = await timed(BURST + 2, () =>
      desk.toTeamchat(slack.written('Say much', Date.now())),
    );
    expect(tookMs).to.be.above(1500);
    // The ends of lines at which the text is split are left out.
    const lines = desk.slack.texts().join('\n').split('\n');
    expect(lines.filter((line) => line !== 'a long line of words')).to.equal([]);
    expect(lines.length).to.equal(1330);
  });
});
