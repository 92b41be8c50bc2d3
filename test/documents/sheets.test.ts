import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { ExtractFailed } from '../../src/documents/extract/job.js';
import { pagesOf } from './pages.js';
import {
  cell,
  columns,
  expectRepeatsLimited,
  HEAD,
  ODS,
  row,
  rows,
  spreadsheet,
} from './spreadsheet.js';
import { zip } from './zip.js';

export const lab = Lab.script();
const { describe, it } = lab;

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const TYPES = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

const relation = (id: string, type: string, target: string): string =>
  `<Relationship Id="${id}" Type="${TYPES}/${type}" Target="${target}"/>`;

/** A workbook of sheets with these rows by their names, and these shared strings. */
const workbook = (
  sheets: Record<string, string>,
  shared = '',
  { styles = '', properties = '' } = {},
): Buffer => {
  const names = Object.keys(sheets);
  const listed = names.map((name, at) => `<sheet name="${name}" sheetId="${at}" r:id="r${at}"/>`);
  // The files are numbered in another order than that of the sheets.
  const fileOf = (at: number): string => `sheet${names.length - at}.xml`;
  const relations = names.map((_, at) =>
    relation(`r${at}`, 'worksheet', `worksheets/${fileOf(at)}`),
  );
  return zip([
    {
      name: '_rels/.rels',
      content: `${HEAD}<Relationships>${relation('w', 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    },
    {
      name: 'xl/workbook.xml',
      content: `${HEAD}<workbook xmlns:r="${TYPES}">${properties}<sheets>${listed.join('')}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: `${HEAD}<Relationships>${relations.join('')}${relation('s', 'sharedStrings', '/xl/sharedStrings.xml')}${relation('y', 'styles', 'styles.xml')}</Relationships>`,
    },
    { name: 'xl/styles.xml', content: `${HEAD}<styleSheet>${styles}</styleSheet>` },
    { name: 'xl/SharedStrings.xml', content: `${HEAD}<sst>${shared}</sst>` },
    ...Object.values(sheets).map((rows, at) => ({
      name: `xl/worksheets/${fileOf(at)}`,
      content: `${HEAD}<worksheet><sheetData>${rows}</sheetData></worksheet>`,
    })),
  ]);
};

