import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import { createCanvas, GlobalFonts } from '@napi-rs/canvas';
import { uploadDocuments } from '../../../src/client/upload.js';
import type { Owner } from '../../harness/account.js';
import { atCrashPoints, type Family, query } from './crashpoints.js';

/** More pages than are stored at once. The first two are the message and its picture or text. */
const PAGES = 51;
/** The recognition takes longer than all else of a round. */
const PICTURE_EVERY = 4;
const FONT = fileURLToPath(
  import.meta.resolve('pdfjs-dist/standard_fonts/LiberationSans-Regular.ttf'),
);
const FAMILY = 'Sheet';

const picture = (text: string): Buffer => {
  const canvas = createCanvas(360, 70);
  const context = canvas.getContext('2d');
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = 'black';
  context.font = `32px ${FAMILY}`;
  context.fillText(text, 20, 45);
  return canvas.toBuffer('image/png');
};

const attachment = (name: string, type: string, base64: string): string =>
  [
    `--b\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: base64`,
    `Content-Disposition: attachment; filename="${name}"\r\n\r\n${base64}\r\n`,
  ].join('\r\n');

/** A message whose pages contain "page 1 of 7", "page 2 of 7" and so on. */
const mail = (n: number, hasPicture: boolean): Buffer => {
  const attachments = Array.from({ length: PAGES - 1 }, (_, at) => {
    const text = `page ${at + 2} of ${n}`;
    return hasPicture && at === 0
      ? attachment(`${at}.png`, 'image/png', picture(text).toString('base64'))
      : attachment(`${at}.txt`, 'text/plain', Buffer.from(text).toString('base64'));
  });
  return Buffer.from(
    [
      'Subject: Scans\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n',
      `--b\r\nContent-Type: text/plain\r\n\r\npage 1 of ${n}\r\n`,
      ...attachments,
      '--b--\r\n',
    ].join(''),
  );
};

export const documentCrashes: Family = ({ describe, it }, points) => {
  describe('an uploaded document, with kills after its changes', () => {
    it('is not lost once acknowledged, and has each page and its knowledge entry once', async () => {
      GlobalFonts.registerFromPath(FONT, FAMILY);
      const changes = await atCrashPoints(points, {
        prepare: async ({ owner }) => {
          const content = Buffer.from('The first document.');
          await uploadDocuments(owner, [{ filename: 'first.txt', content }], {});
        },
        round: (n) => {
          const hasPicture = n % PICTURE_EVERY === 0;
          const file = { filename: `mail${n}.eml`, content: mail(n, hasPicture) };
          const upload = async (owner: Owner): Promise<string | undefined> =>
            (await uploadDocuments(owner, [file], {})).documents[0]?.id;
          let acknowledged: string | undefined;
          return {
            run: async ({ owner, settled }) => {
              acknowledged = await upload(owner);
              await settled();
            },
            verify: async ({ owner, home, settled }) => {
              const ids = query(home, 'SELECT id FROM documents WHERE filename = ?', file.filename);
              if (acknowledged) expect(ids).to.equal([acknowledged]);
              const id = (await upload(owner)) ?? '';
              if (ids.length > 0) expect(ids).to.equal([id]);
              await settled();
              const document = await owner.documents.get({ id });
              const { status, error, pageList, ocr } = document;
              expect([status, error, ocr]).to.equal([
                'completed',
                null,
                hasPicture ? 'some' : 'none',
              ]);
              const pages = Array.from({ length: PAGES }, (_, at) => at + 1);
              expect(pageList.map(({ number }) => number)).to.equal(pages);
              const numbers = [...document.ocrText.matchAll(/page (\d+) of (\d+)/g)];
              expect(numbers.map(([, page, of]) => [Number(page), Number(of)])).to.equal(
                pages.map((page) => [page, n]),
              );
              const { entries } = await owner.knowledge.list({ query: { q: file.filename } });
              expect(entries.map((entry) => [entry.id, entry.status])).to.equal([
                [document.knowledgeId ?? '', 'ready'],
              ]);
              await expectSameFiles(home);
            },
          };
        },
      });
      expect(changes).to.include(['fsync', 'rename', 'reply POST /api/documents/upload']);
      expect(changes.filter((change) => change === 'commit').length).to.be.at.least(8);
    });
  });
};

/** Expects one original per document, and no temporary file. */
const expectSameFiles = async (home: string): Promise<void> => {
  const [folder = ''] = await readdir(join(home, 'documents'));
  const originals = await readdir(join(home, 'documents', folder));
  expect(originals.sort()).to.equal(
    query(home, 'SELECT sha256 FROM documents ORDER BY sha256').map(String),
  );
  expect(await readdir(join(home, 'scratch'))).to.equal([]);
};
