import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { ChannelMessage } from '../../../src/providers/chat/platform.js';
import { slack } from '../../../src/providers/chat/slack.js';
import {
  ADA,
  BOT_TOKEN,
  commanded,
  lose,
  openSlack,
  pressed,
  refuse,
  SIGNING_SECRET,
  type Slack,
  TEAM,
  written,
} from '../../harness/slack.js';
import { flipped, reachOf } from './reach.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** That of Slack's own documentation of signed requests. */
const PUBLISHED = {
  at: 1531420618,
  signature: 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
};
const SETTINGS = {
  baseUrl: 'https://slack.com/api',
  values: {},
  secrets: { signingSecret: SIGNING_SECRET, botToken: BOT_TOKEN },
};
const EVIL = 'https://evil.example|bank';
const DIGEST = '4f2a91c0'.repeat(8);
const QUESTION = { approvalId: 'approval_01k9x', digest: DIGEST };

const verify = (given: {
  at?: string;
  mac?: string;
  body?: Buffer;
  now?: number;
  secret?: string;
}) =>
  slack.verify(
    {
      headers: {
        'x-slack-request-timestamp': given.at ?? String(PUBLISHED.at),
        'x-slack-signature': given.mac ?? PUBLISHED.signature,
      },
      body: given.body ?? Buffer.from(PUBLISHED.body),
    },
    { ...SETTINGS, secrets: { signingSecret: given.secret ?? SIGNING_SECRET } },
    given.now ?? PUBLISHED.at * 1000,
  );
const parse = ({ body }: { body: string }) =>
  slack.parse({ headers: {}, body: Buffer.from(body) }, SETTINGS)[0];
const texts = (message: ChannelMessage) => slack.render(message).map(({ text }) => String(text));

