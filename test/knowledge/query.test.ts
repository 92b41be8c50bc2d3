import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type KnowledgeStage, startKnowledge } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('a query of many conditions', () => {
  let stage: KnowledgeStage;
  let id: string;
  before(async () => {
    stage = await startKnowledge();
    id = await stage.keep('alpha kappa marker forbidden word');
  });
  after(() => stage.stop());

  const many = (count: number, piece: (n: number) => string): string =>
    Array.from({ length: count }, (_, n) => piece(n)).join(' ');

  it('holds each of sixteen', async () => {
    const excluded = many(15, (n) => `-zz${n}`);
    expect(await stage.find(`alpha ${excluded} -another`)).to.equal([id]);
    expect(await stage.find(`alpha ${excluded} -forbidden`)).to.equal([]);
    const phrases = many(15, () => '"alpha kappa"');
    expect(await stage.find(`${phrases} "kappa marker"`)).to.equal([id]);
    expect(await stage.find(`${phrases} "not there"`)).to.equal([]);
  });

  it('is refused with more, by the name of the field', async () => {
    for (const [query, fault] of [
      [`alpha ${many(17, (n) => `-zz${n}`)}`, 'has 17 exclusions. The maximum is 16'],
      [many(17, (n) => `"alpha ${n}"`), 'has 17 phrases. The maximum is 16'],
    ] as const) {
      const { status, body } = await stage.ask('POST', '/api/knowledge/search', { query });
      expect([status, body.details]).to.equal([400, [{ path: 'query', message: fault }]]);
    }
  });
});
