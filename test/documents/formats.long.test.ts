import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp, until } from '../harness/app.js';
import { upload } from '../harness/upload.js';
import {
  flatSlides,
  type Maker,
  openMaker,
  share,
  withJapaneseFont,
  withPrograms,
} from './files.js';
import { grayTiff } from './tiff.js';
import { book } from './zip.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const OVER = ['completed', 'failed', 'cancelled'];
const SLIDES = [
  ['The turbine at Übersee', 'Größe und Maß'],
  ['第二のスライド', '日本語のテキスト'],
  ['Third & last', 'a < b'],
];
const JAPANESE = [
  '人類社会のすべての構成員の固有の尊厳と平等で譲ることのできない権利とを承認することは、',
  '世界における自由、正義及び平和の基礎である。',
];
/** The text of about a page. Each paragraph has other words, with figures and punctuation. */
const PARAGRAPHS = [
  'On the morning of 14 March 1887 the keeper of the Wexcombe light found seventeen crates upon the sand.',
  'Each crate bore the mark of Harrow & Sons, Bristol, and a number between 204 and 239, painted in white.',
  'He wrote to the board at once: "The lids are sealed with lead; I have opened none of them, as you ask."',
  'The reply took nine days. It allowed 3.75 pounds for storage, and forbade him to speak of the matter.',
  'By April, however, the quarry road was busy with visitors who paid sixpence to look over the wall.',
  'A surveyor measured the beach: 412 yards from the jetty to the wreck, and 58 from the wreck to the pool.',
  'His map, which hangs in the town hall, shows exactly where the rocks would tear a wooden hull apart.',
  'Why the vessel sailed without a pilot is unknown; its log ends on a Tuesday, in the middle of a word.',
];

describe('the text of further files by real programs', withPrograms, () => {
  let app: TestApp;
  let token: string;
  let maker: Maker;
  before(async () => {
    if (withPrograms.skip) return;
    app = await startApp();
    ({ token } = await app.register('ada'));
    maker = await openMaker();
  });
  after(async () => {
    await maker?.close();
    await app?.stop();
  });

  const read = async (name: string, content: Uint8Array, fields: Record<string, string> = {}) => {
    const { body } = await upload(app, token, [{ name, content }], fields);
    const path = `/api/documents/${body.documents[0]?.id}`;
    const document = await until(
      async () => (await app.call('GET', path, { token })).body,
      ({ status }) => OVER.includes(status),
      90_000,
    );
    expect([name, document.status, document.error]).to.equal([name, 'completed', null]);
    return document;
  };
  const pagesOf = async ({ id, pages }: { id: string; pages: number }): Promise<string[]> => {
    const numbers = Array.from({ length: pages }, (_, at) => at + 1);
    const replies = numbers.map((number) =>
      app.call('GET', `/api/documents/${id}/pages/${number}`, { token }),
    );
    return (await Promise.all(replies)).map(({ body }) => body.text);
  };

  it('is that of each slide of a presentation', async () => {
    const flat = flatSlides(
      ...SLIDES.map((lines) =>
        lines.map((line) => line.replace('&', '&amp;').replace('<', '&lt;')),
      ),
    );
    for (const to of ['pptx', 'odp']) {
      const content = await maker.convert(flat, { from: 'fodp', to });
      const pages = await pagesOf(await read(`slides.${to}`, content));
      expect(pages, to).to.equal(SLIDES.map((lines) => lines.join('\n')));
    }
  });

  it('is that of each chapter of a book, in the order in which it is read', async () => {
    const chapter = (name: string, title: string, text: string) => ({
      ...{
        name,
        content: `<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>Not in the text</title></head><body><h1>${title}</h1><p>${text}</p></body></html>`,
      },
    });
    const content = book([
      chapter('z-first.xhtml', 'Vorwort', 'Die Größe der Straße — „über alles“ gemessen.'),
      chapter('text/middle.xhtml', '第一章', JAPANESE.join('')),
      chapter('a%20last.xhtml', 'End', 'Fish &amp; chips, na&#239;vely.'),
    ]);
    expect(await pagesOf(await read('book.epub', content))).to.equal([
      '# Vorwort\n\nDie Größe der Straße — „über alles“ gemessen.',
      `# 第一章\n\n${JAPANESE.join('')}`,
      '# End\n\nFish & chips, naïvely.',
    ]);
  });

  it('is recognized on each of the pages of a TIFF file, in their order', async () => {
    const { createCanvas, loadImage } = await import('@napi-rs/canvas');
    const wanted = PARAGRAPHS.slice(0, 4);
    const height = 400;
    const scans = wanted.map(async (text) => {
      const html = `<body style="margin:120px;font:34px/1.5 serif;background:#fff"><p>${text}</p>`;
      const image = await loadImage(await maker.picture(html));
      const context = createCanvas(image.width, height).getContext('2d');
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, image.width, height);
      return { width: image.width, height, pixels: data.filter((_, at) => at % 4 === 0) };
    });
    const pixels = (await Promise.all(scans)).map((scan) => ({
      ...scan,
      pixels: new Uint8Array(scan.pixels),
    }));
    const document = await read('fax.tiff', grayTiff(pixels));
    expect(document).to.include({ pages: wanted.length, ocr: 'all' });
    const pages = await pagesOf(document);
    expect(pages.map((text, at) => share(text, wanted[at] ?? '') > 0.98)).to.equal(
      wanted.map(() => true),
    );
  });

  it('is recognized on an A4 page at 300 dpi', async () => {
    const content = await maker.scan(
      `<body style="margin:110px;font:24px/1.6 serif;background:#fff">${PARAGRAPHS.map((text) => `<p>${text}</p>`).join('')}`,
    );
    expect([content.readUInt32BE(16), content.readUInt32BE(20)]).to.equal([2480, 3508]);
    const document = await read('a4.png', content);
    expect(document.ocr).to.equal('all');
    expect(share(document.ocrText, PARAGRAPHS.join(' '))).to.be.above(0.98);
  });

  it('is Japanese, copied from a PDF and recognized on a page', withJapaneseFont, async () => {
    const html = (style: string) =>
      `<body lang="ja" style="background:#fff;font-family:IPAGothic;${style}">${JAPANESE.map((line) => `<p>${line}</p>`).join('')}`;
    const printed = await read('japanese.pdf', await maker.pdf(html('')));
    expect(printed.ocr).to.equal('none');
    expect(printed.ocrText.replace(/\s+/g, '')).to.equal(JAPANESE.join(''));
    const picture = await maker.scan(html('margin:110px;font-size:24px;line-height:1.8'));
    const scanned = await read('japanese.png', picture, { language: 'jpn' });
    expect(scanned).to.include({ ocr: 'all', language: 'jpn' });
    // Its lines are broken, and nothing else stands between its characters.
    const lines = scanned.ocrText.replace(/\n+/g, '');
    expect(lines).to.not.match(/\s/);
    expect(share(lines, JAPANESE.join(''))).to.be.above(0.98);
  });
});
