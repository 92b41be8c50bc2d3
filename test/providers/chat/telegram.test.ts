import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { telegram } from '../../../src/providers/chat/telegram.js';
import {
  ADA,
  openTelegram,
  pressed,
  refuse,
  type Telegram,
  TOKEN,
  WEBHOOK_SECRET,
  written,
} from '../../harness/telegram.js';
import { reachOf } from './reach.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const SETTINGS = {
  baseUrl: 'https://api.telegram.org',
  values: {},
  secrets: { botToken: TOKEN, webhookSecret: WEBHOOK_SECRET },
};
const DIGEST = '4f2a91c0'.repeat(8);
const ID = 'approval_01jcx2kq7m8f3k2a9v5ztw4e6r';

const parse = ({ body }: { body: string }) =>
  telegram.parse({ headers: {}, body: Buffer.from(body) }, SETTINGS)[0];
const verify = (given: string | undefined, secret = WEBHOOK_SECRET) =>
  telegram.verify(
    { headers: { 'x-telegram-bot-api-secret-token': given }, body: Buffer.alloc(0) },
    { ...SETTINGS, secrets: { webhookSecret: secret } },
    0,
  );

describe('telegram inbound', () => {
  it('believes its secret token, and nothing else', () => {
    expect(verify(WEBHOOK_SECRET)).to.be.true();
    for (const wrong of [undefined, '', 'x', `${WEBHOOK_SECRET} `, WEBHOOK_SECRET.slice(1)]) {
      expect(verify(wrong)).to.be.false();
    }
    for (const given of ['', undefined]) expect(verify(given, '')).to.be.false();
  });

  it('reads messages and commands', () => {
    const said = { kind: 'message' as const, sender: ADA, eventId: '1', replyTo: '1111111:1365' };
    expect(parse(written(1, ' hello '))).to.equal({ ...said, text: 'hello' });
    expect(parse(written(1, '/link@adj_bot K7MPXA'))).to.equal({ ...said, text: '/link K7MPXA' });
    expect(parse(written(1, '/start K7MPXA'))).to.equal({ ...said, text: '/link K7MPXA' });
    expect(parse(written(1, '/start'))).to.equal({ ...said, text: '/start' });
    for (const mark of ['forward_origin', 'forward_date', 'via_bot']) {
      const forwarded = { ...said, text: 'x', isForwarded: true as const };
      expect(parse(written(1, 'x', { [mark]: {} }))).to.equal(forwarded);
    }
  });

  it('reads the caption as the words, and tells apart what has none', () => {
    const said = { kind: 'message' as const, sender: ADA, eventId: '1', replyTo: '1111111:1365' };
    const sent = (more: object) => parse(written(1, '', { text: undefined, ...more }));
    const photo = [{ file_id: 'AgAC', file_unique_id: 'AQAD', width: 90, height: 51 }];
    const files = [{ name: 'photo 2015-09-07 17-05-32.jpg', bytes: null, ref: 'AgAC' }];
    expect(sent({ photo, caption: ' look ' })).to.equal({ ...said, text: 'look', files });
    const handedOn = { photo, caption: 'look', forward_origin: { type: 'user' } };
    expect(sent(handedOn)).to.equal({ ...said, text: 'look', isForwarded: true, files });
    for (const key of ['photo', 'voice', 'sticker', 'document', 'location']) {
      expect(sent({ [key]: {} })).to.equal({ ...said, text: '', hasNoText: true });
    }
    const group = { id: -100, type: 'group' };
    for (const more of [{ pinned_message: {} }, { photo, chat: group }, {}]) {
      expect(sent(more)).to.equal({ kind: 'ignored' });
    }
  });

  it('reads the document of a message, and none of what is no document', () => {
    const files = (more: object) => {
      const event = parse(written(1, 'x', more));
      return event?.kind === 'message' ? event.files : null;
    };
    const document = { file_id: 'BQAC', file_name: 'a.pdf', file_size: 7 };
    expect(files({ document })).to.equal([{ name: 'a.pdf', bytes: 7, ref: 'BQAC' }]);
    expect(files({ document: { file_id: 'BQAC' } })).to.equal([
      { name: null, bytes: null, ref: 'BQAC' },
    ]);
    for (const odd of [{}, { file_id: 7 }, null, 'BQAC', []]) {
      expect(files({ document: odd })).to.be.undefined();
    }
    expect(files({ document, animation: document })).to.be.undefined();
    expect(files({ photo: [{}] })).to.be.undefined();
    expect(files({ video: document })).to.be.undefined();
    expect(files({ voice: { file_id: 'AwAC', file_size: 9 } })).to.equal([
      { name: 'voice message', bytes: 9, ref: 'AwAC', isVoice: true },
    ]);
    expect(files({ audio: document })).to.equal([
      { name: 'a.pdf', bytes: 7, ref: 'BQAC', isVoice: true },
    ]);
  });

  it('hears a private chat alone, whose type may be left out', () => {
    const heard = (chat: unknown) => parse(written(1, 'hi', { chat }))?.kind;
    expect(heard({ id: 1111111 })).to.equal('message');
    for (const chat of [{ id: -100 }, { id: 1111111, type: 'group' }, { type: null }, {}, null]) {
      expect(heard(chat)).to.equal('ignored');
    }
  });

  it('reads its own buttons', () => {
    const [part] = telegram.render({
      title: null,
      text: 'Approve?',
      question: { approvalId: ID, digest: DIGEST, grantScopes: ['conversation', 'host'] },
    });
    const { inline_keyboard } = JSON.parse(JSON.stringify(part?.reply_markup));
    const [approve, deny, ...scopes] = inline_keyboard
      .flat()
      .map((one: { callback_data: string }) => one.callback_data);
    for (const data of [approve, deny, ...scopes]) {
      expect(Buffer.byteLength(data)).to.be.below(65);
    }
    const button = {
      kind: 'button' as const,
      sender: ADA,
      approvalId: ID,
      digest: DIGEST.slice(0, 24),
      eventId: '2',
      replyTo: '1111111:7:4382bfdwdsb323b2d9',
    };
    expect(parse(pressed(2, approve))).to.equal({ ...button, approved: true });
    expect(parse(pressed(2, deny))).to.equal({ ...button, approved: false });
    expect(scopes.map((data: string) => parse(pressed(2, data)))).to.equal([
      { ...button, approved: true, scope: 'conversation' },
      { ...button, approved: true, scope: 'host' },
    ]);
    for (const data of ['', 'y', `z${approve.slice(1)}`, `${approve}0`]) {
      expect(parse(pressed(2, data))).to.equal({ kind: 'ignored' });
    }
  });
});