describe('slack inbound', () => {
  it('believes the signature that Slack publishes, for five minutes', () => {
    expect(verify({})).to.be.true();
    for (const now of [300_000, -300_000]) {
      expect(verify({ now: PUBLISHED.at * 1000 + now })).to.be.true();
      expect(verify({ now: PUBLISHED.at * 1000 + now + Math.sign(now) })).to.be.false();
    }
  });

  it('believes nothing else', () => {
    const other = PUBLISHED.signature.replace(/3$/, '2');
    expect(verify({ body: flipped(PUBLISHED.body) })).to.be.false();
    for (const mac of ['', 'v0=', other, PUBLISHED.signature.slice(0, -1), `v1${other.slice(2)}`]) {
      expect(verify({ mac })).to.be.false();
    }
    for (const at of ['', 'x', '1531420619', '-1', '1e9', '99999999999999']) {
      expect(verify({ at })).to.be.false();
    }
    for (const secret of ['', SIGNING_SECRET.slice(1)]) expect(verify({ secret })).to.be.false();
    expect(slack.verify({ headers: {}, body: Buffer.alloc(0) }, SETTINGS, 0)).to.be.false();
  });

  it('reads a message, a mention, a slash command and a button', () => {
    expect(
      parse(written('&lt;hi&gt; <@U1> <https://a.example|here>', 0, { event_id: 'Ev1' })),
    ).to.equal({
      kind: 'message',
      sender: ADA,
      text: '<hi> @U1 here (https://a.example)',
      eventId: 'Ev1',
      replyTo: 'D024BE91L',
    });
    expect(parse(commanded('/link', ' K7MPXA', 1))).to.equal({
      kind: 'message',
      sender: { id: ADA.id, name: 'ada' },
      text: '/link K7MPXA',
      eventId: '13345224609.1./link K7MPXA',
      replyTo: 'command',
    });
    expect(parse(pressed({ action_id: 'deny', value: `approval_1:${DIGEST}` }, 2))).to.equal({
      kind: 'button',
      sender: { id: ADA.id, name: 'ada' },
      approvalId: 'approval_1',
      digest: DIGEST,
      approved: false,
      eventId: 't2U2CERLKJA',
      replyTo: 'D024BE91L:1503435956.000001',
    });
  });

  it('reads the scope of an approval', () => {
    const value = `approval_1:${DIGEST}`;
    const heard = (action_id: string) => parse(pressed({ action_id, value }, 2));
    expect(heard('approve_host')).to.include({ approved: true, scope: 'host' });
    expect(heard('approve_conversation')).to.include({ approved: true, scope: 'conversation' });
    expect(heard('approve')).to.not.include('scope');
    for (const odd of ['approve_all', 'approve_', 'deny_all', 'host']) {
      expect(heard(odd)).to.equal({ kind: 'ignored' });
    }
  });

  it('tells apart a file without words, sent to the bot alone, or a recording with a mention', () => {
    const files = [{ id: 'F0RDC39U1', mimetype: 'audio/mp4' }];
    const sent = (event: object, text = '') =>
      parse(
        written(text, 0, { event_id: 'Ev1', event: { subtype: 'file_share', files, ...event } }),
      );
    const heard = { kind: 'message' as const, sender: ADA, eventId: 'Ev1', replyTo: 'D024BE91L' };
    const asked = [{ name: null, bytes: null, ref: 'F0RDC39U1', isVoice: true as const }];
    expect(sent({})).to.equal({ ...heard, text: '', hasNoText: true, files: asked });
    expect(sent({}, 'look')).to.equal({ ...heard, text: 'look', files: asked });
    const mention = { type: 'app_mention', channel_type: undefined, text: '<@U0BOT>' };
    const inChannel = { repliesElsewhere: true as const, replyTo: 'D024BE91L:1503435956.000247' };
    expect(sent(mention)).to.equal({
      ...{ ...heard, ...inChannel, text: '', hasNoText: true, files: asked },
    });
    const document = { ...mention, files: [{ id: 'F1', mimetype: 'application/pdf' }] };
    for (const event of [document, { files: [] }, { bot_id: 'B1' }]) {
      expect(sent(event)).to.equal({ kind: 'ignored' });
    }
  });

  it('reads the files that Slack keeps', () => {
    const url = 'https://files.slack.com/files-pri/T1-F1/download/a.pdf';
    const files = [
      { id: 'F1', name: 'a.pdf', size: 7, url_private_download: url },
      { id: 'F2', title: 'Untitled', mode: 'snippet' },
      { id: 'F3', is_external: true, url_private: 'https://docs.example.org/' },
      ...[null, 7, {}],
    ];
    const event = { subtype: 'file_share', files };
    const heard = parse(written('look', 0, { event }));
    expect(heard?.kind === 'message' && heard.files).to.equal([
      { name: 'a.pdf', bytes: 7, ref: url },
      { name: 'Untitled', bytes: null, ref: 'F2' },
    ]);
    const linked = parse(written('look', 0, { event: { ...event, files: files.slice(2) } }));
    expect(linked?.kind === 'message' && linked.files).to.be.undefined();
  });

  it('keeps apart those who have one id in two teams', () => {
    const guest = parse(written('hi', 0, { event: { user_team: 'T0OTHER' } }));
    const local = parse(written('hi', 0));
    expect([guest, local].map((one) => one && 'sender' in one && one.sender.id)).to.equal([
      'T0OTHER:U2CERLKJA',
      `${TEAM}:U2CERLKJA`,
    ]);
  });

  it('ignores the buttons of others', () => {
    for (const button of [
      { action_id: 'open', value: `a:${DIGEST}` },
      { action_id: 'approve', value: '' },
      { action_id: 'approve', value: 'a' },
    ]) {
      expect(parse(pressed(button, 0))).to.equal({ kind: 'ignored' });
    }
  });
});

