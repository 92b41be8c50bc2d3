import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { pagesOf } from '../documents/pages.js';
import {
  letter,
  level,
  listed,
  numbering,
  odf,
  ooxml,
  paragraph,
  run,
  symbol,
  workbook,
} from './office.js';

export const lab = Lab.script();
const { describe, it } = lab;

const OOXML = 'application/vnd.openxmlformats-officedocument';
const DOCX = `${OOXML}.wordprocessingml.document`;
const XLSX = `${OOXML}.spreadsheetml.sheet`;
const PPTX = `${OOXML}.presentationml.presentation`;
const ODT = 'application/vnd.oasis.opendocument.text';
const ODS = 'application/vnd.oasis.opendocument.spreadsheet';

describe('a formula without a stored result', () => {
  const cell = (content: string, type = '') => `<c${type}>${content}</c>`;

  it('is shown in the place of the result', async () => {
    const row = [
      cell('<v>250</v>'),
      cell('<f>A1*4</f>'),
      cell('<f>"a"&amp;A1</f><v></v>', ' t="str"'),
      cell('<f>B1*12</f><v/>'),
      cell('<f>A1+1</f><v>251</v>'),
      cell('<f>IF(A1,"","x")</f><v></v>', ' t="str"'),
    ];
    expect(await pagesOf(XLSX, workbook(`<row>${row.join('')}</row>`))).to.equal({
      texts: ['250\t=A1*4\t="a"&A1\t=B1*12\t251'],
      notes: [
        '3 formulas have no stored result. Open the file in a spreadsheet program and save it.',
      ],
    });
  });

  it('is shown in a spreadsheet of OpenDocument too', async () => {
    const row = [
      '<table:table-cell office:value-type="float" office:value="250"><text:p>250</text:p></table:table-cell>',
      '<table:table-cell table:formula="of:=SUM([.A1:.A9])*[Sheet2.B1]"/>',
      '<table:table-cell table:formula="of:=[.A1]" office:value-type="float" office:value="250"/>',
    ];
    const table = `<table:table table:name="S"><table:table-row>${row.join('')}</table:table-row></table:table>`;
    expect(await pagesOf(ODS, odf('spreadsheet', table))).to.equal({
      texts: ['250\t=SUM(A1:A9)*Sheet2.B1\t250'],
      notes: [
        '1 formula has no stored result. Open the file in a spreadsheet program and save it.',
      ],
    });
  });

  it('that repeats another one, and has no text of its own, is told', async () => {
    const row = `<row>${cell('<f t="shared" si="0">A1*2</f>')}${cell('<f t="shared" si="0"/>')}</row>`;
    expect(await pagesOf(XLSX, workbook(row))).to.equal({
      texts: ['=A1*2'],
      notes: [
        '2 formulas have no stored result. Open the file in a spreadsheet program and save it.',
      ],
    });
  });
});

describe('a number of a workbook', () => {
  it('has the digits that the program shows', async () => {
    const stored = [
      '19.989999999999998',
      '0.30000000000000004',
      '1.5E-2',
      '1E3',
      '1.10',
      '1234567890123456789',
    ];
    const row = `<row>${stored.map((value) => `<c><v>${value}</v></c>`).join('')}</row>`;
    const { texts } = await pagesOf(XLSX, workbook(row));
    expect(texts).to.equal(['19.99\t0.3\t0.015\t1000\t1.10\t1234567890123456789']);
  });
});

