import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { ResearchDraft } from '../../src/research/draft.js';
import { verifyReport } from '../../src/research/report.js';

export const lab = Lab.script();
const { describe, it } = lab;

const QUESTION = 'When was the bridge of Alton closed?';
const TEXT =
  'The bridge of Alton was closed in March. Repairs cost 12,500 euros. The mayor was present.';
const SOURCE = {
  n: 1,
  entry_id: null,
  url: 'https://example.org/bridge',
  title: 'Bridge news of 1987',
  text: TEXT,
};

/** The report of sections, each as its heading and one sentence with its quotes. */
const reportOf = async (...given: [heading: string, text: string, ...quotes: string[]][]) => {
  const sections: ResearchDraft['sections'] = given.map(([heading, text, ...quotes]) => ({
    heading,
    sentences: [{ text, quotes: quotes.map((quote) => ({ n: 1, quote })) }],
  }));
  const draft = { model: 'fake', sections, limitations: [] };
  return (await verifyReport(QUESTION, draft, { sources: [SOURCE], unread: [], notes: [] })).report;
};
const CLOSED = 'The bridge of Alton was closed';

describe('a report', () => {
  it('marks sentences whose quotes do not prove all that they say', async () => {
    const unverified = async (text: string, ...quotes: string[]) =>
      (await reportOf(['', text, ...quotes])).unverified;
    expect(await unverified('It was closed.', CLOSED)).to.equal(0);
    expect(await unverified('It was closed [1].', CLOSED)).to.equal(0);
    expect(await unverified('By source 1 it was closed.', CLOSED)).to.equal(0);
    expect(await unverified('There was 1 casualty.', CLOSED)).to.equal(1);
    expect(await unverified('Repairs cost 12 euros.', 'Repairs cost 12')).to.equal(1);
    expect(await unverified('Repairs cost 12,500 euros.', 'Repairs cost 12,500')).to.equal(0);
    expect(await unverified('It was closed. The mayor fled.', CLOSED, CLOSED)).to.equal(1);
    expect(await unverified('It was closed.The mayor fled.', CLOSED)).to.equal(1);
    expect(
      await unverified('It was closed. The mayor came.', CLOSED, 'The mayor was present'),
    ).to.equal(0);
  });

  it('marks headings that say more than the question and the quotes, but for titles of sources', async () => {
    const headings = async (heading: string) => {
      const { sections, unverified } = await reportOf([heading, 'It was closed.', CLOSED]);
      return [sections[0]?.heading, unverified];
    };
    for (const label of [
      '',
      'Overview',
      'Reasons and costs',
      'The closure of the bridge of Alton',
    ]) {
      expect(await headings(label)).to.equal([label, 0]);
    }
    expect(await headings(SOURCE.title)).to.equal([SOURCE.title, 0]);
    for (const claim of ['300 people died', 'The mayor fled to Brazil']) {
      expect(await headings(claim)).to.equal([`${claim} (unverified)`, 1]);
    }
  });
});
