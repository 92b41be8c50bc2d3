import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { discord } from '../../../src/providers/chat/discord.js';
import type { ChannelMessage } from '../../../src/providers/chat/platform.js';
import {
  ADA,
  APPLICATION,
  BOT_TOKEN,
  buttonsOf,
  commanded,
  type DiscordMessage,
  discordFault,
  OTHER,
  openDiscord,
  PUBLIC_KEY,
  pressed,
  type Request,
  refuse,
  signed,
} from '../../harness/discord.js';
import { flipped, reachOf } from './reach.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const NOW = Date.parse('2026-11-20T14:00:00Z');
const SETTINGS = {
  baseUrl: 'https://discord.com/api/v10',
  values: { publicKey: PUBLIC_KEY },
  secrets: { botToken: BOT_TOKEN },
};
const DIGEST = '4f2a91c0'.repeat(8);
const ID = 'approval_01jcx2kq7m8f3k2a9v5ztw4e6r';
const QUESTION = { approvalId: ID, digest: DIGEST };

const verify = ({ headers, body }: { headers: object; body: string | Buffer }, values = {}) =>
  discord.verify(
    { headers: { ...headers }, body: Buffer.from(body) },
    { ...SETTINGS, values: { ...SETTINGS.values, ...values } },
    NOW,
  );
const parse = (interaction: unknown) =>
  discord.parse({ headers: {}, body: Buffer.from(JSON.stringify(interaction)) }, SETTINGS)[0];
const render = (message: Partial<ChannelMessage>): DiscordMessage[] =>
  JSON.parse(JSON.stringify(discord.render({ title: null, text: '', ...message })));
const shown = (text: string): string => render({ text })[0]?.content ?? '';

describe('discord inbound', () => {
  it('believes the signature of its application, made just now', () => {
    const right = signed({ type: 1 }, { at: NOW });
    expect(verify(right)).to.be.true();
    expect(discord.matchesHeaders(right.headers)).to.be.true();
    const { headers, body } = right;
    const mac = headers['x-signature-ed25519'] ?? '';
    const wrong: Request[] = [
      { body, headers: { ...headers, 'x-signature-ed25519': '' } },
      { body, headers: { ...headers, 'x-signature-ed25519': `${mac}00` } },
      { body, headers: { ...headers, 'x-signature-ed25519': '0'.repeat(128) } },
      { body, headers: { ...headers, 'x-signature-timestamp': `${Number(NOW) / 1000 + 1}` } },
      { body, headers: {} },
      signed({ type: 1 }, { at: NOW, key: OTHER }),
      signed({ type: 1 }, { at: NOW - 301_000 }),
      signed({ type: 1 }, { at: NOW + 301_000 }),
    ];
    for (const request of wrong) expect(verify(request)).to.be.false();
    expect(verify({ headers, body: flipped(body) })).to.be.false();
    for (const publicKey of ['', 'x', '0'.repeat(63), '0'.repeat(64)]) {
      expect(verify(right, { publicKey })).to.be.false();
    }
  });

  it('answers a ping', () => {
    expect(parse({ id: '1', type: 1 })).to.equal({ kind: 'challenge', reply: { type: 1 } });
  });

  it('reads commands, in private and on a server', () => {
    for (const more of [{}, { isOnServer: true }]) {
      const said = { kind: 'message' as const, sender: ADA };
      expect(parse(commanded('ask', ' What now? ', more))).to.include({
        ...said,
        text: 'What now?',
      });
      expect(parse(commanded('link', 'K7MPXA', more))).to.include({
        ...said,
        text: '/link K7MPXA',
      });
      expect(parse(commanded('link', undefined, more))).to.include({ ...said, text: '/link' });
    }
    const first = parse(commanded('new'));
    const second = parse(commanded('new'));
    expect([first, second].map((one) => one?.kind === 'message' && one.eventId)[0]).to.not.equal(
      second?.kind === 'message' && second.eventId,
    );
    const odd = [commanded('ask', ''), { ...commanded('new'), type: 9 }, {}, [], null, 'x'];
    for (const one of odd) expect(parse(one)).to.equal({ kind: 'ignored' });
  });

  it('hears no bot', () => {
    const bot = { ...commanded('new'), user: { id: ADA.id, username: 'x', bot: true } };
    expect(parse(bot)).to.equal({ kind: 'ignored' });
  });

  it('reads its own buttons, of at most 100 characters', () => {
    const [part] = render({ text: 'Approve?', question: QUESTION });
    const ids = buttonsOf(part).map(({ custom_id }) => custom_id);
    for (const id of ids) expect(id.length).to.be.at.most(100);
    const button = {
      kind: 'button' as const,
      sender: ADA,
      approvalId: ID,
      digest: DIGEST.slice(0, 48),
    };
    const [approve = '', deny = ''] = ids;
    expect(parse(pressed(approve))).to.include({ ...button, approved: true });
    expect(parse(pressed(deny))).to.include({ ...button, approved: false });
    for (const id of ['', 'y', `z${approve.slice(1)}`, `${approve}0`]) {
      expect(parse(pressed(id))).to.equal({ kind: 'ignored' });
    }
  });

  it('has a button for each scope in which the approval may stand', () => {
    const question = { ...QUESTION, grantScopes: ['conversation', 'host'] as const };
    const [part] = render({ text: 'Approve?', question });
    const buttons = buttonsOf(part);
    expect(buttons.map(({ label }) => label)).to.equal([
      ...['Approve', 'Deny', 'This conversation', 'This host, 30 days'],
    ]);
    for (const [at, scope] of [
      [2, 'conversation'],
      [3, 'host'],
    ] as const) {
      const heard = parse(pressed(buttons[at]?.custom_id ?? ''));
      const decision = { approvalId: ID, digest: DIGEST.slice(0, 48), approved: true, scope };
      expect(heard).to.include(decision);
    }
  });
});