describe('slack outbound', () => {
  let fake: Slack;
  before(async () => {
    fake = await openSlack();
  });
  after(() => fake.close());

  const reach = (signal?: AbortSignal) => reachOf({ ...SETTINGS, baseUrl: fake.baseUrl }, signal);
  const send = (signal?: AbortSignal) => slack.send(reach(signal), ADA.id, { text: 'hi' });

  it('makes no markup of plain text; the title alone is bold, and an address with a sign that none has is code', () => {
    const text = '<!channel> <@U1> <https://evil.example|bank> &lt; *b* `c` @here';
    const [part] = slack.render({ title: '<!here>', text });
    expect(part).to.equal({
      text: '&lt;!here&gt;\n&lt;!channel&gt; &lt;@U1&gt; &lt;https://evil.example|bank&gt; &amp;lt; *b* `c` @here',
      mrkdwn: false,
      parse: 'none',
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
      blocks: [
        {
          type: 'rich_text',
          elements: [
            {
              type: 'rich_text_section',
              elements: [{ type: 'text', text: '<!here>', style: { bold: true } }],
            },
            {
              type: 'rich_text_section',
              elements: [
                { type: 'text', text: '<!channel> <@U1> <' },
                { type: 'text', text: EVIL, style: { code: true } },
                { type: 'text', text: '> &lt; *b* `c` @here' },
              ],
            },
          ],
        },
      ],
    });
  });

  it('splits 100,000 characters by what they are once they are escaped', () => {
    for (const text of ['x'.repeat(100_000), '<&>🦊'.repeat(20_000), 'a line\n'.repeat(14_286)]) {
      const parts = texts({ title: null, text });
      expect(parts.every(({ length }) => length <= 4000)).to.be.true();
      expect(parts.every((part) => !/&(?!amp;|lt;|gt;)/.test(part))).to.be.true();
      const read = parts
        .join('')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&amp;', '&');
      expect(read.replaceAll('\n', '')).to.equal(text.replaceAll('\n', ''));
    }
  });

  it('asks with buttons on the last part, in plain text that a block takes', () => {
    const parts = slack.render({ title: 'Asks', text: '<b>\n'.repeat(2000), question: QUESTION });
    expect(parts.slice(0, -1).every(({ blocks }) => blocks === undefined)).to.be.true();
    const [section, actions] = JSON.parse(JSON.stringify(parts.at(-1)?.blocks));
    expect(section.text).to.include({ type: 'plain_text', emoji: false });
    expect(section.text.text.length <= 3000).to.be.true();
    expect(section.text.text).to.not.match(/[<>]/);
    expect(
      actions.elements.map((one: Record<string, unknown>) => [one.action_id, one.value]),
    ).to.equal([
      ['approve', `approval_01k9x:${DIGEST}`],
      ['deny', `approval_01k9x:${DIGEST}`],
    ]);
  });

  it('offers the scopes in which an approval may stand, each with what it covers', () => {
    const question = { ...QUESTION, grantScopes: ['conversation', 'host'] as const };
    const [part] = slack.render({ title: 'Asks', text: 'Run it?', question });
    const [, { elements }] = JSON.parse(JSON.stringify(part?.blocks));
    expect(elements.map((one: Record<string, unknown>) => one.action_id)).to.equal([
      ...['approve', 'deny', 'approve_conversation', 'approve_host'],
    ]);
    expect(elements[3].confirm.text.text).to.contain('this tool, host, port and method');
  });

  it('sends to the person, and knows the receipt', async () => {
    expect(await send()).to.include({ verdict: 'sent', receipt: 'D024BE91L:1503435956.000001' });
    expect(fake.calls.at(-1)).to.equal({
      method: 'chat.postMessage',
      channel: 'U2CERLKJA',
      text: 'hi',
    });
  });

  it('sends the plain text if Slack refuses the blocks, and no question without its buttons', async () => {
    const [part = {}] = slack.render({ title: null, text: '**a** <!here>', isMarkdown: true });
    fake.refuse(refuse('invalid_blocks'));
    expect(await slack.send(reach(), ADA.id, part)).to.include({ verdict: 'sent' });
    const { blocks, ...text } = part;
    expect(fake.calls.at(-1)).to.equal({
      method: 'chat.postMessage',
      channel: 'U2CERLKJA',
      ...text,
    });
    const [asked = {}] = slack.render({ title: null, text: 'a', question: QUESTION });
    fake.refuse(refuse('invalid_blocks'));
    expect(await slack.send(reach(), ADA.id, asked)).to.include({ verdict: 'failed' });
  });

  it('tells what to try again from what to give up, and from what may have arrived', async () => {
    const verdicts = async (...answers: Parameters<Slack['refuse']>) => {
      fake.refuse(...answers);
      const sent = [];
      for (const _ of answers) sent.push(await send());
      return sent.map((one) => [one.verdict, 'afterMs' in one ? one.afterMs : undefined]);
    };
    expect(
      await verdicts(
        refuse('ratelimited', 429, { 'retry-after': '7' }),
        refuse('ratelimited'),
        refuse('channel_not_found'),
        refuse('fatal_error'),
        refuse('down', 503, { 'retry-after': '3' }),
        refuse('down', 500),
        (response) => void response.end('not json'),
        lose,
      ),
    ).to.equal([
      ['retry', 7000],
      ['retry', undefined],
      ['failed', undefined],
      ['unknown', undefined],
      ['retry', 3000],
      ['unknown', undefined],
      ['unknown', undefined],
      ['unknown', undefined],
    ]);
    const nobody = reachOf({ ...SETTINGS, baseUrl: 'http://127.0.0.1:1/api' });
    expect((await slack.send(nobody, ADA.id, { text: 'hi' })).verdict).to.equal('retry');
    await expect(send(AbortSignal.abort())).to.reject();
  });
});