describe('telegram outbound', () => {
  let fake: Telegram;
  before(async () => {
    fake = await openTelegram();
  });
  after(() => fake.close());

  const send = (signal?: AbortSignal) =>
    telegram.send(reachOf({ ...SETTINGS, baseUrl: fake.baseUrl }, signal), ADA.id, { text: 'hi' });

  it('makes no markup of the text of strangers; the title alone is bold', () => {
    const [part] = telegram.render({ title: 'A *hook*', text: '<b>x</b> [y](http://a.example)' });
    expect(part).to.equal({
      text: 'A *hook*\n<b>x</b> [y](http://a.example)',
      link_preview_options: { is_disabled: true },
      entities: [{ type: 'bold', offset: 0, length: 8 }],
    });
  });

  it('splits 100,000 characters into messages of 4,096 units', () => {
    for (const text of ['🦊'.repeat(50_000), 'word '.repeat(20_000), 'x'.repeat(100_000)]) {
      const parts = telegram.render({ title: null, text }).map((part) => String(part.text));
      expect(parts.every(({ length }) => length <= 4096)).to.be.true();
      expect(parts.every((part) => !/\p{Cs}/u.test(part))).to.be.true();
      expect(parts.join('')).to.equal(text);
    }
  });

  it('sends the plain text if Telegram cannot read the entities, without names and commands', async () => {
    const text = 'Ask **@ada** or /start, see https://x.example/@ada, xtg://resolve';
    const [part = {}] = telegram.render({ title: null, text, isMarkdown: true });
    fake.refuse(refuse(400, "Bad Request: can't parse entities: ENTITY_BOUNDS_INVALID"));
    const reach = reachOf({ ...SETTINGS, baseUrl: fake.baseUrl });
    expect(await telegram.send(reach, ADA.id, part)).to.include({ verdict: 'sent' });
    expect(fake.calls.at(-1)).to.equal({
      ...{ method: 'sendMessage', chat_id: ADA.id, link_preview_options: { is_disabled: true } },
      text: 'Ask @\u2060ada or /\u2060start, see https://x.example/@ada, xt\u2060g://resolve',
    });
    fake.refuse(refuse(400, 'Bad Request: chat not found'));
    expect(await telegram.send(reach, ADA.id, part)).to.include({ verdict: 'failed' });
    fake.calls.length = 0;
  });

  it('is refused by Telegram what its documents forbid', async () => {
    const reach = reachOf({ ...SETTINGS, baseUrl: fake.baseUrl });
    const outcome = async (part: object) => {
      const { verdict } = await telegram.send(reach, ADA.id, { text: 'a🦊bc', ...part });
      return verdict;
    };
    const overlap = [
      { type: 'bold', offset: 0, length: 3 },
      { type: 'italic', offset: 1, length: 3 },
    ];
    const button = { text: 'Approve', callback_data: 'x'.repeat(65) };
    expect([
      await outcome({ text: 'x'.repeat(4097) }),
      await outcome({ text: ' ' }),
      await outcome({ reply_markup: { inline_keyboard: [[button]] } }),
    ]).to.equal(['failed', 'failed', 'failed']);
    fake.calls.length = 0;
    await outcome({ entities: overlap });
    await outcome({ entities: [{ type: 'bold', offset: 0, length: 2 }] });
    await outcome({ entities: [{ type: 'bold', offset: 4, length: 2 }] });
    expect(fake.calls.map(({ entities }) => entities)).to.equal([undefined, undefined, undefined]);
  });

  it('says what Telegram has against the address', async () => {
    const reach = reachOf({ ...SETTINGS, baseUrl: fake.baseUrl });
    const install = async (receiver: string) => telegram.install?.({ ...reach, receiver });
    for (const port of ['', ':443', ':80', ':88', ':8443']) {
      const receiver = `https://adjutant.example.org${port}/api/messenger-webhook`;
      expect(await install(receiver)).to.equal({ ok: true, account: receiver });
    }
    expect(await install('https://adjutant.example.org:7340/api/messenger-webhook')).to.equal({
      ok: false,
      error:
        'Telegram returned 400: Bad Request: bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443',
    });
    expect(await install('http://adjutant.example.org/')).to.include({ ok: false });
    await reach.close();
  });

  it('sends, and tells what to try again from what may have arrived', async () => {
    expect(await send()).to.include({ verdict: 'sent', receipt: `${fake.calls.length}` });
    fake.refuse(
      refuse(429, 'Too Many Requests: retry after 5', { retry_after: 5 }),
      refuse(403, 'Forbidden: bot was blocked by the user'),
      (response) => void response.writeHead(502).end('<html>502 Bad Gateway</html>'),
      refuse(504, 'Gateway Timeout'),
      (response) => void response.destroy(),
    );
    const sent = [await send(), await send(), await send(), await send(), await send()];
    expect(sent.map((one) => [one.verdict, 'afterMs' in one ? one.afterMs : undefined])).to.equal([
      ['retry', 5000],
      ['failed', undefined],
      ['retry', undefined],
      ['unknown', undefined],
      ['unknown', undefined],
    ]);
    expect(JSON.stringify(sent[1])).to.include('403: Forbidden: bot was blocked by the user');
    expect(JSON.stringify(sent)).to.not.include(TOKEN);
    await expect(send(AbortSignal.abort())).to.reject();
  });
});
