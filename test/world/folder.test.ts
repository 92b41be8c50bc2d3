import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { DATABASE } from '../../src/store/engine/protocol.js';
import { type FolderStage, openFolderStage } from '../folders/stage.js';
import { until } from '../harness/app.js';
import { pdfOf } from '../harness/pdf.js';
import { upload } from '../harness/upload.js';
import { opf } from './books.js';
import { alternative, attached, messageOf } from './mail.js';
import { flatOdf, letter, level, listed, numbering, odf, workbook } from './office.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SOFT = '\u00ad';
const utf32 = (text: string, isLittle: boolean): Buffer =>
  Buffer.concat(
    Array.from(text, (sign) => {
      const bytes = Buffer.alloc(4);
      const point = sign.codePointAt(0) ?? 0;
      if (isLittle) bytes.writeUInt32LE(point);
      else bytes.writeUInt32BE(point);
      return bytes;
    }),
  );

const NOT_TEXT =
  'contains NUL bytes, but is not text in UTF-16 or in UTF-32 with a byte order mark. Save it as UTF-8 text';
const OLD = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)]);
/** Files that are refused for a reason that has a remedy. */
const REFUSED: [name: string, content: Buffer, reason: string][] = [
  ['bare32.txt', utf32('No mark.', true), NOT_TEXT],
  ['binary.log', Buffer.from('line one\0\x01\x02line two of the log\n'), NOT_TEXT],
  ['blank.txt', Buffer.from('\ufeff \r\n'), 'is empty: it contains only white space'],
  ['empty.md', Buffer.alloc(0), 'is empty'],
  ['empty.pdf', Buffer.alloc(0), 'is empty'],
  ['old.doc', OLD, 'has the unsupported file type .doc. Save it as .docx or PDF'],
  ['old.ppt', OLD, 'has the unsupported file type .ppt. Save it as .pptx or PDF'],
  ['old.xls', OLD, 'has the unsupported file type .xls. Save it as .xlsx or PDF'],
  ['torn32.txt', Buffer.from([0xff, 0xfe, 0, 0, 0x44, 0, 0, 0x44]), NOT_TEXT],
];

/** Files as people have them, and a phrase of each. */
const FILES: [name: string, content: string | Buffer, phrase: string][] = [
  ['Übersicht.md'.normalize('NFD'), '# Plan\n\nThe heron nests in May.', 'heron nests'],
  ['latin.txt', Buffer.from('Der Müßiggänger schläft lang.\n', 'latin1'), 'Müßiggänger schläft'],
  ['utf16.txt', Buffer.from('\ufeffThe stork flies north.', 'utf16le'), 'stork flies'],
  ['unmarked.txt', Buffer.from('Der Kiebitz brütet früh.\n', 'utf16le'), 'Kiebitz brütet'],
  ['big.log', Buffer.from('The curlew calls.', 'utf16le').swap16(), 'curlew calls'],
  ['cyrillic.csv', Buffer.from('Скворец,поёт утром\n', 'utf16le'), 'Скворец поёт'],
  ['unmarked.html', Buffer.from('<p>The plover runs.', 'utf16le'), 'plover runs'],
  ['utf32.md', utf32('\ufeffThe dunlin feeds 🐦.', true), 'dunlin feeds'],
  ['utf32big.txt', utf32('\ufeffThe knot rests.', false), 'knot rests'],
  [
    'escaped.json',
    String.raw`{"name":"M\u00fcller","say":"eins\nzweifach \ud83d\udc26"}`,
    '"name Müller say eins zweifach"',
  ],
  ['long.json', `["${String.raw`Gr\u00fcnspecht`}"]${' '.repeat(300_000)}`, 'Grünspecht'],
  ['broken.json', String.raw`{"name":"wren \u00fc"`, 'wren u00fc'],
  ['lines.jsonl', `${String.raw`{"a":"M\u00f6we"}`}\nno json\n`, 'Möwe'],
  ['lines.ndjson', '{"a":"sandpiper"}\n', 'sandpiper'],
  ['compose.yaml', 'image: turnstone\n', 'turnstone'],
  ['compose.yml', 'image: ruff\n', 'ruff'],
  ['pom.xml', '<?xml version="1.0"?><project>godwit</project>', 'godwit'],
  [
    'latin.xml',
    Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>Säbler</a>', 'latin1'),
    'Säbler',
  ],
  ['Cargo.toml', 'name = "whimbrel"\n', 'whimbrel'],
  ['php.ini', 'bird = avocet\n', 'avocet'],
  ['crash.log', `begin of osprey\0hunting${'\0'.repeat(4096)}\nend\n`, '"osprey hunting"'],
  ['daemon.log', 'redshank started\n', 'redshank'],
  [
    'party.ics',
    'BEGIN:VCALENDAR\r\nSUMMARY:Eve of the green\r\n shank\\nBring tea\r\nEND:VCALENDAR\r\n',
    'greenshank bring',
  ],
  ['ada.vcf', 'BEGIN:VCARD\r\nFN:Ada Love\r\n lace\r\nEND:VCARD\r\n', 'Lovelace'],
  ['flat.fodt', flatOdf('text', '<text:p>The smew dives.</text:p>'), 'smew dives'],
  [
    'flat.fods',
    flatOdf(
      'spreadsheet',
      '<table:table table:name="S"><table:table-row><table:table-cell><text:p>Goosander</text:p></table:table-cell></table:table-row></table:table>',
    ),
    'Goosander',
  ],
  [
    'headed.xlsx',
    workbook(
      '<row><c><v>1</v></c></row>',
      '<headerFooter><oddHeader>&amp;CMerganser</oddHeader></headerFooter>',
    ),
    'Merganser',
  ],
  ['headed.rtf', String.raw`{\rtf1\ansi{\footer\pard Garganey\par}\pard Text\par}`, 'Garganey'],
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
      'broken.pdf': '%PDF-1.7\nno more',
      'photo.raw': Buffer.from([0, 1, 2, 3]),
      ...Object.fromEntries(REFUSED.map(([name, content]) => [name, content])),
      'formula.xlsx': workbook('<row><c><f>A1*4</f></c></row>'),
    });
  });
  after(() => stage?.stop());

  it('is found by what stands in each, and what was not read is named', async () => {
    const done = await stage.index({ path: stage.folder });
    const missing: string[] = [];
    for (const [name, , phrase] of FILES) {
      const titles = await stage.found(phrase);
      if (!titles.includes(name.normalize('NFC'))) missing.push(name);
    }
    expect(missing).to.equal([]);
    expect(done.result).to.include({
      read: FILES.length + 1,
      failed: 2,
      skipped: REFUSED.length + 1,
    });
    const { body } = await stage.call('GET', '/api/knowledge/folders');
    const { body: folder } = await stage.call(
      'GET',
      `/api/knowledge/folders/${body.folders[0].id}`,
    );
    const refused = [
      ...REFUSED.map(([path, , reason]) => ({ path, error: `The file ${reason}` })),
      { path: 'crash.log', error: 'The file contains NUL bytes, which are left out.' },
      {
        path: 'formula.xlsx',
        error:
          '1 formula has no stored result. Open the file in a spreadsheet program and save it.',
      },
      { path: 'photo.raw', error: 'The file type is not supported' },
    ];
    expect(folder.failures).to.equal([
      {
        path: 'blank.epub',
        error: 'The EPUB file lists no chapters. Use an intact copy of the file',
      },
      {
        path: 'broken.pdf',
        error: 'The file cannot be read: Invalid PDF structure. Use an intact copy of the file',
      },
      ...refused.sort((a, b) => (a.path < b.path ? -1 : 1)),
    ]);
  });

  it('has the same files accepted and refused as an upload has', async () => {
    const { app, token } = stage;
    const files = [...FILES, ...REFUSED].map(([name, content]) => ({ name, content }));
    const { status, body } = await upload(app, token, files, { index: 'false' });
    expect(status).to.equal(202);
    expect(body.documents.map(({ filename }) => filename)).to.equal(
      FILES.map(([name]) => name.normalize('NFC')),
    );
    expect(body.refused).to.equal(REFUSED.map(([filename, , reason]) => ({ filename, reason })));
  });
});