describe('discord outbound', () => {
  let fake: Awaited<ReturnType<typeof openDiscord>>;
  let reach: ReturnType<typeof reachOf>;
  before(async () => {
    fake = await openDiscord();
    reach = reachOf({ ...SETTINGS, baseUrl: fake.baseUrl });
  });
  after(async () => {
    await reach.close();
    fake.close();
  });

  it('sends a direct message that mentions nobody and shows no preview', async () => {
    const [part = {}] = discord.render({
      title: 'Nightly report',
      text: 'See https://a.example/_x_',
    });
    const sent = await discord.send(reach, ADA.id, part);
    expect(sent).to.include({ verdict: 'sent', status: 200, receipt: '110000000000000011' });
    expect(fake.messages.at(-1)).to.equal({
      content: '**Nightly report**\n\nSee <https://a.example/_x_>',
      allowed_mentions: { parse: [] },
      flags: 4,
    });
  });

  it('makes no markup and no tag of the text of strangers', () => {
    for (const [text, wanted] of [
      ['*a* __b__ ~~c~~ ||d|| `e`', '\\*a\\* \\_\\_b\\_\\_ \\~\\~c\\~\\~ \\|\\|d\\|\\| \\`e\\`'],
      ['[click](https://evil.example/*_)', '\\[click\\](<https://evil.example/*_>)'],
      ['<@53908232506183680> <t:1:R>', '\\<@\u200b53908232506183680\\> \\<t:1:R\\>'],
      ['# a\n-# b\n- c\n1. d\n> e', '\\# a\n\\-# b\n\\- c\n1\\. d\n\\> e'],
      ['a\\*b\\', 'a\\\\\\*b\\\\'],
      ['``` a b\nx', '\\`\\`\\` a b\nx'],
    ] as const) {
      expect(shown(text)).to.equal(wanted);
    }
    const [code] = discord.render({ title: null, text: '````\na ``` b\n````', isMarkdown: true });
    expect(code?.content).to.equal('```\na `\u200b`` b\n```');
  });

  it('splits at 2,000 characters, and loses none', () => {
    for (const text of ['*'.repeat(10_000), 'word '.repeat(4_000), '🦊'.repeat(5_000)]) {
      const parts = render({ title: 'A title', text });
      expect(parts.map(discordFault).filter((fault) => fault !== null)).to.equal([]);
      const read = parts.map(({ content }) => content.replace(/\\(?=[*\\])/g, '')).join('');
      expect(read.replace('**A title**\n', '').trim().replace(/\s+/g, ' ')).to.equal(text.trim());
    }
    const question = render({ text: 'line\n'.repeat(1000), question: QUESTION });
    expect(question.map((part) => buttonsOf(part).length)).to.equal([0, 0, 0, 2]);
  });

  it('tells what to try again from what may have arrived', async () => {
    const [part = {}] = discord.render({ title: null, text: 'hi' });
    const outcome = async (answer: ReturnType<typeof refuse>) => {
      fake.refuse(answer);
      const sent = await discord.send(reach, ADA.id, part);
      return [sent.verdict, 'afterMs' in sent ? sent.afterMs : null];
    };
    expect(await outcome(refuse(429, 0, { retry_after: 0.3, global: false }))).to.equal([
      'retry',
      300,
    ]);
    expect(await outcome(refuse(403, 50007))).to.equal(['failed', null]);
    expect(await outcome(refuse(500, 0))).to.equal(['unknown', null]);
    expect(await outcome((response) => void response.destroy())).to.equal(['unknown', null]);
    const stranger = await discord.send(reach, '1', part);
    expect(stranger.verdict).to.equal('failed');
    fake.refuse(refuse(403, 50007));
    expect(await discord.send(reach, ADA.id, part)).to.include({
      error:
        'The bot cannot message this user. The user must share a server with the bot and allow direct messages from the bot',
    });
  });

  it('replies to the person alone, and replaces a decided question', () => {
    const event = {
      kind: 'message',
      sender: ADA,
      eventId: '1',
      replyTo: 'a:b',
      text: 'x',
    } as const;
    expect(discord.reply(event, 'Your code is K7MPXA')).to.equal({
      type: 4,
      data: { content: 'Your code is K7MPXA', allowed_mentions: { parse: [] }, flags: 68 },
    });
    const button = { ...event, kind: 'button', approved: true, ...QUESTION } as const;
    expect(discord.reply(button, 'Approved', true)).to.equal({
      type: 7,
      data: { content: 'Approved', allowed_mentions: { parse: [] }, flags: 4, components: [] },
    });
    expect(discord.reply(button, 'Not yours', false)).to.include({ type: 4 });
  });

  it('replies later where it was late', async () => {
    const event = {
      ...{ sender: ADA, eventId: '1', text: 'x' },
      replyTo: `${APPLICATION}:aW50ZXJhY3Rpb246ODQ2NDYyNjM5`,
    };
    const command = { ...event, kind: 'message' } as const;
    const button = { ...event, kind: 'button', approved: true, ...QUESTION } as const;
    const { deferral } = discord;
    expect([deferral?.reply(command), deferral?.reply(button)]).to.equal([
      { type: 5, data: { flags: 64 } },
      { type: 6 },
    ]);
    await deferral?.finish(reach, command, { text: 'Two agents', isOver: false });
    await deferral?.finish(reach, command, null);
    await deferral?.finish(reach, button, { text: 'Approved', isOver: true });
    await deferral?.finish(reach, button, { text: 'Not yours', isOver: false });
    await deferral?.finish(reach, button, null);
    expect(fake.later.map(({ asked, body }) => [asked, body.content])).to.equal([
      ['PATCH /messages/@original', 'Two agents'],
      ['PATCH /messages/@original', 'One moment. The reply is sent as a direct message.'],
      ['PATCH /messages/@original', 'Approved'],
      ['POST ', 'Not yours'],
    ]);
  });

  it('checks who we are, and whose the public key is', async () => {
    expect(await discord.check(reach)).to.equal({ ok: true, account: 'Adjutant' });
    const other = { ...reach.settings, values: { publicKey: '0'.repeat(64) } };
    expect(await discord.check({ ...reach, settings: other })).to.equal({
      ok: false,
      error: 'The publicKey does not belong to the application of the botToken',
    });
    const none = { ...reach.settings, secrets: { botToken: 'no' } };
    expect(await discord.check({ ...reach, settings: none })).to.equal({
      ok: false,
      error: 'Discord returned 401: refused',
    });
  });
});
