import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { mattermost } from '../../../src/providers/chat/mattermost.js';
import {
  buildMattermostButtons,
  questionIn,
} from '../../../src/providers/chat/mattermostbuttons.js';
import {
  ADA,
  BOT_TOKEN,
  COMMAND_TOKEN,
  command,
  openMattermost,
  post,
  refuse,
} from '../../harness/mattermost.js';
import { flipped, reachOf } from './reach.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const SECRETS = {
  botToken: BOT_TOKEN,
  commandTokens: `m8ote6qw7bgzmebr6pnl4qkaec ${COMMAND_TOKEN}`,
};
const SETTINGS = { baseUrl: 'https://chat.example.org', values: {}, secrets: SECRETS };
const SENDER = { id: ADA.id, name: ADA.name };

const verify = (
  { headers, body }: { headers: Record<string, string>; body: string | Buffer },
  commandTokens = SECRETS.commandTokens,
) => {
  const settings = { ...SETTINGS, secrets: { commandTokens } };
  return mattermost.verify({ headers, body: Buffer.from(body) }, settings, 0);
};
const parse = ({ body }: { body: string }) =>
  mattermost.parse({ headers: {}, body: Buffer.from(body) }, SETTINGS);
const shown = (text: string) =>
  mattermost.render({ title: null, text }).map(({ message }) => message);

describe('mattermost inbound', () => {
  it('is told by what Mattermost sends with each request', () => {
    expect(mattermost.matchesHeaders(command('link', '').headers)).to.be.true();
    expect(mattermost.matchesHeaders(post('hello').headers)).to.be.true();
    expect(mattermost.matchesHeaders({ 'user-agent': 'curl/8.5.0' })).to.be.false();
  });

  it('believes each of its tokens, in a form or in JSON', () => {
    expect(verify(command('weather', 'toronto week'))).to.be.true();
    expect(verify(post('hello'))).to.be.true();
    expect(verify(post('hello', { isJson: false }))).to.be.true();
    expect(verify(post('hello', { token: 'm8ote6qw7bgzmebr6pnl4qkaec' }))).to.be.true();
  });

  it('believes no other token, none, and nothing while none is set', () => {
    const one = (token: string) => command('link', '', { token });
    expect(verify(one(flipped(COMMAND_TOKEN).toString()))).to.be.false();
    expect(verify(one(COMMAND_TOKEN.slice(1)))).to.be.false();
    expect(verify(one(SECRETS.commandTokens))).to.be.false();
    expect(verify(one(''))).to.be.false();
    expect(verify(one(''), '')).to.be.false();
    expect(verify(one(''), ' , ')).to.be.false();
    expect(verify({ headers: command('link', '').headers, body: '{"token":["a"]}' })).to.be.false();
  });

  it('hears a command', () => {
    const event = {
      kind: 'message' as const,
      sender: SENDER,
      eventId: 'ZWZ5ZjRndzR4Y',
      replyTo: 'command',
    };
    expect(parse(command('link', ''))).to.equal([{ ...event, text: '/link' }]);
    expect(parse(command('link', 'K7MPXA'))).to.equal([{ ...event, text: '/link K7MPXA' }]);
    expect(parse(command('adjutant', 'how are you?'))).to.equal([
      { ...event, text: 'how are you?' },
    ]);
    expect(parse(command('adjutant', ''))).to.equal([{ ...event, text: '/help' }]);
  });

  it('hears a post without its trigger word, and is not asked to answer in its channel', () => {
    const event = {
      kind: 'message' as const,
      sender: SENDER,
      eventId: 'g19wczuo4tn6unyjx5qrwcd5mo',
      replyTo: null,
    };
    expect(parse(post('adjutant how are you?'))).to.equal([{ ...event, text: 'how are you?' }]);
    expect(parse(post('hello', { isJson: false }))).to.equal([{ ...event, text: 'hello' }]);
    const [heard] = parse({ body: String(post('hello').body) });
    expect(heard?.kind === 'message' && mattermost.reply(heard, 'hi')).to.be.null();
  });

  it('reads the files of a post, also without words', () => {
    const [one, two] = ['a'.repeat(26), 'b'.repeat(26)];
    const heard = (text: string, files: string, isJson = true) => {
      const [event] = parse(post(text, { files, isJson }));
      return event?.kind === 'message' ? [event.hasNoText, event.files] : event?.kind;
    };
    const fileOf = (ref: string) => ({ name: null, bytes: null, ref });
    expect(heard('', `${one},${two}`)).to.equal([true, [fileOf(one), fileOf(two)]]);
    expect(heard('look', `${one},../x`, false)).to.equal([undefined, [fileOf(one)]]);
    expect(heard('look', 'x,')).to.equal([undefined, undefined]);
    expect(heard('', 'x')).to.equal('ignored');
  });

  it('answers a command to its sender alone', () => {
    const event = {
      kind: 'message' as const,
      sender: SENDER,
      eventId: 't',
      replyTo: 'command',
      text: '',
    };
    expect(mattermost.reply(event, 'Say *that*')).to.equal({
      response_type: 'ephemeral',
      text: 'Say \\*that\\*',
    });
  });

  it("ignores what is nobody's, or says nothing", () => {
    const unnamed = 'user_id=x&trigger_id=1&command=/link';
    expect(parse({ body: unnamed })).to.equal([
      { kind: 'ignored', reason: 'it contains no user id' },
    ]);
    const bodies = ['', '{', '[]', post('adjutant ').body];
    for (const body of [...bodies, 'a'.repeat(1e6)]) {
      expect(parse({ body })).to.equal([{ kind: 'ignored' }]);
    }
  });
});

