import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { flatSlides, flatText, type Maker, openMaker, withPrograms } from '../documents/files.js';
import { type FolderStage, openFolderStage } from '../folders/stage.js';
import { opf } from './books.js';
import { alternative, attached, messageOf } from './mail.js';
import { workbook } from './office.js';
import { lines, onePage } from './pdf.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SOFT = '\u00ad';
/** Each word is in the sentence of one file. */
const WORDS =
  `anvil birch cedar dune elder fjord gorse heath inlet juniper kelp larch marsh nettle oasis
  plover quarry reed sedge thistle umber vale willow yarrow zephyr alder bracken clover dell estuary fen
  grove hollow islet jetty knoll ledge moor nook orchid pond quay ridge shoal tarn upland violet weir
  xylem yew acorn brook cove drift ember flint glade heron ivy jay`.split(/\s+/);

interface PlantedFile {
  name: string;
  content: string | Buffer;
}

const sentence = (word: string): string => `The ${word} stands behind the old mill.`;

/** Texts in several encodings and normal forms. */
const texts = (words: string[]): PlantedFile[] =>
  words.map((word, at) => {
    const text = `${sentence(word)} Größe und Maß.\n`;
    const soft = text.replace(word, `${word.slice(0, 2)}${SOFT}${word.slice(2)}`);
    const kinds: [ending: string, content: string | Buffer][] = [
      ['txt', text],
      ['txt', Buffer.from(text, 'latin1')],
      ['txt', Buffer.from(`\ufeff${text}`, 'utf16le')],
      ['txt', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
      ['txt', `\ufeff${text.normalize('NFD').replaceAll('\n', '\r\n')}`],
      ['md', `# ${word}\n\n${text}`],
      ['txt', `BM ${soft}`],
      ['csv', `GIF,sum\n${sentence(word)},9\n`],
      ['html', `<html><body><p>${text}</p></body></html>`],
      ['json', JSON.stringify({ text: sentence(word) })],
    ];
    const [ending, content] = kinds[at % kinds.length] ?? ['txt', text];
    const name = `Übung ${at}.${ending}`.normalize(at % 2 === 0 ? 'NFC' : 'NFD');
    return { name, content };
  });

/** Messages, books, forms and sheets of scripts. */
const others = (words: string[]): PlantedFile[] =>
  words.map((word, at) => {
    const text = sentence(word);
    const csv = attached('a.csv', 'text/csv', Buffer.from(`${text},9`), 'inline');
    const note = `<</Type/Annot/Subtype/FreeText/Contents(${text})/Rect[200 500 400 514]/F 4>>`;
    const kinds: [ending: string, content: Buffer][] = [
      ['eml', messageOf('See below.', [csv])],
      ['eml', messageOf(text, [])],
      ['eml', alternative('Please view this message in HTML.', `<p>${text}</p>`)],
      ['pdf', onePage({ content: lines(text) })],
      ['pdf', onePage({ content: lines('Keys:'), annotations: [note] })],
      ['xlsx', workbook(`<row><c t="inlineStr"><is><t>${text}</t></is></c></row>`)],
      ['epub', opf([`${word}%2C.xhtml`], {}, [`${word},.xhtml`], text)],
    ];
    const [ending, content] = kinds[at % kinds.length] ?? ['eml', messageOf(text, [])];
    return { name: `other ${at}.${ending}`, content };
  });

const MADE = ['docx', 'odt', 'rtf', 'pdf', 'epub', 'pptx', 'odp', 'xlsx', 'ods', 'html'];

/** Files of LibreOffice. */
const made = async (maker: Maker, words: string[]): Promise<PlantedFile[]> => {
  const files: PlantedFile[] = [];
  for (const [at, word] of words.entries()) {
    const to = MADE[at % MADE.length] ?? 'docx';
    const text = sentence(word);
    const [from, flat] =
      to === 'pptx' || to === 'odp'
        ? ['fodp', flatSlides([text])]
        : to === 'xlsx' || to === 'ods'
          ? ['csv', Buffer.from(`${text},9\n`)]
          : ['fodt', flatText(text)];
    const content = await maker.convert(flat, { from, to });
    files.push({ name: `made ${at}.${to}`, content });
  }
  return files;
};

/** Pictures of text, and PDF files of a picture alone. */
const scans = async (maker: Maker, words: string[]): Promise<PlantedFile[]> => {
  const files: PlantedFile[] = [];
  for (const [at, word] of words.entries()) {
    const text = sentence(word);
    const html = `<body style="margin:120px;font:40px serif;background:#fff"><p>${text}</p>`;
    const picture = await maker.picture(html);
    if (at % 2 === 0) files.push({ name: `scan ${at}.png`, content: picture });
    else files.push({ name: `scan ${at}.pdf`, content: await scanned(maker, picture) });
  }
  return files;
};

const scanned = (maker: Maker, picture: Buffer): Promise<Buffer> => {
  const source = `data:image/png;base64,${picture.toString('base64')}`;
  return maker.pdf(`<body style="margin:0"><img src="${source}" style="width:100%">`);
};

/** Files that cannot be read, with the reason that is shown for each. */
const unreadable = async (maker: Maker): Promise<Record<string, [Buffer, reason: string]>> => {
  const pdf = onePage({ content: lines('Locked.') });
  const docx = await maker.convert(flatText('Cut off.'), { from: 'fodt', to: 'docx' });
  return {
    'blank.epub': [opf([]), 'The EPUB file lists no chapters. Use an intact copy of the file'],
    'cut.docx': [
      docx.subarray(0, docx.length / 2),
      'The file is damaged or incomplete. Use an intact copy of the file',
    ],
    'locked.pdf': [
      await maker.qpdf(pdf, '--encrypt', 'user', 'owner', '256', '--'),
      'The file is password-protected. Remove the password from the file. An uploaded PDF file can also be reprocessed with the password',
    ],
    'old.doc': [
      await maker.convert(flatText('Old.'), { from: 'fodt', to: 'doc' }),
      'The file has the unsupported file type .doc. Save it as .docx or PDF',
    ],
    'photo.raw': [Buffer.from([0, 1, 2, 3]), 'The file type is not supported'],
  };
};

describe('a folder of 60 ordinary files', { ...withPrograms }, () => {
  let stage: FolderStage;
  let maker: Maker;
  before(async () => {
    if (withPrograms.skip) return;
    stage = await openFolderStage();
    maker = await openMaker();
  });
  after(async () => {
    await maker?.close();
    await stage?.stop();
  });

  it('is found by the sentence of each, and what was not read is named', async () => {
    const files = [
      ...texts(WORDS.slice(0, 20)),
      ...others(WORDS.slice(20, 34)),
      ...(await made(maker, WORDS.slice(34, 54))),
      ...(await scans(maker, WORDS.slice(54, 60))),
    ];
    expect(files.length).to.equal(60);
    const refused = Object.entries(await unreadable(maker));
    await stage.write({
      ...Object.fromEntries(files.map(({ name, content }) => [name, content])),
      ...Object.fromEntries(refused.map(([name, [content]]) => [name, content])),
    });
    const { result } = await stage.index({ path: stage.folder }, 400_000);
    const { body } = await stage.call('GET', '/api/knowledge/folders');
    const at = `/api/knowledge/folders/${body.folders[0].id}`;
    const { body: folder } = await stage.call('GET', at);
    expect(folder.failures).to.equal(refused.map(([path, [, error]]) => ({ path, error })));
    expect(result).to.include({ read: files.length });
    const wrong: string[] = [];
    for (const [at, { name }] of files.entries()) {
      const found = await stage.found(`"${sentence(WORDS[at] ?? '').slice(0, -1)}"`);
      if (found.join() !== name.normalize('NFC')) wrong.push(`${name}: ${found.join(', ')}`);
    }
    expect(wrong).to.equal([]);
  });
});