describe('a folder that an earlier version has read', () => {
  let stage: FolderStage;
  before(async () => {
    stage = await openFolderStage();
  });
  after(() => stage?.stop());

  it('has those files read again that were not read completely', async () => {
    await stage.write({
      'a.md': 'The dotterel rests.',
      'broken.pdf': '%PDF-1.7\nno more',
      'crash.log': 'The phalarope spins.\0\n',
      'photo.raw': Buffer.from([0, 1, 2, 3]),
    });
    const index = async () => (await stage.index({ path: stage.folder })).result;
    expect(await index()).to.include({ read: 2, failed: 1, skipped: 1 });
    expect(await index()).to.include({ unchanged: 4 });
    const db = new Database(join(stage.app.home, DATABASE));
    // Earlier versions refused the log, and stored no version.
    db.exec(
      "UPDATE knowledge_files SET stamp = substr(stamp, 1, instr(stamp || ' ', ' ') - 1);" +
        "UPDATE knowledge_files SET status = 'skipped', sha256 = NULL WHERE path = 'crash.log'",
    );
    db.close();
    expect(await index()).to.include({ unchanged: 1, read: 1, failed: 1, skipped: 1 });
    expect(await stage.found('phalarope')).to.equal(['crash.log']);
    expect(await index()).to.include({ unchanged: 4 });
  });
});

describe('a document whose reading ends the daemon each time', () => {
  let stage: FolderStage;
  before(async () => {
    stage = await openFolderStage();
  });
  after(() => stage?.stop());

  it('fails with a reason', async () => {
    const db = new Database(join(stage.app.home, DATABASE));
    db.exec(
      'CREATE TRIGGER ended_often AFTER INSERT ON jobs BEGIN UPDATE jobs SET attempts = 10 WHERE id = NEW.id; END',
    );
    db.close();
    const { app, token } = stage;
    const { body } = await upload(app, token, [{ name: 'a.txt', content: 'The ruff.' }]);
    const { body: document } = await until(
      () => stage.call('GET', `/api/documents/${body.documents[0]?.id}`),
      ({ body: { status } }) => status === 'failed',
    );
    expect(document).to.include({
      error: 'Reading ended unexpectedly. The operation names the reason. Reprocess the document',
      code: null,
    });
  });
});
