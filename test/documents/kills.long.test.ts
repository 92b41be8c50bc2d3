import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Client, createClient } from '../../src/client/client.js';
import { PASSWORD, until } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';
import { upload } from '../harness/upload.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const ATTACHMENTS = 20;
/** The moments of the kills, in milliseconds after the upload began. */
const KILLS = [20, 60, 120, 200, 350, 500, 700, 1000, 1500, 2200];
/** A message with files, each a page of its own. */
const mailOf = (name: string): string =>
  [
    `Subject: ${name}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n`,
    `--b\r\nContent-Type: text/plain\r\n\r\nThe message ${name}.\r\n`,
    ...Array.from(
      { length: ATTACHMENTS },
      (_, at) =>
        `--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename="${at}.txt"\r\n\r\nFile ${at} of ${name}.\r\n`,
    ),
    '--b--\r\n',
  ].join('');

/** Expects all pages of a document once, and its entry of knowledge. */
const expectWhole = async (
  client: Client,
  { id, filename }: { id: string; filename: string },
): Promise<void> => {
  const { pageList, ocrText, knowledgeId } = await client.documents.get({ id });
  const numbers = Array.from({ length: ATTACHMENTS + 1 }, (_, at) => at + 1);
  expect(pageList.map(({ number }) => number)).to.equal(numbers);
  expect(ocrText).to.contain(`File ${ATTACHMENTS - 1} of ${filename}.`);
  expect(knowledgeId).to.be.a.string();
};

describe('documents, killed', () => {
  let home: string;
  let token = '';
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-documents-'));
  });
  after(() => rm(home, { recursive: true, force: true }));

  /** Uploads a message, kills the daemon after that time; resolves to what was acknowledged. */
  const killDuring = async (name: string, afterMs: number): Promise<string[]> => {
    const daemon = await startDaemon({ home });
    if (token === '') {
      const body = { username: 'ada', password: PASSWORD };
      ({ token } = await createClient({ url: daemon.url }).auth.register({ body }));
    }
    const sent = upload(daemon, token, [{ name, content: mailOf(name) }]).then(
      ({ body }) => body.documents.map(({ id }) => id),
      () => [],
    );
    await pause(afterMs);
    await daemon.end('SIGKILL');
    return sent;
  };

  it('lose nothing that was acknowledged, repeat nothing, and are all read', async () => {
    const acknowledged = new Set<string>();
    for (const [round, afterMs] of KILLS.entries()) {
      const mail = `mail${round}.eml`;
      for (const id of await killDuring(mail, afterMs)) acknowledged.add(id);
    }
    const daemon = await startDaemon({ home });
    const client = createClient({ url: daemon.url, token });
    const { documents } = await until(
      () => client.documents.list(),
      (list) => list.documents.every(({ status }) => status === 'completed'),
      90_000,
    );
    const ids = documents.map(({ id }) => id);
    expect([...acknowledged].filter((id) => !ids.includes(id))).to.equal([]);
    expect(acknowledged.size).to.be.above(0);
    for (const document of documents) await expectWhole(client, document);
    const { entries } = await client.knowledge.list();
    expect(entries.map(({ title }) => title).sort()).to.equal(
      documents.map(({ filename }) => filename).sort(),
    );
    const [owner = ''] = await readdir(join(home, 'documents'));
    expect((await readdir(join(home, 'documents', owner))).sort()).to.equal(
      documents.map(({ sha256 }) => sha256).sort(),
    );
    // There is no such folder if the last start had nothing left to read.
    expect(await readdir(join(home, 'scratch')).catch(() => [])).to.equal([]);
    await daemon.end('SIGTERM');
  });
});
