import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Client, createClient } from '../../src/client/client.js';
import { PASSWORD, until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import * as bot from '../harness/telegram.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const MIB = 1024 * 1024;
const LINE = 'Every word of this file is to arrive.\n';
const CONTENT = LINE.repeat(Math.ceil((2 * MIB) / LINE.length));

/** The moments of the kills: before any byte, after some of the content, and after all of it. */
const MOMENTS = ['before', 'within', 'behind'] as const;

describe('a file in a chat, with kills', () => {
  let home: string;
  let telegram: bot.Telegram;
  let token = '';
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-chatfiles-'));
    telegram = await bot.openTelegram();
  });
  after(async () => {
    telegram.close();
    await rm(home, { recursive: true, force: true });
  });

  const setUp = async (daemon: Daemon): Promise<void> => {
    const body = { username: 'ada', password: PASSWORD };
    ({ token } = await createClient({ url: daemon.url }).auth.register({ body }));
    const client = clientOf(daemon);
    const values = { botToken: bot.TOKEN, webhookSecret: bot.WEBHOOK_SECRET };
    const platform = { baseUrl: telegram.baseUrl, values };
    await client.platforms.update({ kind: 'telegram', body: platform });
    const { code } = await client.channels.codes({ body: {} });
    await deliver(daemon, bot.written(1, `/link ${code}`));
  };
  const clientOf = ({ url }: Daemon): Client => createClient({ url, token });
  const deliver = async ({ url }: Daemon, { headers, body }: bot.Update): Promise<void> => {
    const init = { method: 'POST', headers, body };
    const { status } = await fetch(`${url}/api/messenger-webhook`, init);
    expect(status).to.equal(200);
  };

  /** Keeps a file at Telegram, whose first download goes as far as the moment; resolves then. */
  const keep = (id: string, moment: (typeof MOMENTS)[number]): Promise<void> =>
    new Promise((reached) => {
      const content = `${moment} ${CONTENT}`;
      let isFirst = true;
      const answer = (response: ServerResponse) => {
        if (!isFirst) return void response.end(content);
        isFirst = false;
        if (moment === 'before') return reached();
        response.writeHead(200, { 'content-length': content.length });
        const part = moment === 'within' ? content.slice(0, MIB) : content;
        response.write(part, () => setTimeout(reached, 100));
      };
      telegram.files.set(id, { content, answer });
    });

  it('is kept once, read whole, and answered for once', async () => {
    let daemon = await startDaemon({ home });
    await setUp(daemon);
    for (const [at, moment] of MOMENTS.entries()) {
      const reached = keep(moment, moment);
      const update = bot.written(10 + at, '', bot.documentOf(moment, `${moment}.txt`));
      await deliver(daemon, update);
      await reached;
      await daemon.end('SIGKILL');
      daemon = await startDaemon({ home });
      await deliver(daemon, update);
    }
    const client = clientOf(daemon);
    const { documents } = await until(
      () => client.documents.list(),
      (list) =>
        list.documents.length === MOMENTS.length &&
        list.documents.every(({ status }) => status === 'completed'),
      60_000,
    );
    const files = documents.map(({ filename, bytes }) => [filename, bytes]);
    const wanted = MOMENTS.map((moment) => [`${moment}.txt`, moment.length + 1 + CONTENT.length]);
    expect(files.sort()).to.equal(wanted.sort());
    const told = () =>
      telegram.calls.flatMap(({ text }) =>
        /is stored|was already stored/.test(String(text)) ? [text] : [],
      );
    await until(
      async () => told(),
      ({ length }) => length >= MOMENTS.length,
    );
    const { operations } = await client.operations.list({ query: { kind: 'channels.file' } });
    expect(operations.map(({ status }) => status)).to.equal(MOMENTS.map(() => 'completed'));
    expect(told().length).to.equal(MOMENTS.length);
    await daemon.end('SIGTERM');
  });
});
