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
/** A word for each file, which stands in no other one. */
const WORDS =
  `anvil birch cedar dune elder fjord gorse heath inlet juniper kelp larch marsh nettle oasis
  plover quarry reed sedge thistle umber vale willow yarrow zephyr alder bracken clover dell estuary fen
  grove hollow islet jetty knoll ledge moor nook orchid pond quay ridge shoal tarn upland violet weir
  xylem yew acorn brook cove drift ember flint glade heron ivy jay`.split(/\s+/);

interface PlantedFile {
  name: string;
  content: string | Buffer;
  phrase: string;
}

const sentence = (word: string): string => `The ${word} stands behind the old mill.`;

/** Texts in several encodings and normal forms. */
const texts = (words: string[]): PlantedFile[] =>
  words.map((word, at) => {
    const phrase = word;
    const text = `${sentence(word)} Größe und Maß.\n`;
    const kinds: [ending: string, content: string | Buffer][] = [
      ['txt', text],
      ['txt', Buffer.from(text, 'latin1')],
      ['txt', Buffer.from(`\ufeff${text}`, 'utf16le')],
      ['md', `# ${word}\n\n${text}`],
      ['txt', `BM ${text.replace(word, `${word.slice(0, 2)}${SOFT}${word.slice(2)}`)}`],
      ['csv', `GIF,sum\n${word},9\n`],
      ['html', `<html><body><p>${text}</p></body></html>`],
      ['md', text.replace(word, `${word.slice(0, 2)}-\n${word.slice(2)}`)],
    ];
    const [ending, content] = kinds[at % kinds.length] ?? ['txt', text];
    return {
      name: `Übung ${at}.${ending}`.normalize(at % 2 === 0 ? 'NFC' : 'NFD'),
      content,
      phrase,
    };
  });

/** Messages, books, forms and sheets. */
const others = (words: string[]): PlantedFile[] =>
  words.map((word, at) => {
    const text = sentence(word);
    const csv = attached('a.csv', 'text/csv', Buffer.from(`${word},9`), 'inline');
    const note = `<</Type/Annot/Subtype/FreeText/Contents(${text})/Rect[200 500 400 514]/F 4>>`;
    const kinds: [ending: string, content: Buffer, phrase: string][] = [
      ['eml', messageOf('See below.', [csv]), word],
      ['eml', alternative('Please view this message in HTML.', `<p>${text}</p>`), word],
      ['pdf', onePage({ content: lines(text) }), word],
      ['pdf', onePage({ content: lines('Keys:'), annotations: [note] }), word],
      ['xlsx', workbook(`<row><c t="inlineStr"><is><t>${word}</t></is></c></row>`), word],
      ['epub', opf([`${word}%2C.xhtml`], {}, [`${word},.xhtml`]), 'tide'],
    ];
    const [ending, content, phrase] = kinds[at % kinds.length] ?? ['txt', Buffer.from(text), word];
    return { name: `other ${at}.${ending}`, content, phrase };
  });

/** Files of LibreOffice, and scans. */
const made = async (maker: Maker, words: string[]): Promise<PlantedFile[]> => {
  const files: PlantedFile[] = [];
  const endings = ['docx', 'odt', 'rtf', 'pdf', 'pptx', 'odp', 'png', 'pdf'];
  for (const [at, word] of words.entries()) {
    const to = endings[at % endings.length] ?? 'docx';
    const text = sentence(word);
    const html = `<body style="margin:120px;font:44px serif;background:#fff"><p>${text}</p>`;
    const isScan = at % endings.length === 7;
    const isSlide = to === 'pptx' || to === 'odp';
    const flat = isSlide ? flatSlides([text]) : flatText(text);
    const content =
      to === 'png' || isScan
        ? await maker.picture(html)
        : await maker.convert(flat, { from: isSlide ? 'fodp' : 'fodt', to });
    files.push({ name: `made ${at}.${isScan ? 'png' : to}`, content, phrase: word });
  }
  return files;
};

describe('a folder of 60 ordinary files', { ...withPrograms, timeout: 600_000 }, () => {
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

  it('is found by the sentence that is planted in each', async () => {
    const files = [
      ...texts(WORDS.slice(0, 24)),
      ...others(WORDS.slice(24, 42)),
      ...(await made(maker, WORDS.slice(42, 60))),
    ];
    expect(files.length).to.equal(60);
    await stage.write(Object.fromEntries(files.map(({ name, content }) => [name, content])));
    const done = await stage.index({ path: stage.folder }, 400_000);
    expect(done.result).to.include({ read: 60, failed: 0, skipped: 0 });
    const missing: string[] = [];
    for (const { name, phrase } of files) {
      const found = await stage.found(phrase);
      if (!found.includes(name.normalize('NFC'))) missing.push(`${name}: ${phrase}`);
    }
    expect(missing).to.equal([]);
  });
});
