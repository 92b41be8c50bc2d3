import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Client, createClient } from '../../src/client/client.js';
import { PASSWORD, until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import * as bot from '../harness/telegram.js';
import { convert, speak, unlessSpeech, withSpeech } from '../voice/stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** The moments of the kills: before any byte, after some, while it is transcribed, and later. */
const MOMENTS = ['before', 'within', 'behind', 'later'] as const;
const LATER_MS = { before: 0, within: 0, behind: 300, later: 1500 };

describe(`a voice message, with kills${unlessSpeech}`, { ...withSpeech }, () => {
  let home: string;
  let telegram: bot.Telegram;
  let content: Buffer;
  let token = '';
  before(async () => {
    if (withSpeech.skip) return;
    home = await mkdtemp(join(tmpdir(), 'adjutant-voicekills-'));
    telegram = await bot.openTelegram();
    content = await convert(await speak('hello world'), 'voice.ogg', ['-c:a', 'libopus']);
  });
  after(async () => {
    if (withSpeech.skip) return;
    telegram.close();
    await rm(home, { recursive: true, force: true });
  });

  const start = () => startDaemon({ home, env: { ADJUTANT_VOICE_PATH: '/usr/bin' } });
  const clientOf = ({ url }: Daemon): Client => createClient({ url, token });
  const deliver = async ({ url }: Daemon, { headers, body }: bot.Update): Promise<void> => {
    const { status } = await fetch(`${url}/api/messenger-webhook`, {
      method: 'POST',
      headers,
      body,
    });
    expect(status).to.equal(200);
  };
  const setUp = async (daemon: Daemon): Promise<void> => {
    const body = { username: 'ada', password: PASSWORD };
    ({ token } = await createClient({ url: daemon.url }).auth.register({ body }));
    const client = clientOf(daemon);
    const values = { botToken: bot.TOKEN, webhookSecret: bot.WEBHOOK_SECRET };
    await client.platforms.update({
      kind: 'telegram',
      body: { baseUrl: telegram.baseUrl, values },
    });
    const { code } = await client.channels.codes({ body: {} });
    await deliver(daemon, bot.written(1, `/link ${code}`));
  };

  /** Keeps a file at Telegram, whose first download goes as far as the moment; resolves then. */
  const keep = (moment: (typeof MOMENTS)[number]): Promise<void> =>
    new Promise((reached) => {
      let isFirst = true;
      const answer = (response: ServerResponse) => {
        const whole = !isFirst || LATER_MS[moment] > 0;
        if (isFirst) setTimeout(reached, 50 + LATER_MS[moment]);
        isFirst = false;
        if (whole) return void response.end(content);
        response.writeHead(200, { 'content-length': content.length });
        if (moment === 'within') response.write(content.subarray(0, 1000));
      };
      telegram.files.set(moment, { content, answer });
    });

  it('is said to an agent once, and its words are shown back once', async () => {
    let daemon = await start();
    await setUp(daemon);
    for (const [at, moment] of MOMENTS.entries()) {
      const reached = keep(moment);
      const voice = { text: undefined, voice: { file_id: moment, duration: 1 } };
      const update = bot.written(10 + at, '', voice);
      await deliver(daemon, update);
      await reached;
      await daemon.end('SIGKILL');
      daemon = await start();
      await deliver(daemon, update);
    }
    const client = clientOf(daemon);
    const { operations } = await until(
      () => client.operations.list({ query: { kind: 'channels.file' } }),
      (list) =>
        list.operations.length === MOMENTS.length &&
        list.operations.every(({ status }) => status === 'completed'),
      120_000,
    );
    expect(operations.map(({ error }) => error)).to.equal(MOMENTS.map(() => null));
    const heard = () =>
      telegram.calls.filter(({ text }) => String(text) === 'Transcript: “hello world”').length;
    await until(
      async () => heard(),
      (count) => count >= MOMENTS.length,
    );
    const { sessions } = await client.sessions.list();
    const [{ id = '' } = {}] = sessions;
    const { messages } = await client.sessions.messages({ id });
    const said = messages.filter(({ role }) => role === 'user').map((each) => each.content);
    expect(said).to.equal(MOMENTS.map(() => 'hello world'));
    expect(heard()).to.equal(MOMENTS.length);
    expect(await readdir(join(home, 'voice'))).to.equal([]);
    await daemon.end('SIGTERM');
  });
});
