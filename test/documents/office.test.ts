import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { ExtractFailed } from '../../src/documents/extract/job.js';
import { splitIntoChunks } from '../../src/knowledge/procedures/split.js';
import { pagesOf } from './pages.js';
import { zip } from './zip.js';

export const lab = Lab.script();
const { describe, it } = lab;

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const PPTX = 'application/vnd.openxmlformats-officedocument.presentationml.presentation';
const HEAD = '<?xml version="1.0" encoding="UTF-8"?>';
const TYPES = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

const relations = (targets: Record<string, string>): string => {
  const all = Object.entries(targets).map(
    ([target, type]) => `<Relationship Id="${target}" Type="${TYPES}/${type}" Target="${target}"/>`,
  );
  return `${HEAD}<Relationships>${all.join('')}</Relationships>`;
};

/** A Word document with this body, and further parts. */
const letter = (body: string, { styles = '', footnotes = '', endnotes = '' } = {}): Buffer =>
  zip([
    { name: '_rels/.rels', content: relations({ 'word/document.xml': 'officeDocument' }) },
    {
      name: 'word/_rels/document.xml.rels',
      content: relations({
        'styles.xml': 'styles',
        '/word/footnotes.xml': 'footnotes',
        'endnotes.xml': 'endnotes',
        'comments.xml': 'comments',
      }),
    },
    {
      name: 'word/document.xml',
      content: `${HEAD}<w:document><w:body>${body}</w:body></w:document>`,
    },
    { name: 'word/styles.xml', content: `<w:styles>${styles}</w:styles>` },
    { name: 'word/footnotes.xml', content: `<w:footnotes>${footnotes}</w:footnotes>` },
    { name: 'word/endnotes.xml', content: `<w:endnotes>${endnotes}</w:endnotes>` },
    {
      name: 'word/comments.xml',
      content:
        '<w:comments><w:comment><w:p><w:r><w:t>why?</w:t></w:r></w:p></w:comment></w:comments>',
    },
  ]);
const run = (text: string): string => `<w:r><w:rPr><w:b/></w:rPr><w:t>${text}</w:t></w:r>`;
const paragraph = (content: string, properties = ''): string =>
  `<w:p><w:pPr>${properties}</w:pPr>${content}</w:p>`;
const table = (...rows: string[][]): string => {
  const cells = (row: string[]) => row.map((content) => `<w:tc><w:tcPr/>${content}</w:tc>`);
  return `<w:tbl><w:tblPr/>${rows.map((row) => `<w:tr>${cells(row).join('')}</w:tr>`).join('')}</w:tbl>`;
};
const words = (count: number, word: string): string => `${`${word} `.repeat(count)}.`;

