import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { call } from '../agents/stage.js';
import { until, untilMatches } from '../harness/app.js';
import { type ChatRequest, type Reply, says } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { openDesk } from './stage.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

describe('the trigger approval_requested', () => {
  const desk = openForSuite(lab, openDesk);
  afterEach(async () => {
    for (const { id } of await desk.approvals('pending')) await desk.answer(id, false);
    for (const { id } of (await desk.ask('GET', '/api/hooks')).body.hooks) {
      await desk.ask('DELETE', `/api/hooks/${id}`);
    }
  });

  const hook = async (given: object): Promise<string> => {
    const { body, status, text } = await desk.ask('POST', '/api/hooks', {
      ...{ name: 'watch', trigger: 'approval_requested', triggerConfig: {} },
      ...given,
    });
    if (status !== 201) throw new Error(text);
    return body.id;
  };
  const runs = async (hookId: string) =>
    (await desk.ask('GET', `/api/hooks/${hookId}/executions`)).body.executions;

  it('fires once for each question, with the question as its payload', async () => {
    const notifyMessage = '{{agent.name}} wants {{approval.tool}}.{{approval.action}}';
    const hookId = await hook({ action: 'notify', actionConfig: { notifyMessage } });
    const agent = await desk.asking(desk.post('one', 'a'), desk.post('two', 'b'));
    const ended = await until(
      () => runs(hookId),
      (found) =>
        found.length === 2 && found.every(({ status }: { status: string }) => status === 'success'),
    );
    const pending = await desk.approvals('pending');
    const contexts = ended.map(({ triggerContext }: { triggerContext: object }) => triggerContext);
    expect(contexts.map((of: { approval: object }) => of.approval)).to.equal(pending);
    expect(contexts[0]).to.include({ event: 'approval.requested' });
    const { name } = Object(await desk.agent(agent.id));
    expect(ended[0].result).to.equal({ message: `${name} wants http.request` });
  });

  it('does not fire for an agent that it spawned, and that one is untrusted', async () => {
    const hookId = await hook({ action: 'spawn_agent', actionConfig: { agentPrompt: 'Watch' } });
    const obey: Reply = (response, request: ChatRequest) => {
      const isWatching = String(request.messages[1]?.content).startsWith('Watch');
      const post = call('http_request', { method: 'POST', url: `${desk.canary.url}${isWatching}` });
      says({ toolCalls: [post] })(response, request);
    };
    desk.model.script(obey, obey);
    const { id } = await desk.spawn({ prompt: 'Post' });
    await desk.reaches(id, 'waiting_approval');
    const waiting = await untilMatches(() => desk.approvals('pending'), { length: 2 });
    expect(waiting.map(({ untrusted }) => untrusted)).to.equal([true, false]);
    expect((await runs(hookId)).length).to.equal(1);
    expect(desk.canary.heard).to.equal([]);
  });
});
