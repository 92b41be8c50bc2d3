import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { hangs } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

describe('the verbs of an agent', () => {
  const stage = openForSuite(lab, startStage);
  afterEach(() => {
    stage.model.asked.length = 0;
  });

  const hanging = async (): Promise<string> => {
    stage.model.script(hangs);
    const asked = stage.model.nextAsked();
    const { id } = await stage.spawn({ prompt: 'Think long' });
    await asked;
    return id;
  };

  it('stops a hanging model within a second and ends the call on the wire', async () => {
    const id = await hanging();
    const since = Date.now();
    const { body } = await stage.ask('POST', `/api/agents/${id}/stop`);
    expect(body.status).to.equal('stopped');
    expect(await stage.model.asked[0]?.gone).to.be.true();
    expect(Date.now() - since).to.be.below(1000);
    expect((await stage.agent(id)).status).to.equal('stopped');
  });
});