describe('the text of a Word document', () => {
  const textOf = async (...given: Parameters<typeof letter>) =>
    (await pagesOf(DOCX, letter(...given))).texts;

  it('has its tracked changes as if they were accepted', async () => {
    const body = [
      paragraph(
        `${run('kept')}<w:ins w:id="1">${run(' inserted')}</w:ins><w:del w:id="2"><w:r><w:delText> deleted</w:delText><w:tab/><w:br/></w:r></w:del>`,
      ),
      paragraph(
        `<w:moveFromRangeStart/><w:moveFrom>${run('moved')}</w:moveFrom><w:moveFromRangeEnd/>stays`,
      ),
      paragraph(run('joined '), '<w:rPr><w:del w:id="3"/></w:rPr>'),
      paragraph(`<w:moveTo>${run('moved')}</w:moveTo>`, '<w:rPr><w:ins w:id="4"/></w:rPr>'),
      paragraph(run('last')),
    ];
    expect(await textOf(body.join('\n'))).to.equal(['kept inserted\n\njoined moved\nlast']);
  });

  it('has tabs, line breaks and hyphens, and no tab stops, fields or hints', async () => {
    const body = [
      paragraph(
        '<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:cr/><w:t>d</w:t><w:noBreakHyphen/><w:t>e&amp;f</w:t></w:r>',
        '<w:tabs><w:tab w:val="left"/></w:tabs>',
      ),
      paragraph(
        `${run('on page ')}<w:r><w:fldChar/><w:instrText> PAGEREF x </w:instrText></w:r><w:hyperlink>${run('7')}</w:hyperlink>`,
      ),
      paragraph(
        `<w:r><w:ruby><w:rt>${run('かんじ')}</w:rt><w:rubyBase>${run('漢字')}</w:rubyBase></w:ruby></w:r>`,
      ),
    ];
    expect(await textOf(body.join(''))).to.equal(['a\tb\nc\nd-e&f\non page 7\n漢字']);
  });

  it('has a line of each paragraph, and one of each row of a table', async () => {
    const body = [
      paragraph(run('before')),
      paragraph(''),
      table(
        [paragraph(run('Name')), paragraph(''), paragraph(run('Sum'))],
        [
          paragraph(run('two')) + paragraph(run('lines')),
          paragraph('<w:r><w:tab/><w:t>x</w:t><w:br/><w:t>y</w:t></w:r>'),
          table([paragraph(run('in')), paragraph(run('side'))]) + paragraph(''),
        ],
        [paragraph(''), paragraph('')],
      ),
      paragraph(run('after')),
    ];
    expect(await textOf(body.join(''))).to.equal([
      'before\n\nName\t\tSum\ntwo lines\tx y\tin side\nafter',
    ]);
  });

  it('has its headings as Markdown has them, so that chunks are told by them', async () => {
    const styles = [
      '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>',
      '<w:style w:styleId="Own"><w:name w:val="Own"/><w:basedOn w:val="berschrift1"/></w:style>',
      '<w:style w:styleId="Part"><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>',
      '<w:style w:styleId="Round"><w:basedOn w:val="Round"/></w:style>',
      '<w:style w:styleId="Plain"><w:basedOn w:val="Part"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>',
    ];
    const styled = (style: string, content: string, more = '') =>
      paragraph(content, `<w:pStyle w:val="${style}"/>${more}`);
    const body = [
      styled('berschrift1', `${run('The ')}<w:r><w:br/></w:r>${run('harbour')}`),
      styled('Round', run(words(100, 'quay'))),
      styled('Part', run('Its cranes')),
      styled('Plain', run(words(100, 'crane'))),
      styled('Own', run('The town')),
      styled(
        'Gone',
        run('Deep'),
        '<w:outlineLvl w:val="8"/><w:pPrChange><w:pPr><w:pStyle w:val="Part"/></w:pPr></w:pPrChange>',
      ),
      styled('berschrift1', ''),
      table([styled('berschrift1', run('In a cell'))]),
    ];
    const [text = ''] = await textOf(body.join(''), { styles: styles.join('') });
    expect(text.split('\n')).to.equal([
      ...['# The  harbour', '', words(100, 'quay'), '', '## Its cranes', ''],
      ...[words(100, 'crane'), '', '# The town', '', '###### Deep', '', 'In a cell'],
    ]);
    const { chunks } = splitIntoChunks({ text, pages: [] });
    expect(chunks.map(({ heading }) => heading)).to.equal([
      'The  harbour',
      'The  harbour › Its cranes',
      'The town',
    ]);
  });

  it('has its notes below it, each on a line of its own, and no comments', async () => {
    const note = (text: string) =>
      paragraph(`<w:r><w:footnoteRef/></w:r><w:r><w:t xml:space="preserve"> ${text}</w:t></w:r>`);
    const footnotes = [
      `<w:footnote w:type="separator">${paragraph(run('----'))}</w:footnote>`,
      `<w:footnote w:id="1">${note('See there.')}</w:footnote>`,
      `<w:footnote w:id="2">${note('And here.')}</w:footnote>`,
    ];
    const endnotes = `<w:endnote w:id="1">${paragraph('<w:r><w:endnoteRef/><w:tab/><w:t>The end.</w:t></w:r>')}</w:endnote>`;
    const body = paragraph(
      `${run('A claim')}<w:r><w:footnoteReference w:id="1"/></w:r>${run(', another')}<w:r><w:commentReference w:id="1"/></w:r>`,
    );
    expect(await textOf(body, { footnotes: footnotes.join(''), endnotes })).to.equal([
      'A claim, another\n\nSee there.\nAnd here.\n\nThe end.',
    ]);
  });

  it('has the text of a box once, below the paragraph in which it is', async () => {
    const content = `<w:txbxContent>${paragraph(run('in the'))}${paragraph(run('box'))}</w:txbxContent>`;
    const box = `<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx>${content}</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>${content}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>`;
    const only = `<w:r><mc:AlternateContent><mc:Fallback>${run('fallback')}</mc:Fallback></mc:AlternateContent></w:r>`;
    const styles = '<w:style w:styleId="H"><w:name w:val="Heading 2"/></w:style>';
    const body = [
      paragraph(`${run('Around ')}${box}${run('it')}`, '<w:pStyle w:val="H"/>'),
      paragraph(only),
      table([paragraph(run('cell') + box), paragraph(run('next'))]),
    ];
    expect(await textOf(body.join(''), { styles })).to.equal([
      '## Around it\n\nin the\nbox\nfallback\ncell in the box\tnext',
    ]);
  });

  it('ends where a page does, and says so', async () => {
    const cell = paragraph(run('x'.repeat(99)));
    const content = letter(table(...Array(20_000).fill([cell])));
    const { texts, notes } = await pagesOf(DOCX, content, 1000);
    // Ten pages, each of which ends with a line.
    expect(texts).to.equal(Array(10).fill(`${'x'.repeat(99)}\n`.repeat(10).trim()));
    expect(notes).to.equal(['Only the first 10000 characters were read.']);
    const cells = Array(99).fill(paragraph(run('z')));
    const whole = letter(table(...Array(5).fill(cells)) + paragraph(run('end')));
    expect(await pagesOf(DOCX, whole, 1000)).to.equal({
      texts: [`${`${'z\t'.repeat(99).trim()}\n`.repeat(5)}end`],
      notes: [],
    });
    const one = letter(paragraph(run('y'.repeat(500_000))));
    expect((await pagesOf(DOCX, one, 1000)).texts).to.equal(Array(10).fill('y'.repeat(1000)));
    const empty = letter(`${'<w:tr><w:tc/></w:tr>'.repeat(60_000)}${paragraph(run('behind'))}`);
    expect(await pagesOf(DOCX, empty, 10_000)).to.equal({
      texts: [''],
      notes: ['A page has too many empty lines and cells. Its end was not read.'],
    });
  });

  it('is refused if it is not whole, or is nested too deep', async () => {
    await expect(pagesOf(DOCX, letter('<!--'))).to.reject(
      ExtractFailed,
      'The XML of the file is incomplete',
    );
    const deep = letter('<w:txbxContent>'.repeat(100_000));
    await expect(pagesOf(DOCX, deep)).to.reject(
      ExtractFailed,
      'The XML of the file is nested too deeply',
    );
    const none = zip([
      { name: '_rels/.rels', content: relations({ 'word/document.xml': 'officeDocument' }) },
    ]);
    await expect(pagesOf(DOCX, none)).to.reject(
      ExtractFailed,
      'word/document.xml is missing from the file',
    );
  });
});

