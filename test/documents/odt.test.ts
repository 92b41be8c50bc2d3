import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { ExtractFailed } from '../../src/documents/extract/job.js';
import { pagesOf } from './pages.js';
import { zip } from './zip.js';

export const lab = Lab.script();
const { describe, it } = lab;

const ODT = 'application/vnd.oasis.opendocument.text';
/** An OpenDocument text with this body. */
const letter = (body: string, manifest = ''): Buffer =>
  zip([
    {
      name: 'META-INF/manifest.xml',
      content: `<manifest:manifest>${manifest}</manifest:manifest>`,
    },
    {
      name: 'content.xml',
      content: `<?xml version="1.0"?><office:document-content><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
    },
  ]);
const textOf = async (body: string) => (await pagesOf(ODT, letter(body))).texts;
const p = (content: string): string => `<text:p text:style-name="P1">${content}</text:p>`;

describe('the text of an OpenDocument text', () => {
  it('has its tracked changes as if they were accepted', async () => {
    const body = [
      '<text:tracked-changes><text:changed-region><text:deletion><office:change-info/>',
      p('deleted'),
      '</text:deletion></text:changed-region></text:tracked-changes>',
      p('kept <text:change text:change-id="c1"/><text:change-start/>inserted<text:change-end/>'),
      p('last'),
    ];
    expect(await textOf(body.join(''))).to.equal(['kept inserted\nlast']);
  });

  it('has headings by their level, and rows of tables', async () => {
    const cell = (content: string): string => `<table:table-cell>${content}</table:table-cell>`;
    const row = (...cells: string[]): string =>
      `<table:table-row>${cells.map(cell).join('')}</table:table-row>`;
    const body = [
      '<text:h text:outline-level="1">Report</text:h>',
      '<text:h text:outline-level="2">Costs</text:h>',
      `<table:table>${row(p('name'), p('amount'))}${row(`${p('Grace')}${p('Hopper')}`, p('7'))}</table:table>`,
      `<text:list><text:list-item>${p('one')}</text:list-item><text:list-item>${p('two')}</text:list-item></text:list>`,
    ];
    const [text = ''] = await textOf(body.join(''));
    expect(text.split('\n').filter(Boolean)).to.equal([
      ...['# Report', '## Costs', 'name\tamount', 'Grace Hopper\t7', 'one', 'two'],
    ]);
  });

  it('is read whatever counts and levels it has', async () => {
    const body = `${p('a<text:s text:c="-1"/>b<text:s text:c="x"/>c')}<text:h text:outline-level="-3">H</text:h>`;
    const [text = ''] = await textOf(body);
    expect(text.split('\n').filter(Boolean)).to.equal(['a b c', '# H']);
  });

  it('has tabs, spaces and line breaks, and white space as one space', async () => {
    const content = '\n  a<text:tab/>b<text:s text:c="3"/>c<text:line-break/> d \n\t e&amp;f';
    expect(await textOf(p(content))).to.equal(['a\tb   c\nd e&f']);
  });

  it('has notes below their paragraph, and boxes, and no comments, marks or hints', async () => {
    const note = `<text:note><text:note-citation>1</text:note-citation><text:note-body>${p('a note')}</text:note-body></text:note>`;
    const comment = `<office:annotation><dc:creator>Ada</dc:creator>${p('why?')}</office:annotation>`;
    const ruby =
      '<text:ruby><text:ruby-base>東京</text:ruby-base><text:ruby-text>とうきょう</text:ruby-text></text:ruby>';
    const frame = `<draw:frame><draw:text-box>${p('in a box')}</draw:text-box><svg:title>Logo</svg:title><svg:desc>A logo</svg:desc></draw:frame>`;
    const body = [p(`before${note} after`), p(`${comment}${ruby}`), p(`${frame}anchor`)];
    expect(await textOf(body.join(''))).to.equal(['before after\na note\n東京\nanchor\nin a box']);
    expect(await textOf(p('<text:span><text:title>Title</text:title></text:span>'))).to.equal([
      'Title',
    ]);
  });

  it('is cut where a page has no more room, and says so', async () => {
    const { texts, notes } = await pagesOf(ODT, letter(p('word '.repeat(50)).repeat(100)), 1000);
    // Each page ends with its third paragraph of 249 characters.
    expect(texts.map(({ length }) => length)).to.equal([...Array(12).fill(749), 961]);
    expect(notes).to.equal(['Only the first 10000 characters were read.']);
  });

  it('needs a password, or says what is missing', async () => {
    const codeOf = async (bytes: Buffer) => {
      const failed = await pagesOf(ODT, bytes).catch((error: unknown) => error);
      return failed instanceof ExtractFailed ? [failed.code, failed.message] : failed;
    };
    const locked = letter(p('x'), '<manifest:encryption-data/>');
    expect(await codeOf(locked)).to.equal(['password_needed', 'The file is password-protected']);
    expect(await codeOf(zip([{ name: 'mimetype', content: ODT }]))).to.equal([
      'damaged',
      'content.xml is missing from the file',
    ]);
  });
});
