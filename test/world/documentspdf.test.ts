import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { pagesOf } from '../documents/pages.js';
import { beside, box, lines, onePage } from './pdf.js';

export const lab = Lab.script();
const { describe, it } = lab;

const LEASE = 'The barn is let for a year.\nThe rent is due in advance.';
const read = (page: Parameters<typeof onePage>[0], recognized = '') =>
  pagesOf('application/pdf', onePage(page), undefined, recognized);

describe('a page that is a scan', () => {
  it('has all that is recognized, whatever was stamped on it', async () => {
    expect(await read({ scan: 1 }, LEASE)).to.equal({ texts: [LEASE], notes: [] });
    const stamp = 'Fax received, page 1 of 1';
    expect(await read({ scan: 1, content: lines(stamp) }, LEASE)).to.equal({
      texts: [`${stamp}\n${LEASE}`],
      notes: [],
    });
    const seen = `FAX received; page 1 of 1\n${LEASE}`;
    expect((await read({ scan: 0.7, content: lines(stamp) }, seen)).texts).to.equal([seen]);
  });

  it('keeps its text where that is longer, or was recognized by the scanner', async () => {
    const long = 'The rent is due on the first day of each month, in advance.';
    expect((await read({ scan: 1, content: lines(long) }, LEASE.slice(0, 20))).texts).to.equal([
      long,
    ]);
    const hidden = `3 Tr ${lines('The rent is due on Monday.')}`;
    expect((await read({ scan: 1, content: hidden }, LEASE)).texts).to.equal([
      'The rent is due on Monday.',
    ]);
  });

  it('is not looked for where a small picture stands beside a text', async () => {
    const letter = { scan: 0.1, content: lines('A letter with a logo.') };
    expect((await read(letter, LEASE)).texts).to.equal(['A letter with a logo.']);
  });
});

describe('a page without text', () => {
  it('is recognized if its letters are drawn, or named', async () => {
    const content = '4 w 60 600 m 60 650 l S 60 650 m 90 600 l S 90 600 m 90 650 l S';
    expect(await read({ content }, 'NO EXIT')).to.equal({ texts: ['NO EXIT'], notes: [] });
    expect(await read({ content })).to.equal({
      texts: [''],
      notes: ['Page 1 has no readable text.'],
    });
    expect((await read({ scan: 1 })).notes).to.equal(['Page 1 has no readable text.']);
  });

  it('is empty if nothing is drawn on it, or all is white', async () => {
    for (const content of ['', '1 1 1 rg 0 0 595 842 re f']) {
      expect(await read({ content }, 'a ghost')).to.equal({
        texts: [''],
        notes: ['No text was found in the file.'],
      });
    }
  });
});

describe('what a person has filled in', () => {
  it('stands at its place, with boxes told apart', async () => {
    const field = (more: string, y: number, x?: number) =>
      `<</Type/Annot/Subtype/Widget${more}/DA(/F 12 Tf 0 g)${beside(y, x)}>>`;
    const annotations = [
      field('/FT/Tx/T(name)/V(Rosa Lind)', 697),
      field('/FT/Ch/Ff 131072/T(room)/V(a)/Opt[[(a)(attic)][(c)(cellar)]]', 681),
      box('heated', 'On', beside(665)),
      box('furnished', 'Off', beside(649)),
      box('pets', 'On', beside(633, 40)),
      field('/FT/Tx/Ff 8192/T(pin)/V(4711)', 617),
    ];
    const labels = ['Tenant:', 'Room:', 'Heated:', 'Furnished:', 'Pets', 'PIN:'];
    const { texts, notes } = await read({ content: lines(...labels), annotations, form: '' });
    expect(texts).to.equal([
      'Tenant: Rosa Lind\nRoom: attic\nHeated: ☒\nFurnished: ☐\n☒ Pets\nPIN:',
    ]);
    expect(notes).to.equal([]);
  });

  it('may be typed onto the page, or beside it', async () => {
    const annotations = [
      `<</Type/Annot/Subtype/FreeText/Contents(Keys are with the porter)/DA(/F 12 Tf 0 g)${beside(500)}>>`,
      `<</Type/Annot/Subtype/Text/Contents(Ask for the meter first)${beside(480)}>>`,
      `<</Type/Annot/Subtype/Highlight/Contents(Too dear)/QuadPoints[72 712 200 712 72 698 200 698]${beside(692, 72)}>>`,
      `<</Type/Annot/Subtype/Text/Contents(Nobody sees this)/Rect[0 0 9 9]/F 2>>`,
      `<</Type/Annot/Subtype/Link/Contents(A link)${beside(700)}>>`,
    ];
    const { texts } = await read({ content: lines('The rent is nine hundred.'), annotations });
    expect(texts).to.equal([
      'The rent is nine hundred.\nComment: Too dear\nKeys are with the porter\nComment: Ask for the meter first',
    ]);
  });

  it('is named where it is in a form of another kind', async () => {
    const page = { content: lines('Please wait for the form.'), form: '/XFA[(x)6 0 R]' };
    const { texts, notes } = await read(page);
    expect(texts).to.equal(['Please wait for the form.']);
    expect(notes).to.equal([
      'The file has an XFA form, which is not supported. Print the file to a new PDF file first.',
    ]);
  });
});
