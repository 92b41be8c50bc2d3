import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FolderStage, openFolderStage } from '../folders/stage.js';
import { pdfOf } from '../harness/pdf.js';
import { opf } from './books.js';
import { alternative, attached, messageOf } from './mail.js';
import { letter, level, listed, numbering, odf, workbook } from './office.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SOFT = '\u00ad';
/** Files as people have them, and a phrase of each. */
const FILES: [name: string, content: string | Buffer, phrase: string][] = [
  ['Übersicht.md'.normalize('NFD'), '# Plan\n\nThe heron nests in May.', 'heron nests'],
  ['latin.txt', Buffer.from('Der Müßiggänger schläft lang.\n', 'latin1'), 'Müßiggänger schläft'],
  ['utf16.txt', Buffer.from('\ufeffThe stork flies north.', 'utf16le'), 'stork flies'],
  ['bitmap.txt', 'BM is what Ben Miller signs.', 'Ben Miller'],
  ['soft.txt', `Die Land${SOFT}schaft ist weit.`, 'Landschaft ist'],
  ['divided.pdf', pdfOf('The lantern hangs there.'), 'lantern hangs'],
  [
    'clauses.docx',
    letter(listed('The deposit is paid back.', 0), { numbering: numbering([level(0, '%1.')]) }),
    '"1 The deposit"',
  ],
  [
    'sums.xlsx',
    workbook('<row><c t="inlineStr"><is><t>Paid ferries</t></is></c></row>'),
    'ferries',
  ],
  ['letter.odt', odf('text', '<text:p>The orchard is in bloom.</text:p>'), 'orchard bloom'],
  ['book.epub', opf(['a%2Cb.xhtml'], { opf: 'p' }, ['a,b.xhtml']), '"Chapter 1 of the tide"'],
  ['hint.eml', alternative('View it in your browser.', '<p>The ferry is late.</p>'), 'ferry late'],
  [
    'inline.eml',
    messageOf('See below.', [
      attached('list.csv', 'text/csv', Buffer.from('roof,ninethousand'), 'inline'),
    ]),
    'ninethousand',
  ],
];

describe('a folder of ordinary files', () => {
  let stage: FolderStage;
  before(async () => {
    stage = await openFolderStage();
    await stage.write({
      ...Object.fromEntries(FILES.map(([name, content]) => [name, content])),
      'blank.epub': opf([]),
      'photo.raw': Buffer.from([0, 1, 2, 3]),
      'formula.xlsx': workbook('<row><c><f>A1*4</f></c></row>'),
    });
  });
  after(() => stage?.stop());

  it('is found by what stands in each, and what was not read is named', async () => {
    const done = await stage.index({ path: stage.folder });
    expect(done.result).to.include({ read: FILES.length + 1, failed: 1, skipped: 1 });
    for (const [name, , phrase] of FILES) {
      expect(await stage.found(phrase), phrase).to.include(name.normalize('NFC'));
    }
    const { body } = await stage.call('GET', '/api/knowledge/folders');
    const { body: folder } = await stage.call(
      'GET',
      `/api/knowledge/folders/${body.folders[0].id}`,
    );
    expect(folder.failures).to.equal([
      {
        path: 'blank.epub',
        error: 'The EPUB file lists no chapters. Use an intact copy of the file',
      },
      {
        path: 'formula.xlsx',
        error:
          '1 formula has no stored result. Open the file in a spreadsheet program and save it.',
      },
      { path: 'photo.raw', error: 'The file type is not supported' },
    ]);
  });
});
