import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type KnowledgeStage, startKnowledge } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SECTIONS = 60;

describe('a long text whose title has the words of a query', () => {
  let stage: KnowledgeStage;
  let manual: string;
  const notes: string[] = [];
  before(async () => {
    stage = await startKnowledge();
    const section = (at: number): string =>
      `# Part ${at}\n\n${at === 31 ? 'Lighthouse keepers sleep here. ' : ''}${'Oil, wicks. '.repeat(60)}`;
    const text = Array.from({ length: SECTIONS }, (_, at) => section(at)).join('\n\n');
    manual = await stage.keep(`# Lighthouse keepers manual\n\n${text}`);
    for (const name of ['Ada', 'Bea', 'Cy']) {
      notes.push(
        await stage.keep(`${name} saw them.\n\n${'Nothing else. '.repeat(300)} lighthouse`),
      );
    }
  });
  after(() => stage.stop());

  const search = async (query: string, limit: number) =>
    (await stage.search(query, { mode: 'keyword', limit })).results;

  it('leaves room for others, and is found first where its text has them', async () => {
    const results: { entryId: string; highlights: unknown[] }[] = await search('lighthouse', 10);
    const inText = results.filter(({ highlights }) => highlights.length > 0);
    const found = inText.map(({ entryId }) => entryId);
    expect(found[0]).to.equal(manual);
    expect([...new Set(found)].sort()).to.equal([manual, ...notes].sort());
    expect(results.length).to.equal(10);
  });

  it('has its scores in order', async () => {
    const results: { score: number }[] = await search('lighthouse keepers', 20);
    const scores = results.map(({ score }) => score);
    expect(scores).to.equal([...scores].sort((a, b) => b - a));
    expect(scores.length).to.equal(20);
  });

  it('is all that is found where nothing else has them', async () => {
    const found = (await search('manual', 50)).map(({ entryId }: { entryId: string }) => entryId);
    expect([...new Set(found)]).to.equal([manual]);
    expect(found.length > 40).to.be.true();
  });
});