/** A slide with these shapes, and its notes. Its file has a number, which is not that of its place. */
interface Slide {
  number: number;
  shapes: string;
  notes?: string;
}

/** A presentation of these slides. */
const presentation = (...slides: Slide[]): Buffer => {
  const listed = slides.map(
    ({ number }, at) => `<p:sldId id="${256 + at}" r:id="slides/slide${number}.xml"/>`,
  );
  const targets = slides.map(({ number }) => [`slides/slide${number}.xml`, 'slide']);
  const files = slides.flatMap(({ number, shapes, notes = '' }) => [
    {
      name: `ppt/slides/slide${number}.xml`,
      content: `${HEAD}<p:sld><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`,
    },
    {
      name: `ppt/slides/_rels/slide${number}.xml.rels`,
      content: relations({ [`../notesSlides/notesSlide${number + 10}.xml`]: 'notesSlide' }),
    },
    {
      name: `ppt/notesSlides/notesSlide${number + 10}.xml`,
      content: `${HEAD}<p:notes><p:cSld><p:spTree>${notes}</p:spTree></p:cSld></p:notes>`,
    },
  ]);
  return zip([
    { name: '_rels/.rels', content: relations({ '/ppt/presentation.xml': 'officeDocument' }) },
    {
      name: 'ppt/presentation.xml',
      content: `${HEAD}<p:presentation><p:sldIdLst>${listed.join('')}</p:sldIdLst></p:presentation>`,
    },
    {
      name: 'ppt/_rels/presentation.xml.rels',
      content: relations({
        ...Object.fromEntries(targets),
        'slideMasters/slideMaster1.xml': 'slideMaster',
      }),
    },
    ...files.reverse(),
  ]);
};
const shown = (text: string): string => `<a:r><a:rPr/><a:t>${text}</a:t></a:r>`;
const shape = (content: string[], placeholder = ''): string => {
  const kind = placeholder && `<p:ph type="${placeholder}"/>`;
  const lines = content.map(
    (line) => `<a:p><a:pPr><a:tabLst><a:tab/></a:tabLst></a:pPr>${line}</a:p>`,
  );
  return `<p:sp><p:nvSpPr><p:nvPr>${kind}</p:nvPr></p:nvSpPr><p:txBody>${lines.join('')}</p:txBody></p:sp>`;
};