describe('the numbers of clauses', () => {
  const texts = async (...given: Parameters<typeof letter>) =>
    (await pagesOf(DOCX, letter(...given))).texts;
  const LEGAL = [level(0, '%1.', 'decimal', 3), level(1, '%1.%2'), level(2, '(%3)', 'lowerLetter')];

  it('are those that the word processor shows', async () => {
    const body = [
      ...[listed('Rent', 0), listed('It is due.', 1), listed('See 3.1.', 1), listed('in cash', 2)],
      ...[listed('by post', 2), listed('Notice', 0), listed('Three months.', 1)],
    ];
    expect(await texts(body.join(''), { numbering: numbering(LEGAL) })).to.equal([
      '3. Rent\n3.1 It is due.\n3.2 See 3.1.\n(a) in cash\n(b) by post\n4. Notice\n4.1 Three months.',
    ]);
  });

  it('may be of a style, of another format, or begin anew', async () => {
    const styles =
      '<w:style w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>' +
      '<w:style w:styleId="H2"><w:basedOn w:val="H1"/><w:name w:val="heading 2"/></w:style>';
    const levels = [
      level(0, 'Article %1', 'upperRoman').replace('</w:lvl>', '<w:pStyle w:val="H1"/></w:lvl>'),
      level(1, '§ %2', 'decimalZero').replace('</w:lvl>', '<w:pStyle w:val="H2"/></w:lvl>'),
      level(2, '%1.%3').replace('</w:lvl>', '<w:isLgl/></w:lvl>'),
      level(3, '•', 'bullet'),
    ];
    const again =
      '<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="9"/></w:lvlOverride></w:num>';
    const body = [
      paragraph(run('Scope'), '<w:pStyle w:val="H1"/>'),
      paragraph(run('Terms'), '<w:pStyle w:val="H2"/>'),
      ...[listed('legal', 2), listed('a point', 3), listed('anew', 0, 2), listed('none', 0, 0)],
    ];
    expect(await texts(body.join(''), { styles, numbering: numbering(levels, again) })).to.equal([
      '# Article I Scope\n\n## § 01 Terms\n\n1.1 legal\na point\nArticle IX anew\nnone',
    ]);
  });
});

describe('the numbers of clauses of an OpenDocument text', () => {
  const texts = async (body: string, styles: string) =>
    (await pagesOf(ODT, odf('text', body, styles))).texts;
  const at = (level: number, format: string, more = '') =>
    `<text:list-level-style-number text:level="${level}" style:num-format="${format}" ${more}/>`;
  const style = (name: string, ...levels: string[]) =>
    `<text:list-style style:name="${name}">${levels.join('')}</text:list-style>`;
  const item = (...content: string[]) =>
    `<text:list-item>${content.map((each) => (each.startsWith('<') ? each : `<text:p>${each}</text:p>`)).join('')}</text:list-item>`;
  const list = (more: string, ...items: string[]) =>
    `<text:list ${more}>${items.join('')}</text:list>`;
  const LEGAL = style(
    'L',
    at(1, '1', 'style:num-suffix="." text:start-value="3"'),
    at(2, '1', 'text:display-levels="2"'),
    at(3, 'a', 'style:num-prefix="(" style:num-suffix=")"'),
  );

  it('are those that the word processor shows', async () => {
    const body = [
      list(
        'text:style-name="L"',
        item('Rent', list('', item('It is due.'), item('See 3.1.', list('', item('in cash'))))),
        item('Notice', list('', item('Three months.', 'In writing.'))),
      ),
      '<text:p>Between</text:p>',
      list('text:style-name="L" text:continue-numbering="true"', item(list('', item('Later.')))),
      list('text:style-name="L" text:continue-list="x"', item('Deposit')),
      list(
        'text:style-name="L"',
        item('Anew'),
        '<text:list-item text:start-value="9"><text:p>Nine</text:p></text:list-item>',
      ),
    ];
    expect(await texts(body.join(''), LEGAL)).to.equal([
      '3. Rent\n3.1 It is due.\n3.2 See 3.1.\n(a) in cash\n4. Notice\n4.1 Three months.\nIn writing.\nBetween\n4.2 Later.\n5. Deposit\n3. Anew\n9. Nine',
    ]);
  });

  it('are not those of points, hidden items or notes', async () => {
    const styles = `${LEGAL}${style('B', '<text:list-level-style-bullet text:level="1"/>', at(2, ''))}
      <style:style style:name="H"><style:text-properties text:display="none"/></style:style>`;
    const note = `<text:p>Seen<text:note-body>${list('text:style-name="L"', item('in a note'))}</text:note-body></text:p>`;
    const body = [
      list('text:style-name="B"', item('a point', list('', item('none')))),
      list('text:style-name="L"', item('<text:p text:style-name="H">UNSEEN</text:p>'), item(note)),
    ];
    const [text = ''] = await texts(body.join(''), styles);
    expect(text.split('\n').filter(Boolean)).to.equal([
      ...['a point', 'none', '4. Seen', '3. in a note'],
    ]);
  });

  it('may be of headings', async () => {
    const level = (number: number, more: string) =>
      `<text:outline-level-style text:level="${number}" style:num-format="1" ${more}/>`;
    const styles = `<text:outline-style>${level(1, 'style:num-prefix="§ "')}${level(2, 'text:display-levels="2"')}</text:outline-style>`;
    const heading = (text: string, number: number) =>
      `<text:h text:outline-level="${number}">${text}</text:h>`;
    const body = [heading('Scope', 1), heading('Terms', 2), heading('Law', 1), heading('Court', 2)];
    const [text = ''] = await texts(body.join(''), styles);
    expect(text.split('\n').filter(Boolean)).to.equal([
      ...['# § 1 Scope', '## 1.1 Terms', '# § 2 Law', '## 2.1 Court'],
    ]);
  });
});