describe('mattermost outbound', () => {
  let server: Awaited<ReturnType<typeof openMattermost>>;
  let reach: ReturnType<typeof reachOf>;

  before(async () => {
    server = await openMattermost();
    reach = reachOf({ baseUrl: server.baseUrl, secrets: SECRETS });
  });

  after(async () => {
    await reach.close();
    server.close();
  });

  it('posts where the bot and the user are alone, and keeps the id of the post', async () => {
    const [part = {}] = mattermost.render({ title: 'Nightly report', text: 'Nothing new' });
    const sent = await mattermost.send(reach, ADA.id, part);
    expect(sent).to.include({
      verdict: 'sent',
      status: 201,
      receipt: `post${server.posts.length}`,
    });
    expect(server.direct.at(-1)).to.equal(['h7w4z1kq3jnxtmb5d8c9r2yf6a', ADA.id]);
    expect(server.posts.at(-1)).to.equal({
      channel_id: 'd1r3ctchann3lofthebotandan',
      message: '**Nightly report**\n\nNothing new',
      props: { attachments: [] },
    });
  });

  it('splits at 16,383 characters, escapes counted', () => {
    const text = '*word* '.repeat(5_000).trim();
    const pieces = shown(text).map(String);
    expect(pieces.every((piece) => piece.length <= 16_383)).to.be.true();
    expect(pieces.length).to.equal(3);
    expect(pieces.join('').replaceAll('\\*', '*')).to.equal(text);
  });

  it('mentions nobody, hides no link, and marks nothing up', () => {
    const shows = (text: string) => shown(text)[0];
    expect(shows('@all @channel @here')).to.equal('@\u200ball @\u200bchannel @\u200bhere');
    expect(shows('~town-square')).to.equal('~\u200btown-square');
    expect(shows('[bank](https://evil.example)')).to.equal('\\[bank\\](<https://evil.example>)');
    expect(shows('![x](https://evil.example/x.png)')).to.equal(
      '!\\[x\\](<https://evil.example/x.png>)',
    );
    expect(shows('**a** _b_ ~~c~~ `d`')).to.equal('\\*\\*a\\*\\* \\_b\\_ \\~~\u200bc\\~~ \\`d\\`');
    expect(shows('# a\n> b\n- c\n+ d\n1. e')).to.equal('\\# a\n\\> b\n\\- c\n\\+ d\n1\\. e');
    expect(shows('a\n===\nb\n---')).to.equal('a\n\u200b===\nb\n\\---');
    expect(shows('| a | b |')).to.equal('\\| a \\| b \\|');
    expect(shows('C:\\dir')).to.equal('C:\\\\dir');
  });

  it('makes an address a link that holds no other sign, and leaves code as it is', () => {
    const shows = (text: string) => shown(text)[0];
    expect(shows('See https://x.example/a_b now')).to.equal('See <https://x.example/a_b> now');
    expect(shows('https://x.example/@all/a@b')).to.equal('<https://x.example/%40all/a@b>');
    expect(shows('ada@x.example')).to.equal('ada@x.example');
    const text = '```\ncurl https://x.example @all\n```';
    const [part] = mattermost.render({ title: null, text, isMarkdown: true });
    expect(part).to.equal({ message: text });
  });

  it('waits as long as it is told', async () => {
    server.refuse(refuse(429, { 'retry-after': '3' }));
    expect(await mattermost.send(reach, ADA.id, { message: 'x' })).to.include({
      verdict: 'retry',
      status: 429,
      afterMs: 3_000,
      error: 'Mattermost returned 429: refused',
    });
  });

  it('waits as long as the limit of the server says, where nothing else does', async () => {
    const limits = { 'x-ratelimit-limit': '11', 'x-ratelimit-remaining': '0' };
    server.refuse(refuse(429, { ...limits, 'x-ratelimit-reset': '2' }));
    expect(await mattermost.send(reach, ADA.id, { message: 'x' })).to.include({
      ...{ verdict: 'retry', status: 429, afterMs: 2_000 },
    });
  });

  it('puts the buttons under the last part of a long question', () => {
    const question = { approvalId: 'approval_1', digest: 'a'.repeat(64) };
    const parts = mattermost.render({ title: null, text: 'word '.repeat(5_000), question });
    expect(parts.map((part) => part.question)).to.equal([undefined, question]);
  });

  it('signs the scope of an approval, so that a button cannot be made another', () => {
    const question = {
      ...{ approvalId: 'approval_1', digest: 'a'.repeat(64) },
      grantScopes: ['conversation' as const],
    };
    const [part] = mattermost.render({ title: null, text: 'Run it?', question });
    const shown = buildMattermostButtons(questionIn(part?.question) ?? question, ADA.id, reach);
    const actions = shown?.attachments[0]?.actions ?? [];
    expect(actions.map(({ id }) => id)).to.equal(['approve', 'deny', 'conversation']);
    const heard = (answer: string) => {
      const context = { ...actions[2]?.integration.context, answer };
      const body = Buffer.from(JSON.stringify({ user_id: ADA.id, post_id: 'p', context }));
      if (!mattermost.verify({ headers: {}, body }, reach.settings, 0)) return 'refused';
      return mattermost.parse({ headers: {}, body }, reach.settings)[0];
    };
    expect(heard('conversation')).to.include({ approved: true, scope: 'conversation' });
    for (const odd of ['host', 'approve', 'deny', 'all']) expect(heard(odd)).to.equal('refused');
  });

  it('tells what failed, what may have arrived and what did not', async () => {
    const outcome = async (answer: ReturnType<typeof refuse>) => {
      server.refuse(answer);
      return (await mattermost.send(reach, ADA.id, { message: 'x' })).verdict;
    };
    expect(await outcome(refuse(403))).to.equal('failed');
    expect(await outcome(refuse(500))).to.equal('unknown');
    expect(await outcome((response) => void response.destroy())).to.equal('unknown');
  });

  it('asks again where only the way there failed', async () => {
    const gone = reachOf({ baseUrl: 'http://127.0.0.1:1', secrets: SECRETS });
    expect(await mattermost.send(gone, ADA.id, { message: 'x' })).to.include({ verdict: 'retry' });
    await gone.close();
  });

  it('checks who we are, and says that a token is refused', async () => {
    expect(await mattermost.check(reach)).to.equal({ ok: true, account: '@adjutant' });
    const other = { ...reach, settings: { ...reach.settings, secrets: { botToken: 'no' } } };
    expect(await mattermost.check(other)).to.equal({
      ok: false,
      error: 'Mattermost returned 401: refused',
    });
  });
});
