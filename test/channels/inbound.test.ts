import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { DecisionReply } from '../../src/channels/decision.js';
import { createPlatformReceiver } from '../../src/channels/inbound.js';
import { createHttp } from '../../src/kernel/http.js';
import { createLog } from '../../src/kernel/log.js';
import { frozenClock, untilAtLeast } from '../harness/app.js';
import {
  BOT_TOKEN,
  commanded,
  type Discord,
  openDiscord,
  PUBLIC_KEY,
  pressed,
  signed,
} from '../harness/discord.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** Of Discord. */
const DEFERRAL_MS = 2000;
const ORIGIN = { address: '127.0.0.1', requestId: 'request_1' };

describe('a reply that takes longer than the platform waits', () => {
  let discord: Discord;
  let release: (outcome: DecisionReply | null) => void;
  const http = createHttp({ allow: [] });
  // Signatures are of the true time.
  const clock = frozenClock(Date.now());
  before(async () => {
    discord = await openDiscord();
  });
  after(async () => {
    await http.close();
    discord.close();
  });

  const receive = (interaction: object) => {
    const handled = new Promise<DecisionReply | null>((resolve) => {
      release = resolve;
    });
    const settings = {
      baseUrl: discord.baseUrl,
      values: { publicKey: PUBLIC_KEY },
      secrets: { botToken: BOT_TOKEN },
    };
    const receiver = createPlatformReceiver({
      clock,
      log: createLog('silent'),
      http,
      settings: {
        refresh: async () => undefined,
        of: () => settings,
        proving: () => [settings],
        reachedAt: () => undefined,
        receiver: () => 'https://adjutant.example.org/api/teamchat-webhook',
      },
      handle: () => handled,
      undelivered: async () => undefined,
      proveWebhook: async () => null,
      moved: async () => undefined,
    });
    const { headers, body } = signed(interaction);
    return receiver.receive('teamchat', { headers, body: Buffer.from(body) }, ORIGIN);
  };
  const later = async (count: number) =>
    (await untilAtLeast(async () => discord.later, count)).map(({ asked, body }) => [
      asked,
      body.content,
    ]);

  it('is announced in time, and sent to the same place', async () => {
    /** As late as the platform allows. */
    const receiveLate = async (interaction: object) => {
      const received = receive(interaction);
      await clock.waiting(DEFERRAL_MS);
      clock.forward(DEFERRAL_MS);
      return received;
    };
    const command = await receiveLate(commanded('status'));
    expect(command).to.equal({
      verdict: 'received',
      reply: { type: 5, data: { flags: 64 } },
    });
    release({ text: 'Two agents', isOver: false });
    expect(await later(1)).to.equal([['PATCH /messages/@original', 'Two agents']]);
    const button = await receiveLate(pressed(`y:approval_1:${'a'.repeat(48)}`));
    expect(button).to.equal({ verdict: 'received', reply: { type: 6 } });
    release({ text: 'Approved', isOver: true });
    expect((await later(2))[1]).to.equal(['PATCH /messages/@original', 'Approved']);
  });

  it('is the reply itself where it is there in time', async () => {
    const received = receive(commanded('status'));
    release({ text: 'None', isOver: false });
    const { reply } = JSON.parse(JSON.stringify(await received));
    expect([reply.type, reply.data.content]).to.equal([4, 'None']);
  });
});
