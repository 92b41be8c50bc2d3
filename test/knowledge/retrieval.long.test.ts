import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { measureRetrieval } from '../bench/retrieval.js';
import { projectRoot } from '../harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the questions of the tests', () => {
  it('are answered by the right texts, in five languages', async () => {
    const figures = await measureRetrieval(join(projectRoot(), 'test/data/questions'));
    const of = (mode: string) =>
      [figures[mode]?.['nDCG@10'], figures[mode]?.['recall@10']].map(Number);
    const [keyword = 0, recall] = of('keyword');
    const [hybrid = 0, hybridRecall] = of('hybrid');
    expect([recall, hybridRecall]).to.equal([1, 1]);
    expect(keyword).to.be.at.least(0.99);
    expect(hybrid).to.be.at.least(keyword);
  });
});
