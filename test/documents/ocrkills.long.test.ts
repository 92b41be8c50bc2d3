import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createCanvas, GlobalFonts } from '@napi-rs/canvas';
import { createClient } from '../../src/client/client.js';
import { PASSWORD, until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { upload } from '../harness/upload.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PICTURES = 3;
const LINES = 30;
/** The moments of the kills, in milliseconds after a start. */
const KILLS = [0, 100, 300, 600, 900, 1300, 1700, 2200, 2800, 3500];

/** A font that is always there: which one `sans-serif` is, if any, the machine decides. */
const FONT = fileURLToPath(
  import.meta.resolve('pdfjs-dist/standard_fonts/LiberationSans-Regular.ttf'),
);
const FAMILY = 'Sheet';

/** A scanned page of many lines, one of which has its number. */
const scan = (number: number): Buffer => {
  const canvas = createCanvas(1240, 1754);
  const context = canvas.getContext('2d');
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = 'black';
  context.font = `32px ${FAMILY}`;
  for (let line = 0; line < LINES; line++) {
    const text = `The letter of the harbour office, sheet ${number}, tells of the ferry.`;
    context.fillText(text, 80, 100 + line * 52);
  }
  return canvas.toBuffer('image/png');
};

/** A message with scanned pages. */
const mail = (): string =>
  [
    'Subject: Scans\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n',
    '--b\r\nContent-Type: text/plain\r\n\r\nThe scans of today.\r\n',
    ...Array.from({ length: PICTURES }, (_, at) => {
      const name = `Content-Disposition: attachment; filename="${at}.png"`;
      const head = `--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n${name}`;
      return `${head}\r\n\r\n${scan(at + 1).toString('base64')}\r\n`;
    }),
    '--b--\r\n',
  ].join('');

describe('the recognition of scanned pages, killed', () => {
  let home: string;
  let daemon: Daemon;
  let token: string;
  before(async () => {
    GlobalFonts.registerFromPath(FONT, FAMILY);
    home = await mkdtemp(join(tmpdir(), 'adjutant-documents-'));
    daemon = await startDaemon({ home });
    const body = { username: 'ada', password: PASSWORD };
    ({ token } = await createClient({ url: daemon.url }).auth.register({ body }));
  });
  after(async () => {
    await daemon.end('SIGKILL');
    await rm(home, { recursive: true, force: true });
  });

  it('goes on, and has each page once', async () => {
    const { body } = await upload(daemon, token, [{ name: 'scans.eml', content: mail() }]);
    const id = body.documents[0]?.id ?? '';
    for (const afterMs of KILLS) {
      await pause(afterMs);
      await daemon.end('SIGKILL');
      daemon = await startDaemon({ home });
    }
    const client = createClient({ url: daemon.url, token });
    const document = await until(
      () => client.documents.get({ id }),
      ({ status }) => status !== 'queued' && status !== 'processing',
      90_000,
    );
    expect([document.status, document.error, document.ocr]).to.equal(['completed', null, 'some']);
    const recognized = document.pageList.filter(({ ocr }) => ocr).map(({ number }) => number);
    expect([document.pageList.length, recognized]).to.equal([PICTURES + 1, [2, 3, 4]]);
    for (let number = 1; number <= PICTURES; number++) {
      expect(document.ocrText.split(`sheet ${number},`)).to.have.length(LINES + 1);
    }
    const { entries } = await client.knowledge.list();
    expect(entries.map((entry) => [entry.id, entry.status])).to.equal([
      [document.knowledgeId ?? '', 'ready'],
    ]);
    expect((await client.documents.list()).documents).to.have.length(1);
    // There is no such folder if the last start had nothing left to read.
    expect(await readdir(join(home, 'scratch')).catch(() => [])).to.equal([]);
  });
});
