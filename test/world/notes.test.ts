import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type KnowledgeStage, startKnowledge } from '../knowledge/stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('many notes at once', () => {
  let stage: KnowledgeStage;
  before(async () => {
    stage = await startKnowledge();
  });
  after(() => stage?.stop());

  it('are all kept', async () => {
    const notes = Array.from({ length: 130 }, (_, n) =>
      stage.ask('POST', '/api/knowledge', { text: `Note ${n} of the harbour.` }),
    );
    const statuses = (await Promise.all(notes)).map(({ status }) => status);
    expect([...new Set(statuses)]).to.equal([201]);
  });
});