describe('comments of a spreadsheet of OpenDocument', () => {
  it('are left out', async () => {
    const comment =
      '<office:annotation><dc:creator>Ada</dc:creator><text:p>why?</text:p></office:annotation>';
    const row = `<table:table-row><table:table-cell>${comment}<text:p>Total</text:p></table:table-cell><table:table-cell>${comment}</table:table-cell></table:table-row>`;
    const table = `<table:table table:name="S">${row}</table:table>`;
    expect((await pagesOf(ODS, odf('spreadsheet', table))).texts).to.equal(['Total']);
  });
});

describe('what a drawing shows', () => {
  const shown = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`;
  const point = (text: string) =>
    `<dgm:pt><dgm:prSet/><dgm:t>${text && shown(text)}</dgm:t></dgm:pt>`;
  const DIAGRAM = `<dgm:dataModel>${['Plan', '', 'Build'].map(point).join('')}</dgm:dataModel>`;
  const cache = (...values: string[]) =>
    `<c:numRef><c:f>S!A1</c:f><c:numCache><c:formatCode>0</c:formatCode>${values.map((value) => `<c:pt><c:v>${value}</c:v></c:pt>`).join('')}</c:numCache></c:numRef>`;
  const CHART = `<c:chart><c:title><c:tx><c:rich>${shown('Sales by region')}</c:rich></c:tx></c:title><c:ser><c:tx>${cache('2024')}</c:tx><c:cat>${cache('North', 'South')}</c:cat><c:val>${cache('12', '30')}</c:val></c:ser></c:chart>`;
  const SALES = 'Sales by region\n2024\nNorth\tSouth\n12\t30';

  it('follows the text of a slide', async () => {
    const content = ooxml({
      main: 'ppt/p.xml',
      parts: {
        'ppt/p.xml':
          '<p:presentation><p:sldIdLst><p:sldId id="1" r:id="r0"/></p:sldIdLst></p:presentation>',
        'ppt/s.xml': `<p:sld><p:sp><p:txBody>${shown('Steps')}</p:txBody></p:sp></p:sld>`,
        'ppt/d.xml': DIAGRAM,
        'ppt/c.xml': CHART,
      },
      related: {
        'ppt/p.xml': { 's.xml': 'slide' },
        'ppt/s.xml': { 'd.xml': 'diagramData', 'c.xml': 'chart', 'gone.xml': 'chart' },
      },
    });
    expect(await pagesOf(PPTX, content)).to.equal({
      texts: [`Steps\n\nPlan\nBuild\n\n${SALES}`],
      notes: [],
    });
  });

  it('follows the cells of a sheet', async () => {
    const content = ooxml({
      main: 'xl/w.xml',
      parts: {
        'xl/w.xml': '<workbook><sheets><sheet name="S" r:id="r0"/></sheets></workbook>',
        'xl/s.xml': '<worksheet><sheetData><row><c><v>1</v></c></row></sheetData></worksheet>',
        'xl/d.xml': `<xdr:wsDr><xdr:sp><xdr:txBody>${shown('Valid until May')}</xdr:txBody></xdr:sp></xdr:wsDr>`,
        'xl/c.xml': CHART,
      },
      related: {
        'xl/w.xml': { 's.xml': 'worksheet' },
        'xl/s.xml': { 'd.xml': 'drawing' },
        'xl/d.xml': { 'c.xml': 'chart', 'd.xml': 'drawing' },
      },
    });
    expect((await pagesOf(XLSX, content)).texts).to.equal([`1\n\nValid until May\n\n${SALES}`]);
  });

  it('follows a Word document, and an embedded document is named', async () => {
    const content = ooxml({
      main: 'w/t.xml',
      parts: {
        'w/t.xml': `<w:document><w:body>${paragraph(run('Steps'))}<w:altChunk/></w:body></w:document>`,
        'w/d.xml': DIAGRAM,
        'w/a.html': '<p>Clauses</p>',
      },
      related: { 'w/t.xml': { 'd.xml': 'diagramData', 'a.html': 'aFChunk' } },
    });
    expect(await pagesOf(DOCX, content)).to.equal({
      texts: ['Steps\n\nPlan\nBuild'],
      notes: [
        'The text of an embedded document was not read. Save the file in Word to include it.',
      ],
    });
  });
});

describe('boxes of a text', () => {
  it('are told apart', async () => {
    const field = (checked: string) =>
      `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="0"/>${checked}</w:checkBox></w:ffData></w:fldChar></w:r>`;
    const choice =
      '<w:r><w:fldChar><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="attic"/><w:listEntry w:val="cellar"/></w:ddList></w:ffData></w:fldChar></w:r>';
    const body = [
      paragraph(symbol('F0FE') + run(' yes ') + symbol('00A8') + run(' no')),
      paragraph(symbol('F052', 'Wingdings 2') + run('\uf0fd \uf0a8 private')),
      paragraph(field('<w:checked/>') + run(' heated ') + field('') + run(' furnished')),
      paragraph(field('<w:checked w:val="0"/>') + run(' room: ') + choice),
    ];
    expect((await pagesOf(DOCX, letter(body.join('')))).texts).to.equal([
      '☒ yes ☐ no\n☒☒ ☐ private\n☒ heated ☐ furnished\n☐ room: cellar',
    ]);
  });
});

describe('hidden text', () => {
  it('is left out, and its length is told', async () => {
    const styles =
      '<w:style w:styleId="Gone"><w:rPr><w:vanish/></w:rPr></w:style><w:style w:styleId="Too"><w:basedOn w:val="Gone"/></w:style>';
    const body = [
      paragraph(run('Seen. ') + run('UNSEEN', '<w:vanish/>') + run('On.', '<w:vanish w:val="0"/>')),
      paragraph(run('GONE', '<w:rStyle w:val="Too"/>') + run(' stays')),
      paragraph(run('ALL') + run('back', '<w:vanish w:val="false"/>'), '<w:pStyle w:val="Gone"/>'),
      paragraph(run('mark'), '<w:rPr><w:vanish/></w:rPr>'),
    ];
    expect(await pagesOf(DOCX, letter(body.join(''), { styles }))).to.equal({
      texts: ['Seen. On.\n stays\nback\nmark'],
      notes: ['13 characters of hidden text are left out.'],
    });
  });

  it('is left out of a text of OpenDocument too, with its sections', async () => {
    const styles =
      '<style:style style:name="H" style:family="paragraph"><style:text-properties text:display="none"/></style:style>' +
      '<style:style style:name="C" style:parent-style-name="H" style:family="text"/>';
    const body = [
      '<text:p text:style-name="H">UNSEEN</text:p>',
      '<text:p>Seen<text:span text:style-name="C"> NOT<text:s/></text:span>.</text:p>',
      '<text:section text:display="none"><text:p>GONE</text:p></text:section>',
      '<text:p>Last</text:p>',
    ];
    expect(await pagesOf(ODT, odf('text', body.join(''), styles))).to.equal({
      texts: ['Seen.\n\nLast'],
      notes: ['15 characters of hidden text are left out.'],
    });
  });
});

describe('hidden text of an RTF file', () => {
  const read = (text: string) =>
    pagesOf('application/rtf', Buffer.from(`{\\rtf1\\ansi\\pard ${text}\\par}`));

  it('is left out with tracked deletions, and its length is told', async () => {
    const hidden = "{\\v UNSEEN\\'fc\\u1055?}{\\b\\v0 On. }\\v GONE{\\i TOO}\\v0  Stays";
    const changed = '{\\deleted lost}{\\revised  new}';
    expect(await read(`Seen. ${hidden}${changed}.`)).to.equal({
      texts: ['Seen. On.  Stays new.'],
      notes: ['15 characters of hidden text are left out.'],
    });
  });

  it('ends with its group or a format without it, and leaves paragraphs and binary data', async () => {
    const binary = '{\\pict\\wmetafile8\\bin7 a}{\\v b}';
    expect(
      await read(`One{\\v X}\\par Two\\v Y\\par\\plain Three ${binary}\\vertalt End`),
    ).to.equal({
      texts: ['One\nTwo\nThree End'],
      notes: ['2 characters of hidden text are left out.'],
    });
  });
});

describe('headers and footers', () => {
  it('surround the rows of a sheet, each once, without codes', async () => {
    const sheet = (content: string, edges: string, different = ''): string =>
      `<worksheet><sheetData><row><c t="inlineStr"><is><t>${content}</t></is></c></row></sheetData><headerFooter${different}>${edges}</headerFooter></worksheet>`;
    const header =
      '<oddHeader>&amp;L&amp;"Arial,Bold"&amp;12Miller &amp;&amp; Sons&amp;C&amp;A&amp;R&amp;KFF0000Offer 17</oddHeader>';
    const content = ooxml({
      main: 'xl/w.xml',
      parts: {
        'xl/w.xml':
          '<workbook><sheets><sheet name="A" r:id="r0"/><sheet name="B" r:id="r1"/></sheets></workbook>',
        'xl/a.xml': sheet('1', `${header}<evenHeader>unused</evenHeader>`),
        'xl/b.xml': sheet(
          '2',
          `${header}<oddFooter>&amp;CIBAN DE02&amp;RPage &amp;P of &amp;N</oddFooter><firstFooter>First</firstFooter>`,
          ' differentFirst="1"',
        ),
      },
      related: { 'xl/w.xml': { 'a.xml': 'worksheet', 'b.xml': 'worksheet' } },
    });
    expect(await pagesOf(XLSX, content)).to.equal({
      texts: ['Miller & Sons\nOffer 17\n\n# A\n1', '# B\n2\n\nIBAN DE02\nFirst'],
      notes: [],
    });
  });

  it('surround an RTF text too', async () => {
    const edges = ['header', 'headerf', 'footer'].map(
      (name) => `{\\${name}\\pard ${name === 'footer' ? 'IBAN DE02' : 'Miller Ltd'}\\par}`,
    );
    const text = `{\\rtf1\\ansi${edges.join('')}\\pard Dear Ada\\par}`;
    expect(await pagesOf('application/rtf', Buffer.from(text))).to.equal({
      texts: ['Miller Ltd\n\nDear Ada\n\nIBAN DE02'],
      notes: [],
    });
  });

  it('surround the text of a Word document, each once', async () => {
    const name = paragraph(run('Miller Ltd'));
    const edges = {
      ...{ header1: name, header2: name, header3: paragraph(run('Offer 17')) },
      footer1: `${paragraph(run('IBAN DE02 1203 0000'))}${paragraph(run('secret', '<w:vanish/>'))}`,
      footer2: paragraph(''),
    };
    expect(await pagesOf(DOCX, letter(paragraph(run('Dear Ada')), { edges }))).to.equal({
      texts: ['Miller Ltd\n\nOffer 17\n\nDear Ada\n\nIBAN DE02 1203 0000'],
      notes: ['6 characters of hidden text are left out.'],
    });
  });

  it('surround the first sheet of OpenDocument, without page numbers', async () => {
    const table = (cell: string) =>
      `<table:table table:name="${cell}"><table:table-row><table:table-cell><text:p>${cell}</text:p></table:table-cell></table:table-row></table:table>`;
    const page = [
      '<style:header><style:region-left><text:p>Miller <text:s/>Ltd</text:p></style:region-left>',
      '<style:region-center><text:p><text:sheet-name>???</text:sheet-name></text:p></style:region-center></style:header>',
      '<style:header-left><text:p>Miller <text:s/>Ltd</text:p></style:header-left>',
      '<style:footer><text:p>Page <text:page-number>1</text:page-number></text:p><text:p>IBAN DE02</text:p></style:footer>',
      '<style:footer-first style:display="false"><text:p>unused</text:p></style:footer-first>',
    ].join('');
    expect(await pagesOf(ODS, odf('spreadsheet', table('a') + table('b'), '', page))).to.equal({
      texts: ['Miller  Ltd\n\n# a\na\n\nIBAN DE02', '# b\nb'],
      notes: [],
    });
  });

  it('surround a text of OpenDocument too', async () => {
    const edge = (name: string, text: string, more = ''): string =>
      `<style:${name}${more}><text:p>${text}</text:p></style:${name}>`;
    const page = [
      ...[edge('header', 'Miller Ltd'), edge('header-left', 'Miller Ltd')],
      ...[edge('header-first', 'unused', ' style:display="false"'), edge('footer', 'IBAN DE02')],
    ];
    const text = odf('text', '<text:p>Dear Ada</text:p>', '', page.join(''));
    expect(await pagesOf(ODT, text)).to.equal({
      texts: ['Miller Ltd\n\nDear Ada\n\nIBAN DE02'],
      notes: [],
    });
  });
});