describe('the text of a presentation of PowerPoint', () => {
  const textsOf = async (...slides: Slide[]) =>
    (await pagesOf(PPTX, presentation(...slides))).texts;

  it('is that of the slides in their order, which is not that of their files', async () => {
    const numbers = [2, 10, 1];
    const slides = numbers.map((number) => ({ number, shapes: shape([shown(`file ${number}`)]) }));
    expect(await textsOf(...slides)).to.equal(['file 2', 'file 10', 'file 1']);
  });

  it('has a line of each paragraph and after each line break', async () => {
    const shapes = [
      shape([`${shown('One ti')}${shown('tle')}<a:br/>${shown('in two')}`], 'title'),
      shape(['']),
      `<p:grpSp>${shape([shown('point'), '', shown('next &amp; last')])}</p:grpSp>`,
      shape([`<a:fld type="slidenum"><a:t>7</a:t></a:fld>`], 'sldNum'),
      shape([shown('ACME')], 'ftr'),
      `<mc:AlternateContent><mc:Choice>${shape(['<a14:m><m:r><m:t>x=y</m:t></m:r></a14:m>'])}</mc:Choice><mc:Fallback>${shape([shown('[formula]')])}</mc:Fallback></mc:AlternateContent>`,
    ];
    expect(await textsOf({ number: 1, shapes: shapes.join('') })).to.equal([
      'One title\nin two\npoint\nnext & last\nACME\nx=y',
    ]);
  });

  it('has a line of each row of a table', async () => {
    const cell = (...lines: string[]): string =>
      `<a:tc><a:txBody>${lines.map((line) => `<a:p>${line}</a:p>`).join('')}</a:txBody></a:tc>`;
    const rows = [
      [cell(shown('Name')), cell(shown('Sum'))],
      [cell(shown('two'), shown('lines')), cell(`${shown('1')}<a:br/>${shown('2')}`)],
      [cell(''), cell(shown('3'))],
    ].map((cells) => `<a:tr>${cells.join('')}</a:tr>`);
    const shapes = `${shape([shown('above')])}<p:graphicFrame><a:tbl>${rows.join('')}</a:tbl></p:graphicFrame>`;
    expect(await textsOf({ number: 1, shapes })).to.equal([
      'above\nName\tSum\ntwo lines\t1 2\n\t3',
    ]);
  });

  it('has the notes of the speaker below that of the slide', async () => {
    const notes = [
      shape([shown('to say first'), shown('and then')], 'body'),
      shape([shown('3')], 'sldNum'),
      shape([shown('ACME')], 'hdr'),
      shape([shown('5 March')], 'dt'),
    ];
    const first = { number: 3, shapes: shape([shown('shown')]), notes: notes.join('') };
    const second = { number: 2, shapes: shape([shown('quiet')]), notes: shape([''], 'body') };
    expect(await textsOf(first, second)).to.equal([
      'shown\n\nNotes:\nto say first\nand then',
      'quiet',
    ]);
  });

  it('has a slide once, and its notes, however often they are listed', async () => {
    const notes = shape([shown('to say')], 'body');
    const slide = { number: 1, shapes: shape([shown('shown')]), notes };
    expect(await textsOf(slide, slide, slide)).to.equal(['shown\n\nNotes:\nto say']);
  });

  it('ends where a page does, and goes on with the next slide', async () => {
    const long = shape([shown('x'.repeat(500_000))]);
    const slides = [
      { number: 1, shapes: long },
      { number: 2, shapes: shape([shown('next')]) },
    ];
    expect(await pagesOf(PPTX, presentation(...slides), 100)).to.equal({
      texts: ['x'.repeat(100), 'next'],
      notes: ['Only the first 100 characters of page 1 were read.'],
    });
    const deep = { number: 1, shapes: '<p:grpSp>'.repeat(100_000) };
    await expect(pagesOf(PPTX, presentation(deep))).to.reject(
      ExtractFailed,
      'The XML of the file is nested too deeply',
    );
  });
});