describe('the text of a workbook of Excel', () => {
  it('has inline strings, rich text and line breaks', async () => {
    const shared = [
      '<si><t>Plain</t></si>',
      '<si><r><rPr><b/></rPr><t>Rich</t></r><r><t xml:space="preserve"> text\nof runs</t></r><rPh><t>hint</t></rPh></si>',
      '<si><t>first &amp; second\r\n\n&lt;third_x000D_&gt; line</t></si>',
    ];
    const content = workbook(
      {
        Only: [
          '<row r="1"><c r="A1" t="inlineStr"><is><t>In\nline</t></is></c><c r="B1" t="s"><v>0</v></c></row>',
          '<row r="2"><c r="A2" t="inlineStr"><is><r><t>in </t></r><r><t>runs</t></r></is></c><c r="B2" t="s"><v>1</v></c></row>',
          '<row r="9"><c r="A9" t="s"><v>\n2\n</v></c></row>',
        ].join('\n'),
      },
      shared.join(''),
    );
    expect(await pagesOf(XLSX, content)).to.equal({
      texts: ['In line\tPlain\nin runs\tRich text of runs\nfirst & second <third > line'],
      notes: [],
    });
  });

  it('has numbers, booleans, errors and what formulas have resulted in, each in its column', async () => {
    const content = workbook({
      Only: [
        '<row><c r="B1"><v>12.5</v></c><c r="D1" t="b"><v>1</v></c><c t="b"><v>0</v></c></row>',
        '<row><c r="A2"><f>A1*2</f><v>25</v></c><c r="B2" t="str"><f>"x"&amp;"y"</f><v>x\ny</v></c><c r="C2" t="e"><v>#REF!</v></c><c r="AA2"><v>1</v></c></row>',
        '<row><c r="A3" s="1"/><c r="B3" t="b"/></row>',
      ].join(''),
    });
    const gap = '\t'.repeat(24);
    expect((await pagesOf(XLSX, content)).texts).to.equal([
      `12.5\t\tTRUE\tFALSE\n25\tx y\t#REF!${gap}1`,
    ]);
  });

  it('has the sheets in their order, each below its name if there are several', async () => {
    const row = (text: string): string => `<row><c t="inlineStr"><is><t>${text}</t></is></c></row>`;
    const content = workbook({ 'Q1 &amp; Q2': row('first'), Empty: '', Last: row('last') });
    expect((await pagesOf(XLSX, content)).texts).to.equal(['# Q1 & Q2\nfirst', '', '# Last\nlast']);
  });

  it('has a sheet once, however often and in whatever spelling it is listed', async () => {
    const row = '<row><c><v>1</v></c></row>';
    const listed = [
      'worksheets/sheet1.xml',
      'worksheets/SHEET1.xml',
      '/xl/worksheets/./sheet1.xml',
    ];
    const content = zip([
      {
        name: '_rels/.rels',
        content: `<Relationships>${relation('w', 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
      },
      {
        name: 'xl/workbook.xml',
        content: `<workbook xmlns:r="${TYPES}"><sheets>${listed.map((_, at) => `<sheet name="S" r:id="r${at}"/>`.repeat(2000)).join('')}</sheets></workbook>`,
      },
      {
        name: 'xl/_rels/workbook.xml.rels',
        content: `<Relationships>${listed.map((path, at) => relation(`r${at}`, 'worksheet', path)).join('')}</Relationships>`,
      },
      {
        name: 'xl/worksheets/sheet1.xml',
        content: `<worksheet><sheetData>${row}</sheetData></worksheet>`,
      },
    ]);
    expect((await pagesOf(XLSX, content)).texts).to.equal(['1']);
  });

  it('ends where a page does, and says so', async () => {
    const rows = '<row><c t="s"><v>0</v></c><c t="s"><v>0</v></c></row>'.repeat(10_000);
    const content = workbook({ Only: rows }, `<si><t>${'x'.repeat(30_000)}</t></si>`);
    const { texts, notes } = await pagesOf(XLSX, content, 40_000);
    expect(texts).to.equal([`${'x'.repeat(30_000)}\t${'x'.repeat(9999)}`]);
    expect(notes).to.equal(['Only the first 40000 characters of page 1 were read.']);
  });

  it('is refused if it is not whole, or has a cell where there can be none', async () => {
    const whole = workbook({ Only: '<row><c><v>1</v></c></row>' });
    expect((await pagesOf(XLSX, whole)).texts).to.equal(['1']);
    const far = workbook({ Only: '<row><c r="ZZZZ1"><v>1</v></c></row>' });
    await expect(pagesOf(XLSX, far)).to.reject(
      ExtractFailed,
      'Sheet "Only" has text in 475254 columns. The maximum is 16384',
    );
    const cut = workbook({ Only: '<row><c><v>1</v></c></row></sheetData></worksheet><worksheet>' });
    await expect(pagesOf(XLSX, cut)).to.not.reject();
    const open = workbook({ Only: '<row><c><v>1</v></c></row><!--' });
    await expect(pagesOf(XLSX, open)).to.reject(ExtractFailed, 'The XML of the file is incomplete');
    const none = zip([{ name: '_rels/.rels', content: '<Relationships></Relationships>' }]);
    await expect(pagesOf(XLSX, none)).to.reject(
      ExtractFailed,
      'The file is not a complete office document',
    );
  });
});

describe('the text of a spreadsheet of OpenDocument', () => {
  it('has paragraphs, spans and values, each in its column', async () => {
    const content = spreadsheet({
      Only: [
        row(`${cell('a <text:span>styled</text:span> one')}${cell('two</text:p><text:p>lines')}`),
        row(`<table:table-cell ${columns(2)}/>${cell('x<text:s/>y<text:line-break/>z')}`),
        row(`<table:table-cell office:value="12.5"/>${cell('same', columns(3))}`, rows(2)),
        row(`<table:table-cell ${columns(16_384)}/>`, rows(1_048_570)),
      ].join(''),
    });
    expect((await pagesOf(ODS, content)).texts).to.equal([
      'a styled one\ttwo lines\n\t\tx y z\n12.5\tsame\tsame\tsame\n12.5\tsame\tsame\tsame',
    ]);
  });

  it('has the sheets in their order, each below its name if there are several', async () => {
    const content = spreadsheet({ First: row(cell('one')), Empty: '', Last: row(cell('two')) });
    expect((await pagesOf(ODS, content)).texts).to.equal(['# First\none', '', '# Last\ntwo']);
  });

  it('is told of where it is cut in the middle of a row', async () => {
    const long = 'x'.repeat(60);
    const cells = spreadsheet({ Only: row(cell('first')) + row(cell(long) + cell(long)) });
    expect(await pagesOf(ODS, cells, 100)).to.equal({
      texts: [`first\n${long}\t${'x'.repeat(33)}`],
      notes: ['Only the first 100 characters of page 1 were read.'],
    });
    const strings = `<si><t>${long}</t></si>`;
    const wide = `<row>${'<c t="s"><v>0</v></c>'.repeat(2000)}</row>`;
    const { texts, notes } = await pagesOf(XLSX, workbook({ A: wide }, strings), 100_000);
    expect([texts[0]?.length, notes]).to.equal([
      100_000,
      ['Only the first 100000 characters of page 1 were read.'],
    ]);
  });

  it('is refused or cut at once where cells or rows are repeated without end', () =>
    expectRepeatsLimited());

  it('needs a password if it is encrypted', async () => {
    const manifest = '<manifest:manifest><manifest:encryption-data/></manifest:manifest>';
    const content = zip([
      { name: 'content.xml', content: 'encrypted' },
      { name: 'META-INF/manifest.xml', content: manifest },
    ]);
    const { code } = await expect(pagesOf(ODS, content)).to.reject(ExtractFailed);
    expect(code).to.equal('password_needed');
  });
});

describe('the dates of a workbook', () => {
  const FORMATS = ['General', 'dd/mm/yyyy', '"day" 0', '[h]:mm', '[$-407]d. mmmm yyyy;@', '0.00'];
  const codes = FORMATS.map(
    (code, at) => `<numFmt numFmtId="${164 + at}" formatCode="${code.replaceAll('"', '&quot;')}"/>`,
  );
  const ids = [0, 14, 22, 20, ...FORMATS.map((_, at) => 164 + at)];
  const styles = `<numFmts>${codes.join('')}</numFmts>
    <cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>
    <cellXfs>${ids.map((id) => `<xf numFmtId="${id}"/>`).join('')}</cellXfs>
    <dxfs><xf numFmtId="14"/></dxfs>`;
  const shown = async (cells: [style: number, value: string][], properties = '') => {
    const row = cells.map(([style, value]) => `<c s="${style}"><v>${value}</v></c>`).join('');
    const file = workbook({ A: `<row>${row}</row>` }, '', { styles, properties });
    return (await pagesOf(XLSX, file)).texts[0]?.split('\t');
  };

  it('are shown by their formats, built-in ones and own ones', async () => {
    const day = '45356';
    expect(await shown(ids.map((_, style) => [style, day]))).to.equal([
      day,
      '2024-03-05',
      '2024-03-05',
      '2024-03-05',
      day,
      '2024-03-05',
      day,
      '1088544:00:00',
      '2024-03-05',
      day,
    ]);
  });

  it('are durations where hours may be more than a day has', async () => {
    const styles = '<cellXfs><xf numFmtId="46"/></cellXfs>';
    const row = ['1.6875', '0.000694444', '-0.5', ''].map((value) => `<c><v>${value}</v></c>`);
    const file = workbook({ A: `<row>${row.join('')}</row>` }, '', { styles });
    const [text] = (await pagesOf(XLSX, file)).texts;
    expect(text).to.equal('40:30:00\t00:01:00\t-12:00:00');
  });

  it('have their time, if they have one', async () => {
    const values = ['45356.604166666664', '0.25', '45356.000011574073', '0'];
    expect(await shown(values.map((value) => [2, value]))).to.equal([
      '2024-03-05 14:30',
      '06:00',
      '2024-03-05 00:00:01',
      '00:00',
    ]);
  });

  it('count from 1900 with its 29th of February, or from 1904', async () => {
    expect(
      await shown([
        [1, '1'],
        [1, '59'],
        [1, '61'],
      ]),
    ).to.equal(['1900-01-01', '1900-02-28', '1900-03-01']);
    const since1904 = await shown(
      [
        [1, '1'],
        [1, '43894'],
      ],
      '<workbookPr date1904="1"/>',
    );
    expect(since1904).to.equal(['1904-01-02', '2024-03-05']);
  });

  it('are numbers where no calendar has them', async () => {
    const values = ['-1', '2958466', '1e300', 'x'];
    expect(await shown(values.map((value) => [1, value]))).to.equal(values);
  });
});
